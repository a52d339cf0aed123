"""tensordot: contraction over listed dims, by name or position.

>>> import nameexpr as ne
>>> x = ne.tensor([[1, 2]], names="N C")
>>> ne.tensordot(x, x.rename(N="M"), (["C"], ["C"])).names
('N', 'M')
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nameexpr.backends.numpy.floats import is_narrow, widened
from nameexpr.dims import Dims, another_name, duplicate, names_of
from nameexpr.errors import Diagnostic, error
from nameexpr.rules.calls import Call, counted, shown
from nameexpr.rules.contracting import contracted_fault
from nameexpr.rules.lookup import positions
from nameexpr.rules.pairing import Pairing, paired_fault
from nameexpr.tensors.core import Array
from nameexpr.tensors.named_tensor import NamedTensor, wrap

_PAIRING = Pairing("tensordot")


def contracted(a: NamedTensor, b: NamedTensor, dims: Any) -> NamedTensor:
    """Return the contraction of the listed dims of two tensors; the others keep their names.

    Raises
    ------
    SizeError
        NE372 if sizes that meet differ, NE387 if the lists are not of one length.
    DimNameError
        NE473 if a name would come twice.
    """
    left, right = _lists(a._dims, b._dims, dims)
    for at, other in zip(left, right, strict=True):
        if a.shape[at] != b.shape[other]:
            hint = "the dims of both lists pair in their order, and contracted sizes are equal"
            raise contracted_fault(a._dims, b._dims, (at, other), _PAIRING, hint)
    kept = [dim for at, dim in enumerate(a._dims) if at not in left]
    kept += [dim for at, dim in enumerate(b._dims) if at not in right]
    names = names_of(tuple(kept))
    twice = duplicate(names)
    if twice:
        message = f"tensordot: the result would have two dims called {twice[0]!r}"
        marked = tuple(
            [at for at, dim in enumerate(dims) if dim.name == twice[0]] for dims in (a._dims, b._dims)
        )
        hint = f"rename one of them first, for example right.rename({twice[0]}={another_name(twice[0])!r})"
        raise paired_fault("NE473", message, (a._dims, b._dims), _PAIRING, (marked[0], marked[1]), hint)
    return wrap(_tensordot(a.numpy(), b.numpy(), (left, right)), names)


def _tensordot(a: Array, b: Array, axes: Any) -> Array:
    if a.dtype == b.dtype and is_narrow(a.dtype):
        return np.asarray(np.tensordot(widened(a), widened(b), axes)).astype(a.dtype.type)
    return np.asarray(np.tensordot(a, b, axes))


def _lists(a: Dims, b: Dims, dims: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if type(dims) is int:
        if not 0 <= dims <= min(len(a), len(b)):
            most = min(len(a), len(b))
            message = f"tensordot: {counted(dims, 'dim')} cannot be contracted: the tensors have {len(a)}"
            hint = f"at most {most}, or two lists of dims"
            raise paired_fault("NE387", f"{message} and {len(b)}", (a, b), _PAIRING, ((), ()), hint)
        return tuple(range(len(a) - dims, len(a))), tuple(range(dims))
    try:
        first, second = dims
    except (TypeError, ValueError) as refused:
        message = f"tensordot: dims are a number or two lists, not {shown(dims)}"
        raise error(Diagnostic("NE651", message, hint="tensordot(a, b, (['C'], ['C']))")) from refused
    one, other = _listed(first), _listed(second)
    left = positions(a, Call("tensordot", one, (a, b), "(a, b, ([", f"], {shown(list(other))}))"))
    right = positions(b, Call("tensordot", other, (a, b), f"(a, b, ({shown(list(one))}, [", "]))"))
    if len(left) != len(right):
        message = f"tensordot: {counted(len(left), 'dim')} of the left tensor, {len(right)} of the right one"
        hint = "every contracted dim needs its partner"
        raise paired_fault("NE387", message, (a, b), _PAIRING, (left, right), hint)
    return left, right


def _listed(dims: Any) -> tuple[Any, ...]:
    if isinstance(dims, str):
        return tuple(dims.split())
    return tuple(dims) if isinstance(dims, list | tuple) else (dims,)
