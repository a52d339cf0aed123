"""Keywords of methods and functions: the accepted synonyms, and the error for an unknown one.

`axis=` and `keepdims=` are NumPy's words for `dim=` and `keepdim=`, and `ddof=` is that for `correction=`.
Each is accepted wherever the other is. `nameexpr.tensors.ops.checked` calls this module only for a keyword
that is not a parameter.

>>> x = ne.tensor([[1.0, 3.0]], names="N C")
>>> x.std(axis="C", ddof=0, keepdims=True)
tensor([[1.]], names=('N', 'C'), shape=(1, 1))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from inspect import Parameter, signature
from typing import Any, TypedDict

from nameexpr.rules.arguments import twice, unknown


class Axis(TypedDict, total=False):
    """The synonyms of a method along a dim, for type checkers."""

    axis: str | int | Sequence[str | int] | None


class AxisAndKeepdims(Axis, total=False):
    """The synonyms of a reduction, for type checkers."""

    keepdims: bool


class AxisKeepdimsAndDdof(AxisAndKeepdims, total=False):
    """The synonyms of `std` and `var`, for type checkers."""

    ddof: float


SYNONYMS = {
    "axis": ("dim", "dims"),
    "axes": ("dims", "dim"),
    "dim": ("dims",),
    "dims": ("dim",),
    "axis1": ("dim1",),
    "axis2": ("dim2",),
    "keepdims": ("keepdim",),
    "ddof": ("correction",),
    "interpolation": ("method",),
    "a_min": ("min",),
    "a_max": ("max",),
}
"""Keywords of NumPy and xarray, and the corresponding parameters."""


def corrected(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], left_out: str = ""
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call with synonyms replaced by the names of the function's parameters.

    NE681 for a keyword that is neither, NE673 if an argument is given twice. `left_out` is a parameter that
    the caller fills in.
    """
    parameters = signature(function).parameters.values()
    kinds = {each.name: each.kind for each in parameters if each.kind is not Parameter.VAR_KEYWORD}
    kinds.pop(left_out, None)
    given = dict.fromkeys(list(kinds)[: len(args)], "")
    result: dict[str, Any] = {}
    for word, value in kwargs.items():
        own = _own(word, kinds)
        if own is None:
            raise unknown(function.__name__, word, value, list(kinds)[1:], args)
        if own in given:
            raise twice(function.__name__, own, word, given[own])
        given[own] = word
        if kinds[own] is Parameter.VAR_POSITIONAL:
            args = (*args, value)
        else:
            result[own] = value
    return args, result


def _own(word: str, parameters: Iterable[str]) -> str | None:
    """Return the parameter that a keyword corresponds to, None if there is none."""
    return next((name for name in (word, *SYNONYMS.get(word, ())) if name in parameters), None)
