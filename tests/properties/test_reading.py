"""Parts, positions and several values: what the reference computes or rejects, the package does too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from oracle.generate import formulas as generate
from oracle.reference.formulas import Refused, answers
from oracle.test_reading import EXPRESSIONS, FORMULAS, NO_RECURRENCES, RECURRENCES, REFUSED, V

X, I3 = np.arange(4.0), np.ones(3)

SHARED: list[tuple[str, dict[str, Any]]] = [
    ("y[k] = i[k]; z = y[_@(2-a)]; m = x[... _@(a+b)] * y[b] * w[b _@a]", {"w": np.ones((2, 3))}),
    ("y[k] = i[k]; z = y[_@(2-a)]; m = x[_@(a+b)] * w[b a]", {"w": np.ones((2, 3))}),
    ("y[k] = i[k]; z = x[_@(2*a)] * y[_@a]", {}),
    ("y[k] = i[k]; z = y[_@a] + x[_@(a + b)]; m = y[_@b]", {}),
    ("y[k] = i[k]; m = x[_@(a+b)]; b = m * y[b]", {}),
    ("y[k] = i[k]; m = w[(a b)] * y[b]", {"w": np.arange(6.0)}),
    ("y[k] = i[k]; m = w[(a b)] * v[(a c)] * y[b]", {"w": np.arange(6.0), "v": X}),
    ("y[k] = i[k]; m = w[(1 + a + _)] * y[a]", {"w": np.arange(6.0)}),
    ("y[k] = i[k]; m = w[(a b)] * 2; n = y[b]", {"w": np.arange(6.0)}),
]


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


@pytest.mark.parametrize(("text", "operands", "sizes", "expected"), EXPRESSIONS, ids=lambda v: str(v)[:40])
def test_expressions_are_what_the_reference_says(text: str, operands: Any, sizes: Any, expected: Any) -> None:
    np.testing.assert_array_equal(ne.einsum(text, *operands, sizes=sizes), expected)


TEXTS = [row[:2] for row in [*FORMULAS, *RECURRENCES]]


@pytest.mark.parametrize(("text", "operands"), TEXTS, ids=[text for text, _ in TEXTS])
def test_formulas_are_what_the_reference_says(text: str, operands: dict[str, Any]) -> None:
    (expected,) = answers(text, **operands)
    assert generate.same(ne.evaluate(text, **operands), expected)


WRONG = [*REFUSED, *((text, {"x": V}, code) for text, code in NO_RECURRENCES)]


@pytest.mark.parametrize(("text", "operands", "code"), WRONG, ids=[row[0] for row in WRONG])
def test_what_does_not_fit_is_rejected(text: str, operands: dict[str, Any], code: str) -> None:
    with pytest.raises(ne.NameExprError, match=code):
        ne.evaluate(text, **operands)


@pytest.mark.parametrize(("text", "operands"), SHARED, ids=[text for text, _ in SHARED])
def test_sizes_that_several_positions_share_leave_no_dim(text: str, operands: dict[str, Any]) -> None:
    every = {"i": I3, "x": X, **operands}
    operands = {name: value for name, value in every.items() if f"{name}[" in text}
    try:
        (expected,) = answers(text, **operands)
    except Refused:
        with pytest.raises(ne.SizeError):
            ne.evaluate(text, **operands)
    else:
        assert generate.same(ne.evaluate(text, **operands), expected)


@pytest.mark.parametrize(
    "text", ["x[_@(3*o) _@(y[] % 1)] * 2", "x[_@(3*o) _@y[]] + x[_@(3*o) _@y[]]", "-x[a y@y[]]"]
)
def test_what_is_read_at_one_position_is_no_view_that_is_written_to(text: str) -> None:
    x = np.arange(8.0).reshape(4, 2)
    ne.evaluate(text, x=x, y=np.array(0))
    np.testing.assert_array_equal(x, np.arange(8.0).reshape(4, 2))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("function", ["softmax", "log_softmax", "cumsum", "sort"])
def test_values_that_work_in_memory_get_into_their_parts(function: str, dtype: str) -> None:
    text = f"w[(1 + d) (1 + d)] = 0, 2, {function}[d](0.5 * x[d]), y[]"
    operands = {"x": np.array([1, 3, 2], dtype), "y": np.array(2, dtype)}
    (expected,) = answers(text, **operands)
    assert generate.same(ne.evaluate(text, **operands), expected)


def test_a_limit_of_memory_that_a_joined_result_does_not_keep_is_explained() -> None:
    text = "y[(a + b) c] = sin(x[a c]) * 2, z[b c] + 1; m = y[n c] * 2 + cos(y)"
    with pytest.raises(ne.LimitError, match="the result alone"):
        ne.evaluate(text, x=np.ones((100, 2)), z=np.ones((50, 2)), memory_limit=20_000)
