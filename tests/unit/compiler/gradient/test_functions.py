"""The gradient of every function by every argument, compared with finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.gradient import rules
from nameexpr.ops import ALONG, FUNCTIONS, INTEGER, POINTWISE, REDUCTIONS, Function

STEP = 1e-6
LARGER = frozenset({"acosh"})
"""Functions that are defined from 1 on."""
SMALLER = frozenset({"acos", "asin", "atanh"})
"""Functions that are defined from -1 to 1."""
POSITIVE = frozenset({"log", "log2", "log10", "log1p", "sqrt", "pow", "**."})


def numbers(generator: np.random.Generator, shape: tuple[int, ...], function: str, dtype: str) -> np.ndarray:
    """Return operands away from kinks, all of them different."""
    values = generator.permutation(np.prod(shape)) * 0.17 + generator.uniform(0.02, 0.1, np.prod(shape)) + 0.2
    if function in LARGER:
        values += 1
    elif function in SMALLER:
        values = values / (values.max() + 0.1) - 0.4
    elif function not in POSITIVE:
        values -= values.mean() + 0.013
    made = values.reshape(shape).astype(dtype)
    if np.iscomplexobj(made):
        made = made + 1j * generator.uniform(0.1, 0.5, shape)
    return made


def differences(text: str, given: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Return the gradient of the value `y` of a text by an operand, from differences."""
    found = np.zeros_like(given[name])
    steps = [(STEP, 1.0), (STEP * 1j, 1j)] if np.iscomplexobj(found) else [(STEP, 1.0)]
    for place in np.ndindex(found.shape):
        for step, unit in steps:
            values = []
            for sign in (1, -1):
                changed = given[name].copy()
                changed[place] += sign * step
                values.append(ne.evaluate(text, **{**given, name: changed}))
            found[place] += unit * (values[0] - values[1]) / (2 * STEP)
    return found


def check(text: str, given: dict[str, np.ndarray], use: str, tolerance: float = 2e-7) -> None:
    """Compare `grad(y, use)` with finite differences."""
    gradient = ne.evaluate(f"{text}; grad(y, {use})", **given)
    name = use.partition("[")[0]
    wanted = differences(text, given, name)
    assert gradient.shape == given[name].shape
    assert gradient.dtype == given[name].dtype
    np.testing.assert_allclose(
        gradient, wanted, rtol=tolerance, atol=tolerance * max(1, np.abs(wanted).max())
    )


def called(name: str, arguments: list[str]) -> str:
    if name in POINTWISE:
        return f"{name}({', '.join(arguments)})"
    sign = name.strip(".")
    return f"{sign}({arguments[0]})" if name.startswith(".") else f"({arguments[0]} {sign} {arguments[1]})"


def rows(dtype: str) -> list[tuple[str, int]]:
    """Return the functions that a gradient goes through, with the numbers of these arguments."""
    found = []
    for name, row in FUNCTIONS.items():
        if ("c" if dtype == "complex128" else "f") not in row.takes or name == INTEGER:
            continue
        texts = rules.POINTWISE.get(name, ("",) + ("g",) * (row.arity - 1) if name == "where" else ("g",))
        if dtype == "complex128" and name in rules.COMPLEX:
            texts = rules.COMPLEX[name]
        found += [(name, place) for place, text in enumerate(texts) if text]
    return [one for one in found if one[0] not in UNORDERED or dtype != "complex128"]


UNORDERED = frozenset({"maximum", "minimum", "clip"})
"""Functions of complex numbers that compare them by their real parts first, with jumps at the imaginary."""
TERMS = ["a[N C]", "b[C]", "c[N C]"]


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("is_wide", [False, True])
def test_pointwise_functions(dtype: str, is_wide: bool) -> None:
    """An argument with fewer dims is repeated: its gradient is a sum."""
    generator = np.random.default_rng(7)
    for name, place in rows(dtype):
        row = FUNCTIONS[name]
        if name == "imag" and dtype == "float64":
            continue
        shapes = [(3, 2), (2,), (3, 2)] if is_wide else [(3, 2)] * 3
        terms = TERMS if is_wide else ["a[N C]", "b[N C]", "c[N C]"]
        given = {
            one: numbers(generator, shape, name, dtype) for one, shape in zip("abc", shapes, strict=True)
        }
        given = {one: given[one] for one in "abc"[: row.arity]}
        weights = generator.uniform(0.5, 1.5, (3, 2)).astype(dtype) * (
            1 + 0.3j if dtype == "complex128" else 1
        )
        value = called(name, terms[: row.arity])
        text = f"y = sum[N C](real(v[N C] * {value}))"
        if name == "where":
            given["a"] = given["a"].real > 0
        check(text, {**given, "v": weights}, terms[place])


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, dtype: str) -> None:
    rule = rules.REDUCTIONS.get(name, "g")
    if not rule or (dtype == "complex128" and name in {"logsumexp", "max", "min"}):
        return
    generator = np.random.default_rng(8)
    x = numbers(generator, (4, 3), name, dtype)
    v = numbers(generator, (3,), name, dtype)
    check(f"y = sum[C](real(v[C] * {name}[N](x[N C])))", {"x": x, "v": v}, "x[N C]")
    check(f"y = real({name}[N C](x[N C] * v[C]))", {"x": x, "v": v}, "x[N C]")
    check(f"y = real({name}[N C](x[N C] * v[C]))", {"x": x, "v": v}, "v[C]")


@pytest.mark.parametrize("name", [*filter(rules.ALONG.get, rules.ALONG), *sorted(rules.SORTED)])
def test_functions_along_dims(name: str) -> None:
    generator = np.random.default_rng(9)
    x, v = numbers(generator, (4, 3), name, "float64"), generator.normal(size=(4, 3))
    check(f"y = sum[N C](v[N C] * {name}[N](x[N C]))", {"x": x, "v": v}, "x[N C]")
    check(f"y = sum[N C]({name}[N](x[N C]) ** 2)", {"x": x}, "x[N C]")
    check(f"y = sum[N C]({name}[N](x[N C]) * 3)", {"x": x}, "x[N C]")


def test_every_function_has_a_rule_or_is_refused() -> None:
    """A new row of `nameexpr.ops` needs a rule."""
    ruled = {*rules.POINTWISE, "where", "imag"}
    assert ruled == set(FUNCTIONS)
    assert {*rules.REDUCTIONS, "sum", "mean"} == set(REDUCTIONS)
    assert {*rules.ALONG, *rules.SORTED} == set(ALONG)
    assert all(len(texts) in {0, FUNCTIONS[name].arity} for name, texts in rules.POINTWISE.items())


def test_functions_that_only_jump_have_no_gradient() -> None:
    x = np.array([0.4, 1.7])
    row: Function
    for name, row in POINTWISE.items():
        if rules.POINTWISE.get(name) == rules.NONE and row.arity == 1 and "f" in row.takes:
            with pytest.raises(ne.NameExprError, match=f"only through {name}"):
                ne.evaluate(f"y = sum[N]({name}(x[N])); grad(y, x)", x=x)


def test_real_numbers_to_complex_powers() -> None:
    """The derivative by the exponent needs the logarithm of negative numbers, which is complex."""
    given = {"a": np.array([-1.5, 2.0, -0.25]), "b": np.array([0.3 + 0.5j, -1j, 2 + 1j])}
    for value in ("a[N] ** b[N]", "pow(a[N], b[N])"):
        check(f"y = sum[N](real({value}))", given, "b[N]")
        check(f"y = sum[N](imag({value}))", given, "a[N]")


@pytest.mark.parametrize("value", ["mean[i](z[i] * s)", "sum[i](z[i] * s * s)"])
def test_narrow_floats_are_added_up_in_the_dtype_of_the_sum(value: str) -> None:
    z = np.random.default_rng(3).uniform(1, 2, 1000).astype("float32")
    given = {"z": z, "s": np.array(3.0)}
    found = ne.evaluate(f"y = {value}; grad(y, s)", **given)
    wanted = ne.evaluate(f"y = {value}; grad(y, s)", **{**given, "z": z.astype("float64")})
    assert found.dtype == "float64"
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


@pytest.mark.parametrize(
    "value", ["mean[i](z[i] * s)", "mean[i](sin(z[i] * s))", "sum[i](z[i] * s) / size[i]"]
)
def test_the_gradient_of_a_mean_of_no_elements_is_a_sum_of_none(value: str) -> None:
    text = f"y = {value}; d_s = grad(y, s)"
    with np.errstate(invalid="ignore", divide="ignore"):
        assert ne.evaluate(text, z=np.ones(0), s=2.0) == 0
        assert ne.evaluate(ne.compile(text).expanded(), z=np.ones(0), s=2.0) == 0
