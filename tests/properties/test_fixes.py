"""What an error's help says mends the formula: the mended text runs, and gives what was meant."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import nameexpr as ne
from nameexpr.syntax.faults.indices import written
from nameexpr.syntax.faults.recurrences import recurrence
from nameexpr.syntax.parser.formula import parse_formula

X = np.arange(6.0).reshape(2, 3) + 1
W = np.arange(12.0).reshape(3, 4) - 2
V = np.array([0.5, 1.5, 2.5])
ORDER = np.array([2, 0])
ALL: dict[str, Any] = {"x": X, "w": W, "v": V, "i": ORDER}

# wrong, words of the help, mended by doing what it says, what was meant
FIXES: list[tuple[str, str, str, Any]] = [
    ("y[N K] = x[N C] * w[C K]", "sum[C](...)", "y[N K] = sum[C](x[N C] * w[C K])", X @ W),
    ("y = sum(x[N C])", "sum[N C](...)", "y = sum[N C](x[N C])", X.sum()),
    ("y = sum(x[N C], axis=1)", "sum[C](x)", "y = sum[C](x[N C])", X.sum(1)),
    ("y = mean[1](x[N C])", "mean[C](x)", "y = mean[C](x[N C])", X.mean(1)),
    ("y = sqtr(x[N C])", "'sqrt'", "y = sqrt(x[N C])", np.sqrt(X)),
    ("y = np.sqrt(x[N C])", "sqrt(x)", "y = sqrt(x[N C])", np.sqrt(X)),
    ("y = arctan2(x[N C], v[C])", "atan2(y, x)", "y = atan2(x[N C], v[C])", np.arctan2(X, V)),
    ("y = x[N C]^2", "**", "y = x[N C]**2", X**2),
    ("y = x[N C] × 2", "*", "y = x[N C] * 2", X * 2),
    ("y = x[N C]²", "** 2", "y = x[N C]** 2", X**2),
    ("y = 2 x[N C]", "*", "y = 2 * x[N C]", 2 * X),
    ("y = 2x[N C]", "2 * x", "y = 2 * x[N C]", 2 * X),
    ("y = x[N, C]", "x[N C], not x[N, C]", "y = x[N C]", X),
    ("y = 1 < x[N C] < 3", "(a < b) & (b < c)", "y = (1 < x[N C]) & (x < 3)", (X > 1) & (X < 3)),
    ("y = x[N C] > 1 & x < 3", "(a > 0) & (a < 1)", "y = (x[N C] > 1) & (x < 3)", (X > 1) & (X < 3)),
    ("y = x[N C] > 1 and v[C] > 1", "&, with parentheses around each side", "y = (x[N C] > 1) & (v[C] > 1)",
     (X > 1) & (V > 1)),
    ("y = not x[N C] > 1", "~", "y = ~(x[N C] > 1)", X <= 1),
    ("y = x[N C] if x > 1 else 0", "where(c, x, y)", "y = where(x[N C] > 1, x, 0)", np.where(X > 1, X, 0)),
    ("y = max(x[N C], v[C])", "maximum(x, y)", "y = maximum(x[N C], v[C])", np.maximum(X, V)),
    ("y = matmul(x[N C], w[C K])", "sum[k](a[i k] * b[k j])", "y = sum[C](x[N C] * w[C K])", X @ W),
    ("y = x[N C] @ w[C K]", "sum[k](a[i k] * b[k j])", "y = sum[C](x[N C] * w[C K])", X @ W),
    ("y = transpose(x[N C])", "y[j i] = x[i j]", "y[C N] = x[N C]", X.T),
    ("y = where(x[N C] = 1, 2, 3)", "==", "y = where(x[N C] == 1, 2, 3)", np.where(X == 1, 2, 3)),
    ("y = x[N C] / size(C)", "size[C]", "y = x[N C] / size[C]", X / 3),
    ("y = (x[N C] + 1", "add the )", "y = (x[N C] + 1)", X + 1),
    ("y = x[N C]\n  + 1", "parentheses", "y = (x[N C]\n  + 1)", X + 1),
    ("y = x[N C]; y = y + 1", "y2", "y = x[N C]; y2 = y + 1", X + 1),
    ("y = z + 1; z = x[N C]", "put its statement first", "z = x[N C]; y = z + 1", X + 1),
    ("y = x + 1", "x[i j]", "y = x[i j] + 1", X + 1),
    ("y = X[N C] + 1", "'x'", "y = x[N C] + 1", X + 1),
    ("y[N K] = v[N]", "K=3", "y[N K=3] = v[N]", np.repeat(V[:, None], 3, 1)),
    ("y = x[N C] + 1; z = y[A B]", "y[...] = ", "y[N C] = x[N C] + 1; z = y[A B]", X + 1),
    ("y[i i] = v[i]; z = y + 1", "y[i j]", "y[i i] = v[i]; z = y[i j] + 1", np.diag(V) + 1),
    ("y = cumsum[N C](x[N C])", "cumsum[C](x)", "y = cumsum[N](cumsum[C](x[N C]))", X.cumsum(0).cumsum(1)),
    ("y = sum[(N C)](x[N C])", "sum[C H](x)", "y = sum[N C](x[N C])", X.sum()),
    ("y = ~x[N C]", "x != 0", "y = ~(x[N C] != 0)", X == 0),
    ("y = x[N c+1]", "x[N _@(c+1)]", "y = x[N _@(c+1)]", X[:, 1:]),
    ("y = x[N C=2*c]", "x[N C@(2*c)]", "y = x[N C@(2*c)]", X[:, ::2]),
    ("y = x[N C@c+1]", "x[N C@(c+1)]", "y = x[N C@(c+1)]", X[:, 1:]),
    ("y = x[N, 1:]", "x[N (1 + T)]", "y = x[N (1 + T)]", X[:, 1:]),
    ("y = x[:-1, 1:2]", "x[(T + 1) (1 + U=1 + _)]", "y = x[(T + 1) (1 + U=1 + _)]", X[:-1, 1:2]),
    ("y = x[N C=:2]", "x[N (C=2 + _)]", "y = x[N (C=2 + _)]", X[:, :2]),
    ("y = x[N -2:]", "x[N (_ + T=2)]", "y = x[N (_ + T=2)]", X[:, -2:]),
    ("y = x[N -3:-1]", "x[N (_ + T=2 + 1)]", "y = x[N (_ + T=2 + 1)]", X[:, -3:-1]),
    ("y = x[N 1::2]", "x[N _@(2*t+1)]", "y = x[N _@(2*t+1)]", X[:, 1::2]),
    ("y = x[N ::-1]", "x[N T@(size[T]-1-t)]", "y = x[N T@(size[T]-1-t)]", X[:, ::-1]),
    ("y = x[..., -1]", "x[... C@(size[C]-1)]", "y = x[... C@(size[C]-1)]", X[:, -1]),
    ("y = x[N size[C]-1]", "x[N C@(size[C]-1)]", "y = x[N C@(size[C]-1)]", X[:, -1]),
    ("y = x[N i[k]]", "x[N _@i[k]]", "y = x[N _@i[k]]", X[:, ORDER]),
    ("y = x[N C=i[k]]", "x[N C@i[k]]", "y = x[N C@i[k]]", X[:, ORDER]),
    ("y = x[N C@-1]", "x[N C@(size[C]-1)]", "y = x[N C@(size[C]-1)]", X[:, -1]),
]  # fmt: skip


def given(text: str) -> dict[str, Any]:
    return {name: value for name, value in ALL.items() if f"{name}[" in text or f"= {name} " in text}


@pytest.mark.parametrize(("wrong", "words", "mended", "meant"), FIXES, ids=[fix[0] for fix in FIXES])
def test_doing_what_the_help_says_mends_the_formula(wrong: str, words: str, mended: str, meant: Any) -> None:
    with pytest.raises(ne.NameExprError) as caught:
        ne.evaluate(wrong, **(given(wrong) or given(mended)))
    assert words in caught.value.hint, str(caught.value)
    assert_allclose(ne.evaluate(mended, **given(mended)), meant)


TERMS = [
    *("x[N, t-1]", "x[a + b]", "x[h+dh, w+dw]", "x[2*t+d C]", "x[(t - 1)]", "x[T//2]", "x[i*2 + 1]"),
    *("x[T%2]", "x[C@ -1 D]", "x[1:]", "x[:]", "x[:, :, 0]", "x[::2]", "x[3:7]", "x[-4:-2]", "x[2:1]"),
    *("x[t:t+3]", "x[N=0:]", "x[1:3:1]", "x[T T=1:]", "x[a[b[i]]]", "x[ids[i], j]", "x[N... t+1]"),
    *("x[N C=ids[i]+1]", "x[size[C]-1-c]", "x[batch=N -1]", "x[-t]", "x[t'-1]"),
]  # fmt: skip


@pytest.mark.parametrize("text", TERMS)
def test_what_is_written_instead_of_an_index_parses(text: str) -> None:
    found = written(text)
    assert found is not None
    assert found.use
    parse_formula(found.use)
    with pytest.raises(ne.NameExprError) as caught:
        parse_formula(text)
    assert caught.value.hint == found.hint


@pytest.mark.parametrize(
    "text", ["x[N C]", "x[(h w) C=3]", "x[N", "x[C@i[N]]", "x[N i [j]]", "x[5:0:-1]", "x[-3:2]", "x[x > 0]"]
)
def test_nothing_is_written_instead_of_what_is_right_or_has_no_form(text: str) -> None:
    found = written(text)
    assert found is None or not found.use


@pytest.mark.parametrize(
    ("wrong", "mended"),
    [
        ("N h+dh, dh -> N h", "N _@(h+dh), dh -> N h"),
        ("N H=2*h+dh, dh -> N h", "N H@(2*h+dh), dh -> N h"),
        ("N H@h+dh, dh -> N h", "N H@(h+dh), dh -> N h"),
    ],
)
def test_doing_what_the_help_says_mends_the_expression(wrong: str, mended: str) -> None:
    kernel = np.array([1.0, 10.0])
    with pytest.raises(ne.NameExprError) as caught:
        ne.einsum(wrong, X, kernel)
    assert mended.partition(",")[0] in caught.value.hint, str(caught.value)
    stride = 2 if "2*" in mended else 1
    meant = X[:, :-1:stride] + 10 * X[:, 1::stride]
    assert_allclose(ne.einsum(mended, X, kernel), meant)


RUNNING = "h[(1 + c)] = 0, h[_@c] + v[c]"


@pytest.mark.parametrize(
    ("wrong", "mended", "meant"),
    [
        ("h[c] = h[c-1] + v[c]", RUNNING, [0, 0.5, 2, 4.5]),
        ("h[c+1] = h[c] + v[c]", RUNNING, [0, 0.5, 2, 4.5]),
        ("h[c] = h[c] + v[c]", RUNNING, [0, 0.5, 2, 4.5]),
        ("h[c] = h[_@(c-1)] + v[c]", RUNNING, [0, 0.5, 2, 4.5]),
        ("h[(1 + c)] = 0, h[c-1] + v[c]", RUNNING, [0, 0.5, 2, 4.5]),
        ("h[c] = h[_@(c-2)] + v[c]", "h[(2 + c)] = 0, h[_@c] + v[c]", [0, 0, 0.5, 1.5, 3]),
        (
            "h[N c] = h[N c-1] + h[N c-2] + x[N c]",
            "h[N (2 + c)] = 0, h[N _@(c+1)] + h[N _@c] + x[N c]",
            [[0, 0, 1, 3, 7], [0, 0, 4, 9, 19]],
        ),
    ],
)
def test_a_statement_that_reads_its_earlier_cells_is_given_a_start(
    wrong: str, mended: str, meant: Any
) -> None:
    with pytest.raises(ne.NameExprError) as caught:
        ne.evaluate(wrong, **given(wrong))
    assert caught.value.hint.partition(": ")[2] == mended
    assert_allclose(ne.evaluate(mended, **given(mended)), meant)


@pytest.mark.parametrize(
    "text", ["y[t] = x[t-1]", "h[t] = h[t+1]", "y[i j] = y[i-1 j] + y[i j-1]", "hh[t] = h[t-1]", "h = h[t-1]"]
)
def test_what_is_no_recurrence_is_not_given_a_start(text: str) -> None:
    assert not recurrence(text)


ITEMS = [
    *(
        "N",
        "t-1",
        "t + 1",
        "2*h+d",
        ":",
        "1:",
        ":-1",
        "1:3",
        "::2",
        "-1",
        "0",
        "ids[i]",
        "V=ids[B T]",
        "C=c+1",
        "(t-1)",
    ),
    *(
        "...",
        "b...",
        "_",
        "C=3",
        "(h w)",
        "C@-1",
        "T@t+1",
        "a[b[i]]",
        "size[C]-1",
        "-3:-1",
        "::-1",
        "t:t+3",
        "N=1:",
    ),
    *(
        "x > 0",
        "i*2",
        "t//2",
        "T'=t-1",
        "h[t-1]",
        "-t",
        "(a + b)",
        "_@(t+1)",
        "C@i[N]",
        "1::2",
        ":5:2",
        "t -1",
    ),
]
VALUES = [
    "h[t-1]",
    "h[t-2]",
    "h[t - 1]",
    "h[T=t-1]",
    "h[_@(t-1)]",
    "h[t]",
    "x[t]",
    "x[t-1]",
    "tanh(h[t-1])",
    "x[1:]",
]


def test_whatever_is_written_instead_of_indices_parses() -> None:
    rng, count = random.Random(0), 0
    for _ in range(4000):
        text = f"x[{rng.choice([' ', ', ', ',']).join(rng.choices(ITEMS, k=rng.randrange(1, 4)))}]"
        found = written(text)
        if found is not None and found.use:
            parse_formula(found.use)
            count += 1
    assert count > 2000


def test_whatever_recurrence_is_written_parses() -> None:
    rng, count = random.Random(0), 0
    for _ in range(4000):
        left = rng.choice(["h[t]", "h[t+1]", "h[t D]", "h[(1 + t)]", "h[D t]", "h[t+2]"])
        found = recurrence(f"{left} = {' + '.join(rng.choices(VALUES, k=rng.randrange(1, 4)))}")
        if found:
            parse_formula(found)
            count += 1
    assert count > 2000
