"""What is proposed for functions that formulas do not have is run, and compared with those functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.analysis.rules.instead import ADVICE, BEFORE, SHOWN, WRITTEN, instead_of
from nameexpr.compiler.analysis.scope import read_scope
from nameexpr.ops import ALONG, FUNCTIONS, POINTWISE, REDUCTIONS
from nameexpr.syntax import ast, walk
from nameexpr.syntax.parser.formula import parse_formula

A = np.array([[0.5, -1.25, 2.0], [-0.75, 1.5, 7.25]])
B = np.array([[1.5, 0.5, 2.0], [0.25, 1.5, 3.5]])
C = np.array([[0.1, 0.9, 0.3], [0.2, 0.8, 0.7]])
HOLES = np.where(A == 2.0, np.nan, A)
ZERO = np.where(A == 2.0, 0.0, A)
ENDLESS = np.where(A == 2.0, np.inf, np.where(A == 0.5, -np.inf, A))
BITS, SHIFTS = np.array([[12, 10, 7], [1, 0, -5]]), np.array([[1, 2, 3], [0, 2, 1]])

POINT = "y[i j] = {}(a[i j])"
PAIR = "y[i j] = {}(a[i j], b[i j])"
THREE = "y[i j] = {}(a[i j], b[i j], c[i j])"
ALONG_J = "y[i j] = {}[j](a[i j])"
REDUCED = "y[i] = {}[j](a[i j])"
BOTH = "y[i] = {}[j](a[i j], b[i j])"


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x)
    found: np.ndarray = powers / powers.sum(-1, keepdims=True)
    return found


def erf(x: np.ndarray) -> np.ndarray:
    from math import erf

    return np.vectorize(erf)(x)


def elementwise(function: Callable[..., Any], *arrays: np.ndarray) -> np.ndarray:
    return np.vectorize(function)(*arrays)


def mean_square(x: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.mean(x**2, -1, keepdims=True)
    return found


Truth = tuple[str, dict[str, np.ndarray], Any]


def point(truth: Callable[[np.ndarray], Any], a: np.ndarray = A, form: str = POINT) -> Truth:
    return form, {"a": a}, truth(a)


def pair(
    truth: Callable[[np.ndarray, np.ndarray], Any], a: np.ndarray = A, b: np.ndarray = B, form: str = PAIR
) -> Truth:
    return form, {"a": a, "b": b}, truth(a, b)


def three(truth: Callable[..., Any], a: np.ndarray = A, b: np.ndarray = B) -> Truth:
    return THREE, {"a": a, "b": b, "c": C}, truth(a, b, C)


TRUTHS: dict[str, Truth] = {
    "rsqrt": point(lambda a: a**-0.5, B),
    "detach": point(lambda a: a, B),
    "cbrt": point(np.cbrt),
    "exp10": point(lambda a: np.power(10.0, a)),
    "deg2rad": point(np.deg2rad),
    "rad2deg": point(np.rad2deg),
    "rint": point(np.rint, A * 2),
    "frac": point(lambda a: np.modf(a)[0]),
    "sinc": point(np.sinc, ZERO),
    "sec": point(lambda a: np.cos(a) ** -1),
    "angle": point(np.angle, A + 1j * B),
    "logit": point(lambda a: np.log(a) - np.log1p(-a), C),
    "expit": point(lambda a: 1 / (1 + np.exp(-a))),
    "log_sigmoid": point(lambda a: -np.log1p(np.exp(-a))),
    "ndtr": point(lambda a: (1 + erf(a / np.sqrt(2))) / 2),
    "xlogy": pair(lambda a, b: np.where(a == 0, 0, a * np.log(np.where(a == 0, 1, b))), ZERO, B),
    "entr": point(lambda a: elementwise(lambda x: -x * np.log(x) if x else 0.0, a), np.abs(ZERO)),
    "leaky_relu": point(lambda a: np.maximum(a, 0) + 0.01 * np.minimum(a, 0)),
    "elu": point(lambda a: np.where(a > 0, a, np.exp(a) - 1)),
    "relu6": point(lambda a: np.minimum(np.maximum(a, 0), 6)),
    "hardtanh": point(lambda a: np.minimum(np.maximum(a, -1), 1)),
    "hardsigmoid": point(lambda a: np.minimum(np.maximum(a + 3, 0), 6) / 6),
    "hardswish": point(lambda a: a * np.minimum(np.maximum(a + 3, 0), 6) / 6),
    "mish": point(lambda a: a * np.tanh(np.log1p(np.exp(a)))),
    "softsign": point(lambda a: a / (np.abs(a) + 1)),
    "heaviside": pair(np.heaviside, ZERO, B),
    "lerp": three(lambda a, b, c: a * (1 - c) + b * c),
    "addcmul": three(lambda a, b, c: a + np.multiply(b, c)),
    "addcdiv": three(lambda a, b, c: a + np.divide(b, c)),
    "squared_difference": pair(lambda a, b: (a - b) ** 2),
    "fmax": pair(np.fmax, HOLES, B),
    "fmin": pair(np.fmin, B, HOLES),
    "clamp_min": pair(np.maximum),
    "clamp_max": pair(np.minimum),
    "masked_fill": three(lambda a, b, c: np.where(b, c, a), A, B > 1),
    "fillna": pair(lambda a, b: np.where(np.isnan(a), b, a), HOLES, B),
    "nan_to_num": point(np.nan_to_num, HOLES),
    "isna": point(np.isnan, HOLES),
    "notna": point(lambda a: np.logical_not(np.isnan(a)), HOLES),
    "isposinf": point(np.isposinf, ENDLESS),
    "isneginf": point(np.isneginf, ENDLESS),
    "isclose": pair(np.isclose, A, A + 1e-9),
    "allclose": pair(lambda a, b: [np.allclose(x, y) for x, y in zip(a, b, strict=True)], A, B, BOTH),
    "eq": pair(np.equal, A, ZERO),
    "ne": pair(np.not_equal, A, ZERO),
    "lt": pair(np.less),
    "le": pair(np.less_equal),
    "gt": pair(np.greater),
    "ge": pair(np.greater_equal),
    "sub": pair(np.subtract),
    "mul": pair(np.multiply),
    "div": pair(np.divide),
    "bitwise_not": point(np.bitwise_not, BITS),
    "bitwise_xor": pair(np.bitwise_xor, BITS, SHIFTS),
    "left_shift": pair(np.left_shift, BITS, SHIFTS),
    "right_shift": pair(np.right_shift, BITS, SHIFTS),
    "float": point(lambda a: a.astype(float), BITS),
    "long": point(lambda a: a.astype("int64")),
    "bool": point(lambda a: a.astype(bool), BITS),
    "zeros_like": point(np.zeros_like),
    "len": ("y = {}[j](a[i j]) + sum[i j](a[i j])", {"a": A}, 3 + A.sum()),
    "arange": ("y[i j] = a[i j] + {}[j](a[i j])", {"a": A}, A + np.arange(3)),
    "nansum": point(lambda a: np.nansum(a, -1), HOLES, REDUCED),
    "nanprod": point(lambda a: np.nanprod(a, -1), HOLES, REDUCED),
    "nanmean": point(lambda a: np.nanmean(a, -1), HOLES, REDUCED),
    "nanmax": point(lambda a: np.nanmax(a, -1), HOLES, REDUCED),
    "nanmin": point(lambda a: np.nanmin(a, -1), HOLES, REDUCED),
    "nanargmax": point(lambda a: np.nanargmax(a, -1), HOLES, REDUCED),
    "nanargmin": point(lambda a: np.nanargmin(a, -1), HOLES, REDUCED),
    "nancumsum": point(lambda a: np.nancumsum(a, -1), HOLES, ALONG_J),
    "nancumprod": point(lambda a: np.nancumprod(a, -1), HOLES, ALONG_J),
    "count": point(lambda a: [2, 3], HOLES, REDUCED),
    "ptp": point(lambda a: np.ptp(a, -1), A, REDUCED),
    "normalize": point(lambda a: a / np.linalg.norm(a, axis=-1, keepdims=True), A, ALONG_J),
    "softmin": point(lambda a: softmax(-a), A, ALONG_J),
    "logcumsumexp": point(lambda a: np.logaddexp.accumulate(a, -1), A, ALONG_J),
    "reverse": point(lambda a: a[:, ::-1], A, ALONG_J),
    "zscore": point(lambda a: (a - a.mean(-1, keepdims=True)) / a.std(-1, keepdims=True), A, ALONG_J),
    "layer_norm": point(
        lambda a: (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5), A, ALONG_J
    ),
    "rms_norm": point(lambda a: a / np.sqrt(mean_square(a) + 1e-6), A, ALONG_J),
    "mse": pair(lambda a, b: ((a - b) ** 2).mean(-1), form=BOTH),
    "mae": pair(lambda a, b: np.abs(a - b).mean(-1), form=BOTH),
    "cross_entropy": pair(lambda a, b: -(b * np.log(softmax(a))).sum(-1), form=BOTH),
    "cosine_similarity": pair(
        lambda a, b: (a * b).sum(-1) / np.sqrt((a**2).sum(-1) * (b**2).sum(-1)), form=BOTH
    ),
    "dist": pair(lambda a, b: np.linalg.norm(a - b, axis=-1), form=BOTH),
    "dot": pair(np.vecdot, form=BOTH),
}
"""For one of the names of each template: a formula that calls it, operands, and the values."""


def replaced(text: str) -> str:
    """Return a formula with its call of an unknown function as the hint writes it."""
    tree = parse_formula(text)
    call = next(
        node
        for node in walk.nodes(tree.statements[0].value)
        if isinstance(node, ast.Call | ast.CallAlong) and node.function in WRITTEN
    )
    hint = instead_of(tree, call)
    assert hint.startswith("write ")
    return text[: call.span.start] + f"({hint.removeprefix('write ')})" + text[call.span.end :]


@pytest.mark.parametrize("name", TRUTHS)
def test_what_a_formula_can_compute_is_what_the_function_gives(name: str) -> None:
    text, operands, truth = TRUTHS[name]
    found = ne.evaluate(replaced(text.format(name)), **operands)
    np.testing.assert_allclose(found, truth, rtol=1e-12)
    assert np.asarray(found).dtype.kind == np.asarray(truth).dtype.kind


def test_each_template_is_tried() -> None:
    assert {WRITTEN[name] for name in TRUTHS} == set(WRITTEN.values())


def test_no_name_is_in_two_tables_or_a_function() -> None:
    tables = [WRITTEN, BEFORE, SHOWN, ADVICE]
    names = [name for table in tables for name in table]
    assert len(names) == len(set(names)) >= 250
    assert not {*names} & {*POINTWISE, *REDUCTIONS, *ALONG}
    assert all(usage in {f"write {row.usage}" for row in (*FUNCTIONS.values(), *REDUCTIONS.values())}
               for name, usage in ADVICE.items() if usage.startswith("write "))  # fmt: skip


SQUARE = np.array([[2.0, 0.5, 0.0], [0.5, 3.0, 1.0], [0.0, 1.0, 4.0]])
LINE, PLACES = np.array([0.0, 1.0, 2.0]), np.array([0, 2, 1])
ARRAYS: dict[str, tuple[Any, ...]] = {
    "numpy.bincount(x)": (PLACES,),
    "numpy.interp(x, y, z)": (LINE, LINE, LINE),
    "numpy.convolve(x, y)": (LINE, LINE),
    "numpy.correlate(x, y)": (LINE, LINE),
    "numpy.searchsorted(x, y)": (LINE, LINE),
    "numpy.digitize(x, y)": (LINE, LINE),
    "numpy.gcd(x, y)": (PLACES, PLACES),
    "numpy.lcm(x, y)": (PLACES, PLACES),
}


@pytest.mark.parametrize("code", sorted(set(BEFORE.values())))
def test_what_is_to_be_computed_beforehand_can_be(code: str) -> None:
    given = dict(zip("xyz", ARRAYS.get(code, (SQUARE, SQUARE)), strict=False))
    assert eval(code, {"numpy": np, **given}) is not None


@pytest.mark.parametrize("statement", sorted({statement for _, statement in SHOWN.values()}))
def test_what_is_shown_runs(statement: str) -> None:
    operands = {}
    tree = parse_formula(statement)
    places = [place for term in walk.terms_in(tree) for place in walk.places(term)]
    positions = {node.name for place in places for node in walk.nodes(place) if isinstance(node, ast.Use)}
    for name, uses in read_scope(tree).uses.items():
        items = uses[0].term.items if uses[0].term is not None else ()
        shape = [4 if isinstance(item, ast.Group) else 2 for item in items]
        operands[name] = np.ones(shape, int if name in positions else float)
    assert np.size(ne.evaluate(statement, **operands)) > 0


def hint(text: str) -> str:
    with pytest.raises(ne.NameExprError) as caught:
        ne.evaluate(text)
    return caught.value.hint


def test_the_hint_is_written_in_the_names_of_the_text() -> None:
    assert hint("z[n] = nansum[d](w[n d] + v)") == "write sum[d](where(isnan(w[n d] + v), 0, w[n d] + v))"
    assert hint("z[n] = normalize(w[n d] - 1)") == "write (w[n d] - 1) / norm[d](w[n d] - 1)"
    assert hint("z[n d] = 2 * zscore(w[n d])") == "write (w[n d] - mean[d](w[n d])) / std[d](w[n d])"
    assert hint("z[i j] = inv(cov_[i j])").endswith(": numpy.linalg.inv(cov_)")
    assert hint("z[i j] = solve(a[i j], b[j] + 1)").endswith(": numpy.linalg.solve(a, y)")


@pytest.mark.parametrize("name", ["inv", "conv", "nanmean", "gather", "pad", "topk", "grad", "foo", "f2"])
def test_no_function_of_another_meaning_is_proposed(name: str) -> None:
    assert not re.search("did you mean", hint(f"y[i] = {name}(x[i])"))


@pytest.mark.parametrize(("name", "meant"), [("sqtr", "sqrt"), ("sofmax", "softmax"), ("sigmiod", "sigmoid")])
def test_a_misspelt_function_is_proposed(name: str, meant: str) -> None:
    assert hint(f"y[i] = {name}(x[i])") == f"did you mean '{meant}'?"


def test_a_product_is_proposed_for_what_may_be_an_array() -> None:
    assert "a product is written with *: W1 * (...)" in hint("y[i] = W1(x[i])")
    assert "product" not in hint("y[i] = gather(x[i])")
    assert hint("y[i] = model(model[i])") == "a product is written with *: model * (...)"
