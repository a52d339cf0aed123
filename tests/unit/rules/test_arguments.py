"""Arguments that public functions do not take: NE687, and never Python's own words for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.tensors.ops import OPS

TENSOR = ne.tensor(np.ones((2, 3)), names="N C")
PLAN = ne.compile("a b, b c, c d -> a d").plan((2, 3), (3, 4), (4, 5))
_OTHERS = (
    "as_tensor cache_clear cache_info check compile einsum explain from_numpy from_pandas from_xarray "
    "get_default_dtype limits load set_default_dtype set_limits"
)
OTHERS = frozenset(_OTHERS.split())
"""Functions that are no operators. `evaluate` and `save` take nearly everything."""


def public_functions() -> dict[str, Callable[..., Any]]:
    """Return what users call by name."""
    x = ne.tensor(np.ones((2, 3)), names="N C")  # which some methods write over
    found = {f"ne.{name}": getattr(ne, name) for name in dir(ne) if name in OPS or name in OTHERS}
    found |= {f"x.{name}": getattr(x, name) for name in dir(x) if name[0] != "_" and name in OPS}
    found |= {f"plan.{name}": getattr(PLAN, name) for name in ("draw", "dot", "mermaid", "fitted")}
    return {name: value for name, value in found.items() if inspect.isroutine(value)}


def outcome_of(function: Callable[..., Any], *args: Any, **keywords: Any) -> ne.NameExprError | None:
    try:
        function(*args, **keywords)
    except ne.NameExprError as error:
        return error  # Python's TypeErrors are not caught
    return None


@pytest.mark.parametrize(("name", "function"), public_functions().items())
def test_wrong_arguments_are_never_reported_by_python(name: str, function: Callable[..., Any]) -> None:
    """Too many arguments, none at all, and a keyword that no function has."""
    outcomes = [outcome_of(function, *[np.ones(1)] * 40), outcome_of(function), outcome_of(function, nopq=1)]
    assert any(outcomes)
    for error in outcomes:
        if error is not None and error.code in ("NE681", "NE687"):
            assert function.__name__ in str(error)


def test_all_missing_arguments_are_marked() -> None:
    with pytest.raises(ne.OptionError, match="where needs the arguments 'x' and 'y'") as caught:
        ne.where(TENSOR)  # type: ignore[call-arg]
    assert caught.value.code == "NE687"
    assert [caught.value.text[slice(*span)] for span in caught.value.spans] == ["x", "y"]


def test_the_tensor_itself_is_not_counted() -> None:
    with pytest.raises(ne.OptionError, match="exp takes no positional arguments, but 1 was given"):
        TENSOR.exp(3)  # type: ignore[arg-type, call-arg]
    with pytest.raises(ne.OptionError, match="sum takes at most 2 positional arguments, but 3 were given"):
        ne.sum(TENSOR, "N", False, 4)  # type: ignore[call-arg, arg-type]


@pytest.mark.parametrize("name", ["add_", "mul_", "index_fill_"])
def test_a_twin_is_called_by_its_own_name(name: str) -> None:
    with pytest.raises(ne.OptionError, match=f"^OptionError.NE687.: {name} needs the arg") as caught:
        getattr(TENSOR, name)()
    assert "out" not in str(caught.value)


def test_a_type_error_from_inside_a_function_is_passed_on() -> None:
    with pytest.raises(TypeError, match="PathLike") as caught:
        ne.load(3)  # type: ignore[arg-type]
    assert not isinstance(caught.value, ne.NameExprError)


def test_signatures_are_those_that_users_call() -> None:
    assert str(inspect.signature(TENSOR.exp)) == "(*, out=None)"
    assert str(inspect.signature(TENSOR.mul)) == "(other, *, out=None)"
