"""Code shared by NumPy's two protocols for `NamedTensor`, ufuncs and functions.

An operand is represented by a `Part`: its array, its names, and its role in errors. Results are wrapped with
the names that a rule returned, and errors of NumPy are translated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nameexpr.dims import Clash, Dims, Names, dims_of, duplicate
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.rules.calls import counted
from nameexpr.rules.combining import doubled_fault
from nameexpr.rules.pairing import Pairing, first_clash
from nameexpr.rules.writing import check_written
from nameexpr.tensors.core import Array, Core
from nameexpr.tensors.operators import data_and_names, unify_names
from nameexpr.tensors.writing import check_writeable


class Part(NamedTuple):
    """One operand: an array or a number, the names of its dims, and its role in the text of an error."""

    data: Any
    names: Names
    role: str

    @property
    def dims(self) -> Dims:
        """Names and sizes."""
        return dims_of(self.names, np.shape(self.data))


def part(operand: Any, role: str, verb: str) -> Part:
    """Return an operand of any type as a part (NE575 and NE653 for other objects)."""
    data, names = data_and_names(operand, verb)
    return Part(data, names or (None,) * np.ndim(data), role)


def parts(operands: Sequence[Any], verb: str) -> list[Part]:
    """Return operands as parts, which are called left and right if there are two."""
    roles = {1: ("tensor",), 2: ("left", "right")}.get(len(operands))
    roles = roles or tuple(f"operand {index}" for index in range(len(operands)))
    return [part(operand, role, verb) for operand, role in zip(operands, roles, strict=True)]


def unified_names(parts: Sequence[Part], verb: str) -> Names:
    """Return the names of operands that are broadcast together (NE470, NE471)."""
    names: Names = ()
    for operand in parts:
        unified = unify_names(names, operand.names)
        if isinstance(unified, Clash):
            dims = [part.dims for part in parts]
            raise first_clash(dims, lambda left, right: Pairing(verb, parts[left].role, parts[right].role))
        names = unified
    return names


def side_by_side(left: Part, right: Part, names: Names, verb: str) -> Names:
    """Return the names of two operands, each kept, or raise NE473 if one occurs twice."""
    twice = duplicate(names)
    if twice:
        raise doubled_fault(twice[0], left.dims, right.dims, Pairing(verb, left.role, right.role))
    return names


def checked_target(out: Any, names: Names, verb: str) -> Core:
    """Return an `out=` that takes a result with these names (NE472, NE371); its sizes are left to NumPy.

    NE660 if it is not a NamedTensor (`array += x` ends here), NE576 if its array is read-only.
    """
    if not isinstance(out, Core):
        message = f"{verb}: an out= of type {type(out).__name__} cannot take the names of the result"
        hint = "from_numpy(array, names=...) shares the array's memory, and takes out= and += alike"
        raise error(Diagnostic("NE660", message, hint=hint))
    if out._data.ndim != len(names):
        message = f"{verb}: a result with {counted(len(names), 'dim')} does not fit into an out="
        raise error(Diagnostic("NE371", f"{message} with {out._data.ndim}", hint=f"its shape is {out.shape}"))
    check_written(out._dims, names, out.shape, verb, is_out=True)
    check_writeable(out, verb)
    return out


def named(kind: type[Core], value: Any, names: Names, verb: str) -> Any:
    """Return a result of NumPy as a tensor; None, the result of some functions, is returned unchanged."""
    if value is None:
        return None
    data = value if type(value) is np.ndarray else _as_array(value)
    if data.ndim != len(names):
        raise nameless(verb)
    return kind._wrap(data, names)


def _as_array(value: Any) -> Array:
    if isinstance(value, np.ndarray | np.generic | int | float | complex):
        return np.asarray(value)
    array = np.empty((), dtype=object)  # an object may be a list, which asarray would unpack
    array[()] = value
    return array


def nameless(verb: str, hint: str = "") -> NameExprError:
    """Return the error for a function that does not support names (NE658)."""
    hint = hint or "for the result without names apply it to x.numpy()"
    return error(Diagnostic("NE658", f"{verb} would lose the names of a NamedTensor", hint=hint))


def refused(verb: str, fault: Exception) -> NameExprError:
    """Return the error for arguments that NumPy's function rejects (NE661), with NumPy's message."""
    if isinstance(fault, NameExprError):
        return fault
    if isinstance(fault, MemoryError):
        return error(Diagnostic("NE707", f"{verb}: {fault}", hint="the result would be too large for memory"))
    text = " ".join(str(fault).split()).rstrip(".")
    return error(Diagnostic("NE661", f"{verb} does not take these arguments: {text}"))
