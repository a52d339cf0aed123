"""docs/formulas.md has every function, says what it gives, and is current."""

from __future__ import annotations

import re

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.ops import (
    ALONG,
    CONSTANTS,
    OPERATORS,
    POINTWISE,
    REDUCTIONS,
    RESERVED,
    SIGNS,
)
from pages import documents, formulas_page

PAGE = documents.read("docs/formulas.md")
ROW = re.compile(
    r"^\| `(\w+)([\[(])([^\])]*)[\])][^|]*\| ([^|]+) \| (\S+) \| (\S+) \| (\S+) \|$", re.MULTILINE
)
ROWS = {match[1]: match for match in ROW.finditer(PAGE)}


def test_the_tables_are_current() -> None:
    assert formulas_page.page(PAGE) == PAGE, "run python -m pages.formulas_page in tests/"


def test_every_function_has_one_row() -> None:
    names = [match[1] for match in ROW.finditer(PAGE)]
    assert sorted(names) == sorted([*POINTWISE, *REDUCTIONS, *ALONG])


def test_every_operator_and_constant_is_named() -> None:
    operators = PAGE.partition("| operators |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([^`]+)`", operators.replace("\\|", "|"))) >= {
        *OPERATORS,
        *(f"{sign}x" for sign in SIGNS),
    }
    assert all(f"`{name}" in PAGE for name in (*CONSTANTS, *RESERVED))


def call(match: re.Match[str]) -> str:
    """Return the call of a row on operands x, y and low, high of the dims C H."""
    name, bracket, inside = match[1], match[2], match[3]
    if bracket == "[":
        return f"{name}[{inside}](x[C H])"
    arguments = ("x" if one in ("condition", "low", "high") else one for one in inside.split(", "))
    return f"{name}({', '.join(f'{one}[C H]' for one in arguments)})"


@pytest.mark.parametrize("name", sorted(ROWS))
@pytest.mark.parametrize("place", range(3))
def test_the_dtypes_of_the_row_are_what_comes_out(name: str, place: int) -> None:
    formula = call(ROWS[name])
    dtype, said = formulas_page.DTYPES[place], ROWS[name][5 + place]
    x = np.array([[0.25, 1.0], [1.0, 0.5]]).astype(dtype)
    operands = {"x": x, "y": x + 1} if re.search(r"\by\[", formula) else {"x": x}
    if said == "-":
        with pytest.raises(ne.NameExprError):
            ne.evaluate(formula, operands=operands)
        return
    with np.errstate(all="ignore"):
        assert np.asarray(ne.evaluate(formula, operands=operands)).dtype == said


X, Y = np.random.default_rng(0).normal(size=(2, 5, 3))
LABEL = np.array([0, 2, 1, 1, 0])
LOGS = X - np.log(np.exp(X).sum(axis=1, keepdims=True))
COMMON = {
    "softmax with a temperature": ({"s": X, "t": 2.0}, np.exp(X / 2) / np.exp(X / 2).sum(1, keepdims=True)),
    "layer norm": ({"x": X}, (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-5)),
    "cosine similarity": (
        {"x": X, "y": Y},
        (X / np.linalg.norm(X, axis=1, keepdims=True)) @ (Y / np.linalg.norm(Y, axis=1, keepdims=True)).T,
    ),
    "cross entropy": ({"s": X, "label": LABEL}, -LOGS[np.arange(5), LABEL].mean()),
    "covariance": ({"x": X}, np.cov(X.T, bias=True)),
    "identity matrix": ({"sizes": {"i": 3, "j": 3}}, np.eye(3)),
    "one-hot": ({"label": LABEL, "sizes": {"K": 3}}, np.eye(3)[LABEL]),
    "shortest paths, one step": (
        {"a": X[:3]},
        np.array([[min(X[i, k] + X[k, j] for k in range(3)) for j in range(3)] for i in range(3)]),
    ),
    "Gaussian kernel": (
        {"x": X, "y": Y, "s": 1.5},
        np.exp(-np.square(X[:, None] - Y[None]).sum(-1) / 4.5),
    ),
    "moving average": ({"x": X, "sizes": {"d": 2}}, (X[:, 1:] + X[:, :-1]) / 2),
    "convolution": (
        {"x": X.reshape(1, 5, 3, 1), "f": Y[:2, :2].reshape(2, 2, 1, 1)},
        np.array([[(X[h : h + 2, w : w + 2] * Y[:2, :2]).sum() for w in range(2)] for h in range(4)]).reshape(
            1, 4, 2, 1
        ),
    ),
    "differences": ({"x": X[0]}, np.diff(X[0])),
    "exponential average": ({"x": np.array([1.0, 2, 3])}, [1, 1, 1.1, 1.29]),
    "the k largest": ({"s": X, "sizes": {"k": 2}}, np.sort(X, axis=1)[:, :-3:-1]),
    "sums by group": (
        {"x": X[:, 0], "group": LABEL, "sizes": {"g": 4}},
        np.bincount(LABEL, X[:, 0], 4),
    ),
    "polynomial": ({"c": X[0], "t": Y[:, 0]}, np.polyval(X[0, ::-1], Y[:, 0])),
}


def test_the_common_computations_are_what_they_are_called() -> None:
    rows = dict(re.findall(r"^\| ([^`|]+) \| `([^`]+)`[^|]*\|$", PAGE.partition("\n## 13")[2], re.MULTILINE))
    assert set(rows) == set(COMMON)
    for name, (operands, expected) in COMMON.items():
        np.testing.assert_allclose(ne.evaluate(rows[name], **operands), expected, err_msg=name)


ELSEWHERE = re.findall(r"^\| .+ \| `(.+)` \| `(.+)` \|$", PAGE.partition("\n## 14")[2], re.MULTILINE)
GIVEN = {
    "x": np.array([[3.0, 1.0, 2.0, 7.0], [5.0, 9.0, 4.0, 6.0], [0.5, -1.0, 8.0, 2.5]]),
    "z": np.arange(12.0).reshape(3, 4),
    "row": np.array([1.0, 2.0, 4.0, 8.0, 3.0, -1.0]),
    "taps": np.array([1.0, 10.0]),
    "ids": np.array([2, 0, 2]),
    "where": np.array([[0, 3], [1, 1], [2, 0]]),
    "images": np.random.default_rng(1).normal(size=(2, 4, 5, 3)),
    "filters": np.random.default_rng(2).normal(size=(2, 2, 3, 2)),
}


@pytest.mark.parametrize(("code", "formula"), ELSEWHERE, ids=[formula for _, formula in ELSEWHERE])
def test_formulas_are_what_other_libraries_compute(code: str, formula: str) -> None:
    used = {name: value for name, value in GIVEN.items() if re.search(rf"\b{name}\[", formula)}
    sizes = {"d": 3} if "max[d]" in formula else None
    found = ne.evaluate(formula, operands=used, sizes=sizes)
    np.testing.assert_allclose(found, eval(code, {"np": np, **GIVEN}))


def test_every_row_about_other_libraries_is_read() -> None:
    assert len(ELSEWHERE) > 20
    assert PAGE.partition("\n## 14")[2].count("\n|") == len(ELSEWHERE) + 2


def test_a_page_that_is_not_current_is_noticed() -> None:
    assert formulas_page.page(PAGE.replace("`np.arctan2`", "`np.arctan`")) == PAGE
    with pytest.raises(AssertionError):
        formulas_page.page(PAGE.replace("<!-- along -->", ""))
