"""What is proposed for functions that move elements runs, and gives what those functions give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.analysis.rules.forms import FORMS
from nameexpr.compiler.analysis.rules.instead import ADVICE, BEFORE, SHOWN, WRITTEN
from nameexpr.compiler.analysis.scope import read_scope
from nameexpr.ops import ALONG, POINTWISE, REDUCTIONS
from nameexpr.syntax import ast
from nameexpr.syntax.parser.formula import parse_formula
from nameexpr.syntax.walk import nodes_of

A = np.array([[0.5, -1.25, 2.0, 4.0], [-0.75, 1.5, 7.25, 3.0]])
B = np.array([[1.5, 0.5, 2.0, 9.0], [0.25, 1.5, 3.5, 8.0]])
ORDER, INDICES = np.array([2, 0, 1]), np.array([[0, 3], [1, 1]])
LINE, WEIGHTS = np.array([1.0, 2.0, 4.0, 7.0]), np.array([1.0, 10.0])
GIVEN: dict[str, Any] = {
    "a": A,
    "b": B,
    "order": ORDER,
    "i": INDICES,
    "line": LINE,
    "weights": WEIGHTS,
    "few": LINE[:3],
}
WHOLE_NUMBERS = ("ids", "label")


@pytest.mark.parametrize("statement", sorted({statement for _, statement in FORMS.values()}))
def test_every_form_runs(statement: str) -> None:
    operands = {}
    for name, uses in read_scope(parse_formula(statement)).uses.items():
        assert uses[0].term is not None
        is_place = name in WHOLE_NUMBERS or f"@{name}[" in statement
        operands[name] = np.ones([3] * len(uses[0].term.items), dtype=int if is_place else float)
    assert np.size(ne.evaluate(statement, **operands)) > 0


def test_no_name_has_two_answers_or_is_a_function() -> None:
    others = {*WRITTEN, *BEFORE, *SHOWN, *ADVICE, *POINTWISE, *REDUCTIONS, *ALONG}
    assert not others & {*FORMS}
    assert len(FORMS) >= 60


# a call, and what is proposed for it, in its names; what the function would give
CALLS: list[tuple[str, str, Any]] = [
    ("y[n c] = roll(a[n c])", "y = a[n c@((c - 1) % size[c])]", np.roll(A, 1, -1)),
    ("y = roll[n](a[n c])", "y = a[n@((n - 1) % size[n]) c]", np.roll(A, 1, 0)),
    ("y = diff(a[n c])", "y = a[n (1 + c)] - a[n (c + 1)]", np.diff(A)),
    ("y = shift(line[t])", "y[(1 + t)] = 0, line[(t + 1)]", np.array([0.0, 1, 2, 4])),
    ("y = concat[c](a[n c], b[n c])", "y[n (c + D)] = a[n c], b[n D]", np.concatenate([A, B], 1)),
    ("y = concat(a[n c], b[n d])", "y[n (c + d)] = a[n c], b[n d]", np.concatenate([A, B], 1)),
    ("y = concat(a[n c], b[m c])", "y[(n + m) c] = a[n c], b[m c]", np.concatenate([A, B])),
    ("y = take(a[n c], order)", "y = a[n c@order[k]]", A[:, ORDER]),
    ("y[n m] = gather(a[n c], i[n m])", "y = a[n c@i[n m]]", np.take_along_axis(A, INDICES, 1)),
    ("y = pad(a[n c])", "y[n (1 + c + 1)] = a[n c]", np.pad(A, ((0, 0), (1, 1)))),
    ("y = sel[c](a[n c])", "y = a[n c@0]", A[:, 0]),
    ("y = slice[n](a[n c])", "y = a[(1 + n) c]", A[1:]),
    ("y = split(a[n c])", "y = a[n (c=1 + _)]", A[:, :1]),
    ("one_hot(order[c])", "y[c k=10] = order[c] == index[k]", np.eye(3, 10, dtype=bool)[ORDER]),
    ("one_hot(order[k], 3)", "y[k i=3] = order[k] == index[i]", np.eye(3, dtype=bool)[ORDER]),
    ("y = unfold(line[s], 3)", "y[s d=3] = line[_@(s + d)]", np.array([[1.0, 2, 4], [2, 4, 7]])),
    ("conv(line[s], weights[e])", "y[s] = sum[e](line[_@(s + e)] * weights[e])", np.correlate(LINE, WEIGHTS)),
    ("conv(line[s], weights[s])", "y[s] = sum[d](line[_@(s + d)] * weights[d])", np.correlate(LINE, WEIGHTS)),
    (
        "segment_sum(few[N], order[N])",
        "y[k=4] = sum[N](where(order[N] == index[k], few[N], 0))",
        np.array([2.0, 4, 1, 0]),
    ),
    ("y = bincount(order[N])", "y[k=4] = sum[N](order[N] == index[k])", np.array([1, 1, 1, 0])),
    ("scan(line[s])", "h[(1 + s)] = 0, 0.9 * h[_@s] + line[s]", np.array([0, 1, 2.9, 6.61, 12.949])),
    ("2 * roll(a[n c])", "y = a[n c@((c - 1) % size[c])]", np.roll(A, 1, -1)),
]


@pytest.mark.parametrize(("call", "proposed", "meant"), CALLS, ids=[call for call, *_ in CALLS])
def test_the_form_is_written_in_the_names_of_the_call(call: str, proposed: str, meant: Any) -> None:
    with pytest.raises(ne.NameExprError) as caught:
        ne.evaluate(call, operands=used(call))
    assert caught.value.hint.partition(": ")[2] == proposed
    np.testing.assert_allclose(ne.evaluate(proposed, operands=used(proposed)), meant, rtol=1e-14)


def used(text: str) -> dict[str, Any]:
    """Return the operands of a text."""
    names = {node.name for node in nodes_of(parse_formula(text).statements) if isinstance(node, ast.Use)}
    return {name: value for name, value in GIVEN.items() if name in names}


@pytest.mark.parametrize(
    ("name", "text", "meant"),
    [
        ("conv", "y[t] = sum[d](x[_@(t + d)] * w[d])", np.correlate(LINE, WEIGHTS)),
        ("convolve", "y[t] = sum[d](x[_@(t + size[d] - 1 - d)] * w[d])", np.convolve(LINE, WEIGHTS, "valid")),
    ],
)
def test_a_convolution_is_a_sum_over_windows(name: str, text: str, meant: Any) -> None:
    assert FORMS[name][1] == text
    np.testing.assert_array_equal(ne.evaluate(text, x=LINE, w=WEIGHTS), meant)


@pytest.mark.parametrize(
    "call", ["shift(line[t], 1)", "conv(a[n c], line[t])", "segment_sum(line[t], order[k])"]
)
def test_a_call_of_other_dims_shows_the_form_in_general(call: str) -> None:
    with pytest.raises(ne.NameExprError) as caught:
        ne.evaluate(call, operands=used(call))
    assert caught.value.hint.partition(": ")[2] in {form for _, form in FORMS.values()} | {
        "y[(1 + t)] = 0, line[(t + 1)]"
    }


def test_a_call_without_terms_shows_the_form_in_general() -> None:
    with pytest.raises(ne.NameExprError) as caught:
        ne.evaluate("y = concat(a, b)", a=A, b=B)
    assert caught.value.hint == "values in parts: z[n (a + b)] = x[n a], y[n b]"
