"""tensordot: contraction over listed dims, by name or position.

>>> import nameexpr as ne
>>> x = ne.tensor([[1, 2]], names="N C")
>>> ne.tensordot(x, x.rename(N="M"), (["C"], ["C"])).names
('N', 'M')
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nameexpr.dims import Dims, duplicate, names_of
from nameexpr.errors import Diagnostic, error
from nameexpr.inference.calls import Call, shown
from nameexpr.inference.lookup import positions
from nameexpr.inference.pairing import Pairing, paired_fault
from nameexpr.tensors.named_tensor import NamedTensor, wrap


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
    pairing = Pairing("tensordot")
    for at, other in zip(left, right, strict=True):
        if a.shape[at] != b.shape[other]:
            message = f"tensordot: the contracted dims have sizes {a.shape[at]} and {b.shape[other]}"
            raise paired_fault("NE372", message, (a._dims, b._dims), pairing, ([at], [other]), "")
    kept = [dim for at, dim in enumerate(a._dims) if at not in left]
    kept += [dim for at, dim in enumerate(b._dims) if at not in right]
    names = names_of(tuple(kept))
    twice = duplicate(names)
    if twice:
        message = f"tensordot: the result would have two dims called {twice[0]!r}"
        marked = tuple(
            [at for at, dim in enumerate(dims) if dim.name == twice[0]] for dims in (a._dims, b._dims)
        )
        hint = f"rename one of them first, for example right.rename({twice[0]}={twice[0] + '2'!r})"
        raise paired_fault("NE473", message, (a._dims, b._dims), pairing, (marked[0], marked[1]), hint)
    return wrap(np.asarray(np.tensordot(a.numpy(), b.numpy(), (left, right))), names)


def _lists(a: Dims, b: Dims, dims: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if type(dims) is int:
        if not 0 <= dims <= min(len(a), len(b)):
            message = f"tensordot: {dims} dims cannot be contracted of tensors with {len(a)} and {len(b)}"
            raise error(Diagnostic("NE387", message, hint="give a number, or two lists of dims"))
        return tuple(range(len(a) - dims, len(a))), tuple(range(dims))
    try:
        first, second = dims
    except (TypeError, ValueError) as refused:
        message = f"tensordot: dims are a number or two lists, not {shown(dims)}"
        raise error(Diagnostic("NE387", message, hint="tensordot(a, b, (['C'], ['C']))")) from refused
    left = positions(a, Call("tensordot", _listed(first), (a,)))
    right = positions(b, Call("tensordot", _listed(second), (b,)))
    if len(left) != len(right):
        message = f"tensordot: {len(left)} dims of the left tensor, {len(right)} of the right one"
        raise error(Diagnostic("NE387", message, hint="every contracted dim needs its partner"))
    return left, right


def _listed(dims: Any) -> tuple[Any, ...]:
    if isinstance(dims, str):
        return tuple(dims.split())
    return tuple(dims) if isinstance(dims, list | tuple) else (dims,)
