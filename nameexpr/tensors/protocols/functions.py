"""NumPy's functions on tensors: `np.mean(x, axis="C")` is NumPy's mean, and infers the names of its result.

The table is `nameexpr.tensors.protocols.calls.TABLE`; entries for functions of one operand are in `single`,
those of several in this module: where, clip, concatenate, dot, allclose; and functions without names. Values,
dtypes, defaults and warnings are those of NumPy's function, which differ from PyTorch's: `np.std(x)` divides
by n, `np.median(x)` averages two values, `np.mean` of integers is a float. Any other function would lose
names, and raises an error with advice.

>>> x = ne.tensor([[1, 2], [3, 5]], names="N C")
>>> np.mean(x, axis="C")
tensor([1.5, 4. ], names=('N',), shape=(2,))
>>> np.concatenate([x, x], axis="C").shape
(2, 4)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from nameexpr.dims import Names
from nameexpr.rules.calls import position, removed
from nameexpr.rules.combining import check_ranks, joined, matmul_names
from nameexpr.rules.pairing import Pairing, paired_fault
from nameexpr.tensors.arguments import as_array, unnamed
from nameexpr.tensors.contraction import contracted
from nameexpr.tensors.core import Core
from nameexpr.tensors.protocols.calls import FAULTS, TABLE, FunctionCall, implements, spelt
from nameexpr.tensors.protocols.operands import Part, nameless, side_by_side, unified_names
from nameexpr.tensors.protocols.single import new_positions, padded_names

HINTS: dict[str, str] = {
    "einsum": "ne.einsum takes tensors, and names of more than one letter",
    "einsum_path": "ne.einsum takes tensors, and finds a path itself",
    "reshape": "flatten and unflatten merge and split dims by name",
    "ravel": "x.flatten(dims, name) merges dims into one with a name",
    "resize": "flatten and unflatten merge and split dims by name",
    "save": "ne.save(file, x) keeps the names",
    "savez": "ne.save(file, x) keeps the names",
    "savez_compressed": "ne.save(file, x) keeps the names",
    "copyto": "x[...] = value writes into x, and x.copy_(value) too",
    "put": "x[index] = value writes into x",
    "putmask": "x.masked_fill_(mask, value) writes into x",
    "place": "x.masked_fill_(mask, value) writes into x",
    "nonzero": "x.numpy().nonzero() gives positions, which have no names",
}


def apply_function(
    func: Callable[..., Any], types: Iterable[type], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Return the result of a NumPy function for arguments one of which is a NamedTensor.

    Return NotImplemented if one is of a type with its own protocol, which NumPy tries next. NE658 for a
    function that does not support names, NE660 for an `out=` that is not a tensor, NE661 for arguments that
    NumPy rejects.
    """
    if func in PLAIN and len(args) == len(kwargs) == 1 and type(args[0]) is Core._tensor_class:
        result = _reduced_by_name(func, args[0], kwargs.get("axis"))
        if result is not None:
            return result
    bare = np.ndarray.__array_function__
    for kind in types:
        if not issubclass(kind, Core) and getattr(kind, "__array_function__", None) is not bare:
            return NotImplemented
    entry = TABLE.get(func)
    if entry is None:
        name = spelt(func)
        raise nameless(name, HINTS.get(name.removeprefix("np."), ""))
    return entry(FunctionCall(func, args, kwargs))


PLAIN = frozenset({np.sum, np.prod, np.mean, np.std, np.var, np.max, np.min, np.any, np.all})
"""Reductions that return an array without the dim of `axis=`, and need no other handling."""


def _reduced_by_name(func: Callable[..., Any], x: Core, axis: Any) -> Core | None:
    """Return np.mean(x, axis="C"), the most common form; None if the slow path must report an error."""
    names, data = x._names, x._data
    if type(axis) is not str or axis not in names or not data.size:
        return None
    at = names.index(axis)
    try:
        reduced = np.asarray(func(data, axis=at))
    except FAULTS:
        return None
    return Core._tensor_class._wrap(reduced, names[:at] + names[at + 1 :])


@implements("clip")
def _clipped(call: FunctionCall) -> Any:
    parts = call.operands("a", "a_min", "a_max", "min", "max", "where")
    return call.result(unified_names(parts, call.verb))


@implements("isclose")
def _close(call: FunctionCall) -> Any:
    return call.result(unified_names(call.operands("a", "b", "rtol", "atol"), call.verb))


@implements("where")
def _chosen(call: FunctionCall) -> Any:
    parts = call.operands("condition", "x", "y")
    if len(parts) == 1:
        raise nameless(f"{call.verb} of a condition alone")
    return call.result(unified_names(parts, call.verb))


@implements("isin")
def _contained(call: FunctionCall) -> Any:
    x, _ = call.operand("element"), call.operand("test_elements")
    return call.result(x.names)


@implements("allclose array_equal array_equiv")
def _compared(call: FunctionCall) -> Any:
    first, second = list(call.parameters)[:2]
    unified_names(call.operands(first, second), call.verb)
    return call.answer()


@implements("shape ndim result_type can_cast common_type min_scalar_type iscomplexobj isrealobj")
@implements("array2string array_str array_repr may_share_memory shares_memory")
def _answered(call: FunctionCall) -> Any:
    return call.answer()


@implements("size")
def _counted(call: FunctionCall) -> Any:
    call.axes(call.operand())
    return call.answer()


@implements("concatenate")
def _concatenated(call: FunctionCall) -> Any:
    parts = call.members()
    if call["axis"] is None and any(len(part.names) != 1 for part in parts):
        raise nameless(call.verb, "without axis= it flattens: give one, by name or position")
    call["axis"] = position(parts[0].dims, 0 if call["axis"] is None else call["axis"], call.verb)
    return call.result(_joined(parts, call["axis"], call.verb))


def _joined(parts: Sequence[Part], at: int | None, verb: str) -> Names:
    dims = [part.dims for part in parts]
    check_ranks(dims, verb)
    return joined(dims, at, verb)


_AT_LEAST = {1: np.atleast_1d, 2: np.atleast_2d, 3: np.atleast_3d}


@implements("stack")
def _stacked(call: FunctionCall) -> Any:
    """Return tensors joined along a new dim, which has no name."""
    names = _joined(call.members(), None, call.verb)
    at = new_positions(call, names)[0]
    return call.result((*names[:at], None, *names[at:]))


@implements("vstack hstack dstack")
def _stacked_along_fixed_dim(call: FunctionCall) -> Any:
    """Return tensors joined along the first, second or third dim; added dims have no names."""
    rank, at = {"np.vstack": (2, 0), "np.hstack": (1, 1), "np.dstack": (3, 2)}[call.verb]
    parts = [
        Part(_AT_LEAST[rank](part.data), padded_names(part.names, rank), part.role) for part in call.members()
    ]
    if call.verb == "np.hstack" and len(parts[0].names) == 1:
        at = 0
    return call.result(_joined(parts, at, call.verb))


@implements("dot inner")
def _dotted(call: FunctionCall) -> Any:
    """Return the sum over the last dim of a and, in `dot`, the second-to-last of b, or a product."""
    a, b = call.operand("a"), call.operand("b")
    if not a.names or not b.names:
        return call.result(a.names or b.names)
    at = -1 if call.verb == "np.inner" or len(b.names) == 1 else -2
    sizes = a.dims[-1].size, b.dims[at].size
    if sizes[0] != sizes[1]:
        message = f"{call.verb}: the contracted dims have sizes {sizes[0]} and {sizes[1]}"
        roles = Pairing(call.verb, a.role, b.role)
        raise paired_fault("NE372", message, (a.dims, b.dims), roles, ([-1], [at]), "")
    rest = removed(b.names, (len(b.names) + at,))
    return call.result(side_by_side(a, b, a.names[:-1] + rest, call.verb))


@implements("outer linalg.outer vdot")
def _of_vectors(call: FunctionCall) -> Any:
    """Return the products of two vectors, or their sum; more dims would be flattened."""
    parts = call.operands(*list(call.parameters)[:2])
    if any(len(part.names) != 1 for part in parts):
        hint = "np.multiply.outer(x, y) keeps all dims; ne.einsum contracts any"
        raise nameless(f"{call.verb} of what is not a vector", hint)
    if call.verb == "np.vdot":
        return call.result(())
    left, right = parts
    return call.result(side_by_side(left, right, left.names + right.names, call.verb))


@implements("linalg.matmul")
def _multiplied(call: FunctionCall) -> Any:
    left, right = call.operands("x1", "x2")
    return call.result(matmul_names(left.dims, right.dims, call.verb))


@implements("tensordot linalg.tensordot")
def _summed_products(call: FunctionCall) -> Any:
    left, right = (
        given if isinstance(given, Core) else unnamed(as_array(given, None, copy=False))
        for given in map(call.__getitem__, list(call.parameters)[:2])
    )
    return Core._tensor_class._wrap(*contracted(left, right, call["axes"]))
