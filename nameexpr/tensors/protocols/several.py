"""NumPy's functions of several operands: where, clip, concatenate, dot, allclose; and plain answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nameexpr.dims import Names
from nameexpr.rules.combining import check_ranks, joined, matmul_names
from nameexpr.rules.lookup import position
from nameexpr.rules.pairing import Pairing, paired_fault
from nameexpr.tensors.coerce import as_array, unnamed
from nameexpr.tensors.contraction import contracted
from nameexpr.tensors.core import Core
from nameexpr.tensors.protocols.calls import FunctionCall, implements
from nameexpr.tensors.protocols.operands import Part, nameless, side_by_side, unified_names
from nameexpr.tensors.protocols.single import new_positions, padded_names


@implements("clip")
def clipped(call: FunctionCall) -> Any:
    """Return elements within bounds, which are broadcast with them."""
    parts = call.operands("a", "a_min", "a_max", "min", "max", "where")
    return call.result(unified_names(parts, call.verb))


@implements("where")
def chosen(call: FunctionCall) -> Any:
    """Return the elements of x or y, broadcast with the condition."""
    parts = call.operands("condition", "x", "y")
    if len(parts) == 1:
        raise nameless(f"{call.verb} of a condition alone")
    return call.result(unified_names(parts, call.verb))


@implements("isclose")
def close(call: FunctionCall) -> Any:
    """Return which elements are close to each other."""
    return call.result(unified_names(call.operands("a", "b", "rtol", "atol"), call.verb))


@implements("isin")
def contained(call: FunctionCall) -> Any:
    """Return which elements are among others, whatever the names of those."""
    x, _ = call.operand("element"), call.operand("test_elements")
    return call.result(x.names)


@implements("allclose array_equal array_equiv")
def compared(call: FunctionCall) -> Any:
    """Return True or False for two operands, whose names must match."""
    first, second = list(call.parameters)[:2]
    unified_names(call.operands(first, second), call.verb)
    return call.answer()


@implements("shape ndim result_type can_cast common_type min_scalar_type iscomplexobj isrealobj")
@implements("array2string array_str array_repr may_share_memory shares_memory")
def answered(call: FunctionCall) -> Any:
    """Return an answer that is no array."""
    return call.answer()


@implements("size")
def counted(call: FunctionCall) -> Any:
    """Return the number of elements, or the size of a dim."""
    call.axes(call.operand())
    return call.answer()


@implements("concatenate")
def concatenated(call: FunctionCall) -> Any:
    """Return tensors joined along a dim that all of them have."""
    parts = call.members()
    if call["axis"] is None and any(len(one.names) != 1 for one in parts):
        raise nameless(call.verb, "without axis= it flattens: give one, by name or position")
    call["axis"] = position(parts[0].dims, 0 if call["axis"] is None else call["axis"], call.verb)
    return call.result(_joined(parts, call["axis"], call.verb))


def _joined(parts: Sequence[Part], at: int | None, verb: str) -> Names:
    dims = [one.dims for one in parts]
    check_ranks(dims, verb)
    return joined(dims, at, verb)


@implements("stack")
def stacked(call: FunctionCall) -> Any:
    """Return tensors side by side along a new dim, which has no name."""
    names = _joined(call.members(), None, call.verb)
    at = new_positions(call, names)[0]
    return call.result((*names[:at], None, *names[at:]))


@implements("vstack hstack dstack")
def stacked_along_fixed_dim(call: FunctionCall) -> Any:
    """Return tensors joined along the first, second or third dim; dims that are added have no names."""
    rank, at = {"np.vstack": (2, 0), "np.hstack": (1, 1), "np.dstack": (3, 2)}[call.verb]
    parts = [_raised(one, rank) for one in call.members()]
    if call.verb == "np.hstack" and len(parts[0].names) == 1:
        at = 0
    return call.result(_joined(parts, at, call.verb))


def _raised(one: Part, rank: int) -> Part:
    names = padded_names(one.names, rank)
    at_least = {1: np.atleast_1d, 2: np.atleast_2d, 3: np.atleast_3d}[rank]
    return Part(at_least(one.data), names, one.role)


@implements("dot")
def dotted(call: FunctionCall) -> Any:
    """Return the sum over the last dim of a and the last but one of b, or the product with a number."""
    a, b = call.operand("a"), call.operand("b")
    if not a.names or not b.names:
        return call.result(a.names or b.names)
    at = -1 if len(b.names) == 1 else -2
    _check_meeting(a, b, at, call.verb)
    rest = b.names[:at] + b.names[len(b.names) + at + 1 :]
    return call.result(side_by_side(a, b, a.names[:-1] + rest, call.verb))


@implements("inner")
def inner(call: FunctionCall) -> Any:
    """Return the sum over the last dims of both, or the product with a number."""
    a, b = call.operand("a"), call.operand("b")
    if not a.names or not b.names:
        return call.result(a.names or b.names)
    _check_meeting(a, b, -1, call.verb)
    return call.result(side_by_side(a, b, a.names[:-1] + b.names[:-1], call.verb))


def _check_meeting(a: Part, b: Part, at: int, verb: str) -> None:
    """Raise NE372 unless the last dim of a has the size of one of b."""
    sizes = a.dims[-1].size, b.dims[at].size
    if sizes[0] != sizes[1]:
        message = f"{verb}: the contracted dims have sizes {sizes[0]} and {sizes[1]}"
        raise paired_fault(
            "NE372", message, (a.dims, b.dims), Pairing(verb, a.role, b.role), ([-1], [at]), ""
        )


@implements("outer linalg.outer vdot")
def of_vectors(call: FunctionCall) -> Any:
    """Return the products of two vectors, or their sum; more dims would be flattened."""
    parts = call.operands(*list(call.parameters)[:2])
    if any(len(one.names) != 1 for one in parts):
        hint = "np.multiply.outer(x, y) keeps all dims; ne.einsum contracts any"
        raise nameless(f"{call.verb} of what is no vector", hint)
    if call.verb == "np.vdot":
        return call.result(())
    left, right = parts
    return call.result(side_by_side(left, right, left.names + right.names, call.verb))


@implements("linalg.matmul")
def multiplied(call: FunctionCall) -> Any:
    """Return the matrix product."""
    left, right = call.operands("x1", "x2")
    return call.result(matmul_names(left.dims, right.dims, call.verb))


@implements("tensordot linalg.tensordot")
def summed_products(call: FunctionCall) -> Any:
    """Return the contraction of listed dims, by name or position."""
    first, second = list(call.parameters)[:2]
    return contracted(_as_core(call[first]), _as_core(call[second]), call["axes"])


def _as_core(operand: Any) -> Core:
    return operand if isinstance(operand, Core) else unnamed(as_array(operand, None, copy=False))
