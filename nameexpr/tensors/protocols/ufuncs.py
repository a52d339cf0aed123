"""NumPy's ufuncs on tensors: the values, dtypes and warnings are NumPy's, the names follow `nameexpr.rules`.

`np.add(x, y)`, `array + x` and `np.float64(2) * x` are handled here. Operands pair from the right and their
names unify; `reduce` removes the names of the reduced dims, `outer` concatenates the names of both. `axis=`
accepts names. The computation is the ufunc itself on bare arrays, so that `np.errstate`, `dtype=`, `casting=`
and weak Python numbers have the same meaning as in NumPy.

>>> x = ne.tensor([[1.0, 2.0], [3.0, 4.0]], names="N C")
>>> np.add.reduce(np.maximum(x, np.array([2.0, 3.0])), axis="C")
tensor([5., 7.], names=('N',), shape=(2,))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from nameexpr.backends.numpy.foreign import reader_of
from nameexpr.dims import Dim, Dims, Names
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.rules.calls import axes, position, removed
from nameexpr.rules.combining import matmul_names
from nameexpr.rules.pairing import Pairing, check_sizes
from nameexpr.tensors.core import Array, Core
from nameexpr.tensors.faults import explained
from nameexpr.tensors.operators import REFUSED
from nameexpr.tensors.protocols.operands import (
    Part,
    checked_target,
    named,
    nameless,
    part,
    parts,
    refused,
    side_by_side,
    unified_names,
)
from nameexpr.tensors.writing import can_raise, store

Options = dict[str, Any]


def apply_ufunc(like: Core, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: Options) -> Any:
    """Return the result of a ufunc, or of one of its methods, for operands one of which is `like`.

    Return NotImplemented if an operand is of a type with its own protocol, which NumPy tries next. NE658 for
    methods that would lose names, NE660 and NE570 for an `out=` that is not a NamedTensor or cannot hold the
    result, NE571 for dtypes without a loop, NE661 for arguments that NumPy rejects.
    """
    outs = options.pop("out", ())
    bare = np.ndarray.__array_ufunc__
    for operand in (*inputs, *outs):
        kind: Any = type(operand)
        is_bare = isinstance(operand, Core) or getattr(kind, "__array_ufunc__", bare) is bare
        if not is_bare and reader_of(kind) is None:
            return NotImplemented
    name = ufunc.__name__
    verb = f"np.{name}" if getattr(np, name, None) is ufunc else name
    verb = verb if method == "__call__" else f"{verb}.{method}"
    if ufunc.signature is not None:
        return _product(_Use(like, ufunc, verb, options, outs), method, inputs)
    if method not in _METHODS:
        hint = f"{verb}(x.numpy(), ...) writes into the memory of x" if method == "at" else ""
        raise nameless(verb, hint)
    return _METHODS[method](_Use(like, ufunc, verb, options, outs), inputs)


class _Use(NamedTuple):
    """One use of a ufunc: a tensor like the results, the verb of errors, options, and the output."""

    like: Core
    ufunc: np.ufunc
    verb: str
    options: Options
    outs: Sequence[Any]


def _elementwise(use: _Use, inputs: Sequence[Any]) -> Any:
    inputs = parts(inputs, use.verb)
    operands = (*inputs, *_mask(use))
    names = unified_names(operands, use.verb)
    return _run(use, use.ufunc, [operand.data for operand in inputs], names, operands)


def _reduce(use: _Use, inputs: Sequence[Any]) -> Any:
    x = part(inputs[0], "tensor", use.verb)
    masks = _mask(use)
    names = unified_names((x, *masks), use.verb)
    if len(names) > len(x.names):
        message = f"{use.verb}: the mask has {len(names)} dims, the tensor {len(x.names)}"
        raise error(Diagnostic("NE380", message, hint="a mask is broadcast to the tensor, not the other way"))
    axis = use.options.get("axis", 0)
    gone = tuple(range(len(x.names)))
    if axis is not None:
        use.options["axis"] = gone = axes(x.dims, axis, use.verb)
    names = removed(names, gone, keepdim=bool(use.options.get("keepdims")))
    return _run(use, use.ufunc.reduce, [x.data], names, (x, *masks))


def _along(use: _Use, inputs: Sequence[Any]) -> Any:
    """Apply `accumulate` and `reduceat`, which keep all names."""
    x = part(inputs[0], "tensor", use.verb)
    use.options["axis"] = position(x.dims, use.options.get("axis", 0), use.verb)
    places = [operand._data if isinstance(operand, Core) else operand for operand in inputs[1:]]
    method = getattr(use.ufunc, use.verb.rpartition(".")[2])
    return _run(use, method, [x.data, *places], x.names, (x,))


def _outer(use: _Use, inputs: Sequence[Any]) -> Any:
    left, right = parts(inputs, use.verb)
    names = side_by_side(left, right, (*left.names, *right.names), use.verb)
    if "where" in use.options:
        raise nameless(f"{use.verb} with where=")
    # Sizes cannot be the cause here: they need not fit.
    return _run(use, use.ufunc.outer, [left.data, right.data], names, (left,))


_METHODS: dict[str, Callable[..., Any]] = {
    "__call__": _elementwise,
    "reduce": _reduce,
    "accumulate": _along,
    "reduceat": _along,
    "outer": _outer,
}


def _product(use: _Use, method: str, inputs: Sequence[Any]) -> Any:
    """Apply matmul, vecdot, matvec or vecmat: a vector is a matrix with a dim of size 1, which is removed
    again.
    """
    name = use.ufunc.__name__
    if name not in _PRODUCTS or method != "__call__":
        raise nameless(use.verb)
    if {"axis", "axes", "keepdims"} & set(use.options):
        raise nameless(f"{use.verb} with axes of its own", "align_to brings the dims into the usual order")
    left, right = parts(inputs, use.verb)
    left_place, right_place, gone = _PRODUCTS[name]
    names = list(matmul_names(_inserted(left.dims, left_place), _inserted(right.dims, right_place), use.verb))
    for index in gone:
        del names[index]
    return _run(use, use.ufunc, [left.data, right.data], tuple(names), (left,))


_PRODUCTS: dict[str, tuple[int | None, int | None, tuple[int, ...]]] = {
    "matmul": (None, None, ()),
    "vecdot": (-1, 0, (-1, -1)),
    "matvec": (None, 0, (-1,)),
    "vecmat": (-1, None, (-2,)),
}
"""The positions from the end where the left and the right operand get a dim of size 1, and the dims that are
removed again.
"""


def _inserted(dims: Dims, position: int | None) -> Dims:
    if position is None or not dims:
        return dims
    at = len(dims) + position
    return (*dims[:at], Dim(None, 1), *dims[at:])


def _mask(use: _Use) -> list[Part]:
    """Return the `where=` option as an operand, and replace it by its array (NE573)."""
    mask = use.options.get("where", True)
    if mask is True or mask is np._NoValue:
        return []
    if not isinstance(mask, Core | np.ndarray):
        mask = np.asarray(mask, dtype=bool)
    mask_part = part(mask, "where", use.verb)
    if mask_part.data.dtype != np.bool_:
        message = f"{use.verb}: where= is {mask_part.data.dtype}, not bool"
        raise error(Diagnostic("NE573", message, hint="a comparison makes a mask: mask != 0"))
    use.options["where"] = mask_part.data
    return [mask_part]


def _run(
    use: _Use, function: Callable[..., Any], arrays: Sequence[Any], names: Names, operands: Sequence[Part]
) -> Any:
    """Return the results of a ufunc as tensors, or written into tensors."""
    targets = [None if out is None else checked_target(out, names, use.verb) for out in use.outs]
    if targets:
        use.options["out"] = tuple(
            None if target is None else _place(use, target, names) for target in targets
        )
        if use.ufunc is np.negative:  # NumPy (2.2 to 2.4) negates strided arrays in place incorrectly
            arrays = [np.array(array) for array in arrays]
    try:
        values = function(*arrays, **use.options)
    except REFUSED as fault:
        raise _told(fault, use, operands) from fault
    if not isinstance(values, tuple):
        return _finished(use, values, names, targets[0] if targets else None)
    places = targets or [None] * len(values)
    return tuple(_finished(use, value, names, out) for value, out in zip(values, places, strict=True))


_NEVER_INTO = frozenset({np.isinf, np.isnan, np.signbit})
"""NumPy (2.2 to 2.5) computes these incorrectly into strided arrays."""


def _place(use: _Use, target: Core, names: Names) -> Array:
    """Return the array that a ufunc writes into: the tensor's own only if nothing else is needed."""
    is_direct = target._names == names and use.ufunc not in _NEVER_INTO and not can_raise()
    return target._data if is_direct else target._data.copy()


def _finished(use: _Use, value: Any, names: Names, target: Core | None) -> Any:
    if target is None:
        return named(type(use.like), value, names, use.verb)
    if value is not target._data:
        store(target, value, names, use.verb)
    return target


def _told(fault: Exception, use: _Use, operands: Sequence[Part]) -> NameExprError:
    if isinstance(fault, NameExprError):
        return fault
    for left, right in combinations(operands, 2):
        try:
            check_sizes(left.dims, right.dims, Pairing(use.verb, left.role, right.role))
        except NameExprError as sizes:
            return sizes
    text = " ".join(str(fault).split())
    if text.startswith("Cannot cast"):
        hint = "casting='unsafe' allows it"
        return error(Diagnostic("NE570", f"{use.verb}: c{text[1:]}", hint=hint))
    if isinstance(fault, ValueError) and "negative integer powers" not in text:
        if not use.outs:
            return refused(use.verb, fault)
        return error(Diagnostic("NE371", f"{use.verb}: {text}", hint="out= has the sizes of the result"))
    if "keyword argument" in text:
        return refused(use.verb, fault)
    return explained(use.verb, tuple(operand.data for operand in operands if operand.role != "where"), fault)
