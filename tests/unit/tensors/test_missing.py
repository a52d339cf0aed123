"""Methods of other libraries that do not exist here: the error says what to write."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.tensors.missing import ANSWERED, advice

X = ne.tensor([[1.0, 2.0], [3.0, 4.0]], names="N C")


@pytest.mark.parametrize("name", ANSWERED)
def test_the_error_says_what_to_write(name: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(X, name)
    assert str(caught.value) == f"'NamedTensor' object has no attribute {name!r}: {advice(name)}"
    assert not hasattr(X, name) and name not in dir(X) and getattr(X, name, 7) == 7


@pytest.mark.parametrize("name", ANSWERED)
def test_what_is_advised_exists(name: str) -> None:
    """Every `x.method`, `ne.function` and `np.function` of the advice is there."""
    for owner, word in re.findall(r"\b(x|ne|np)\.(\w+)", advice(name)):
        assert hasattr({"x": X, "ne": ne, "np": np}[owner], word), word


@pytest.mark.parametrize("name", ["reshape", "rolling", "sel", "stack", "plot", "values", "fillna"])
def test_the_habits_that_were_met_first_are_answered(name: str) -> None:
    assert advice(name)


def test_the_package_answers_too() -> None:
    with pytest.raises(AttributeError, match=re.escape("'reshape': x.flatten")):
        _ = ne.reshape  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'$"):
        _ = ne.nonsense  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["jacobian", "hessian", "vjp", "jvp", "hvp", "vmap"])
def test_functions_that_differentiate_are_answered_with_a_formula(name: str) -> None:
    with pytest.raises(AttributeError, match=r"no attribute '\w+': in a formula, .*: y.* = .*grad\("):
        getattr(ne, name)


def test_a_misspelt_name_is_left_to_python_which_proposes_the_nearest() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'smu'$") as caught:
        _ = X.smu  # type: ignore[attr-defined]
    assert caught.value.name == "smu" and caught.value.obj is X


def test_protocols_that_ask_for_attributes_go_on_as_before() -> None:
    assert copy.deepcopy(X).equal(X) and pickle.loads(pickle.dumps(X)).equal(X)
    assert np.asarray(X) is X.numpy() and not hasattr(X, "__array_interface__")
