"""The table of pointwise methods: every row has a kernel, a docstring, and the name that it is found by."""

from __future__ import annotations

import inspect
import pickle

import pytest

import nameexpr as ne
from nameexpr.backends.numpy.pointwise import BINARY, UNARY
from nameexpr.tensors.ops import OPS
from nameexpr.tensors.pointwise import EXTRA, RANKED, PointwiseMethods

METHODS = {name: method for name, method in vars(PointwiseMethods).items() if inspect.isfunction(method)}
ROWS = {name: method for name, method in METHODS.items() if not name.endswith("_")}
TWINS = {name: method for name, method in METHODS.items() if name.endswith("_")}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_has_a_kernel_and_says_what_it_returns(name: str) -> None:
    method = ROWS[name]
    is_binary = "other" in inspect.signature(method).parameters
    assert name in (BINARY if is_binary else UNARY)
    assert OPS[name].rule == ("unifies" if is_binary else "keeps")
    assert (method.__name__, method.__code__.co_name) == (name, name)
    summary, example = inspect.getdoc(method).split("\n\n")
    assert summary.startswith("Return ") and summary.endswith(".")
    assert f").{name}(" in example


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_writes_over_its_tensor(name: str) -> None:
    assert OPS[name].twin_of == name.removesuffix("_")
    assert OPS[name].is_torch == OPS[name.removesuffix("_")].is_torch


@pytest.mark.parametrize("name", METHODS)
def test_a_method_can_be_pickled(name: str) -> None:
    assert pickle.loads(pickle.dumps(METHODS[name])) is METHODS[name]


def test_the_columns_speak_of_rows() -> None:
    assert set(ROWS) >= EXTRA | RANKED


@pytest.mark.parametrize("name", [name for name in ROWS if hasattr(ne, name)])
def test_the_function_says_what_the_method_says(name: str) -> None:
    assert inspect.getdoc(getattr(ne, name)) == inspect.getdoc(ROWS[name])
