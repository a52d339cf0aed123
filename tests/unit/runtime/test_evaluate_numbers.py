"""Numbers of a formula are real numbers: integers exact, floats those of IEEE 754, whether they stand in the
text, are sizes, or operands. The truth is Python's own arithmetic.
"""

from __future__ import annotations

import math
import operator
import random
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from properties.hostile import fault_of

BITS = 4096
INTEGERS = [0, 1, 2, 3, 7, 10, 255, 2**31, 55_111, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**20, 2**100 + 1]
FLOATS = [0.5, 2.0, 1e-10, 3.75, 1e300, 2.0**70]
ONE = ("-", "abs", "sign", "square", "round", "sqrt")
TWO = ("+", "-", "*", "/", "//", "%", "**", "maximum", "minimum", "&", "|", "fmod")
COMPARED = {"<": operator.lt, "==": operator.eq, ">=": operator.ge}


class TooLarge(Exception):
    """An integer that is not computed, or has no float."""


def real(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        raise TooLarge from None


def quotient(x: float, y: float) -> float:
    """Return x / y as IEEE 754 has it."""
    if y:
        return x / y
    return math.nan if x == 0 or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1, y)


def of_floats(sign: str, x: float, y: float) -> float:
    if sign == "/":
        return quotient(x, y)
    if sign == "//":
        return x // y if y else quotient(x, y)
    if sign in ("%", "fmod"):
        if not y or math.isinf(x):
            return math.nan
        return x % y if sign == "%" else math.fmod(x, y)
    if sign == "**":
        with np.errstate(all="ignore"):
            return float(np.float64(x) ** np.float64(y))
    if sign in ("maximum", "minimum"):
        return math.nan if math.isnan(x) or math.isnan(y) else (max if sign == "maximum" else min)(x, y)
    return {"+": operator.add, "-": operator.sub, "*": operator.mul}[sign](x, y)


def of_integers(sign: str, x: int, y: int) -> Any:
    if max(x.bit_length(), y.bit_length()) > BITS:
        raise TooLarge
    if sign == "**":
        if y < 0:
            return of_floats("**", real(x), real(y))
        if abs(x) > 1 and (abs(x).bit_length() - 1) * y > BITS:
            raise TooLarge
        return x**y
    if sign == "/" and y:
        try:
            return x / y
        except OverflowError:
            raise TooLarge from None
    if sign in ("//", "%", "fmod", "/") and not y:
        return of_floats(sign, real(x), 0.0)
    if sign == "fmod":
        return int(math.copysign(1, x)) * (abs(x) % abs(y))
    plain = {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv}
    more = {"%": operator.mod, "&": operator.and_, "|": operator.or_, "maximum": max, "minimum": min}
    return (plain | more)[sign](x, y)


def of_two(sign: str, x: Any, y: Any) -> Any:
    are_integers = type(x) is int and type(y) is int
    return checked(of_integers(sign, x, y) if are_integers else of_floats(sign, real(x), real(y)))


def of_one(sign: str, x: Any) -> Any:
    if type(x) is int and x.bit_length() > BITS and sign != "sqrt":
        raise TooLarge
    if sign == "sqrt":
        return math.nan if real(x) < 0 or math.isnan(x) else math.sqrt(real(x))
    if sign == "sign":
        return x if type(x) is float and math.isnan(x) else type(x)((x > 0) - (x < 0))
    if sign == "round":
        return x if type(x) is int or not math.isfinite(x) else float(round(x))
    return checked({"-": operator.neg, "abs": abs, "square": lambda one: one * one}[sign](x))


def checked(made: Any) -> Any:
    if type(made) is int and made.bit_length() > BITS:
        raise TooLarge
    return made


def written(number: Any) -> str:
    """Return a number as text: no literal has more than 18 digits."""
    if type(number) is float or number < 10**18:
        return repr(number)
    return f"({written(number // 10**18)} * 10 ** 18 + {number % 10**18})"


class Formula:
    """A random formula of numbers; `leaves` are the numbers in the order of the text."""

    def __init__(self, rng: random.Random, depth: int) -> None:
        self.leaves: list[Any] = []
        self.template, self.compute = self._node(rng, depth)
        if rng.random() < 0.15:  # bools have an arithmetic of their own: none is computed with
            sign, left, (right, y) = rng.choice(list(COMPARED)), self.compute, self._node(rng, depth)
            self.template = f"{self.template} {sign} {right}"
            self.compute = lambda: COMPARED[sign](left(), y())

    def _node(self, rng: random.Random, depth: int) -> tuple[str, Any]:
        if depth == 0 or rng.random() < 0.15:
            return self._leaf(rng)
        if rng.random() < 0.1:
            parts = [self._node(rng, depth - 1) for _ in range(4)]
            text = "where({} < {}, {}, {})".format(*(text for text, _ in parts))

            def chosen() -> Any:
                a, b, x, y = (compute() for _, compute in parts)
                made = x if a < b else y
                return real(made) if float in (type(x), type(y)) else made

            return text, chosen
        if rng.random() < 0.25:
            sign = rng.choice(ONE)
            text, compute = self._node(rng, depth - 1)
            return f"({sign}({text}))", lambda: of_one(sign, compute())
        sign = rng.choice(TWO if depth > 1 or rng.random() < 0.8 else ("**", "//", "%"))
        (left, x), (right, y) = self._node(rng, depth - 1), self._node(rng, depth - 1)
        text = f"{sign}({left}, {right})" if sign.isalpha() else f"({left} {sign} {right})"
        return text, lambda: of_two(sign, x(), y())

    def _leaf(self, rng: random.Random) -> tuple[str, Any]:
        number = rng.choice(FLOATS) if rng.random() < 0.2 else rng.choice(INTEGERS)
        self.leaves.append(number)
        return f"@{len(self.leaves) - 1}@", lambda: number

    def text(self, names: dict[int, str]) -> str:
        text = self.template
        for place, number in enumerate(self.leaves):
            text = text.replace(f"@{place}@", names.get(place, written(number)))
        return text


def is_same(found: np.ndarray[Any, Any], expected: Any) -> bool:
    if isinstance(expected, bool):
        return found.dtype == bool and bool(found) is expected
    if type(expected) is int:
        fits = "int64" if -(2**63) <= expected < 2**63 else "uint64" if 0 < expected < 2**64 else ""
        return (found.dtype == fits and int(found) == expected) if fits else float(found) == float(expected)
    if math.isnan(expected):
        return bool(np.isnan(found))
    return found.dtype == np.float64 and math.isclose(found, expected, rel_tol=1e-14)  # powers may be rounded


def truth(formula: Formula) -> Any:
    """Return the value; None for floats that meet `&` or `|`."""
    try:
        made = formula.compute()
        if type(made) is int:
            real(made)
    except TooLarge:
        return TooLarge
    except KeyError:
        return None
    return made


def outcome(text: str, **given: Any) -> Any:
    found: list[Any] = []
    fault = fault_of(lambda: found.append(ne.evaluate(text, **given)))
    return found[0] if fault is None else fault.code


@pytest.mark.slow
def test_random_formulas_of_numbers_have_the_value_of_python_s_arithmetic() -> None:
    seen: dict[str, int] = {}
    for seed in range(700):
        rng = random.Random(seed)
        formula = Formula(rng, rng.choice((1, 2, 2, 3)))
        expected = truth(formula)
        if expected is None:
            continue
        sizes = {f"n{place}": n for place, n in enumerate(formula.leaves) if type(n) is int and n < 2**40}
        whole = {place: f"size[n{place}]" for place in range(len(formula.leaves)) if f"n{place}" in sizes}
        given = {f"k{place}": n for place, n in enumerate(formula.leaves)}
        ways = [
            outcome(formula.text({})),
            outcome(formula.text(whole), sizes=sizes),
            outcome(formula.text({place: f"k{place}" for place in range(len(formula.leaves))}), **given),
        ]
        for found in ways:
            kind = "refused" if expected is TooLarge else type(expected).__name__
            seen[kind] = seen.get(kind, 0) + 1
            if expected is TooLarge:
                assert found in ("NE524", "NE526"), (seed, formula.text({}), found)
            else:
                assert not isinstance(found, str) and is_same(found, expected), (
                    seed,
                    formula.text({}),
                    found,
                    expected,
                )
    assert min(seen[kind] for kind in ("int", "float", "bool", "refused")) > 40


def test_numbers_that_arrays_meet_are_exact() -> None:
    ones, whole = np.ones(2), np.array([1, 2**62])
    assert ne.evaluate("x[i] * 10 ** 20", x=ones).tolist() == [1e20, 1e20]
    assert ne.evaluate("x[i] / 2 ** 64", x=whole).tolist() == [2.0**-64, 0.25]
    for text in ("x[i] < 2 ** 64", "x[i] < k", "x[i] != 2 ** 64", "2 ** 64 > x[i]", "x[i] > -(2 ** 70)"):
        given = {"k": 2**64} if "k" in text else {}
        for x in (ones, whole, whole.astype("u8"), whole.astype("i1"), ones.astype("f2")):
            with np.errstate(over="ignore"):  # 2 ** 64 is infinite among halves
                assert ne.evaluate(text, x=x, **given).all(), (text, x.dtype)
    assert not ne.evaluate("x[i] == 2 ** 62 + 1", x=whole).any()
    assert ne.evaluate("sum[i](x[i] * k)", x=ones, k=2**70) == 2.0**71
    for n in (55_111, 10**6, 10**9):
        text = "n = size[i]; 1 / (n * (n - 1) * (n - 2) * (n - 3))"
        assert float(ne.evaluate(text, sizes={"i": n})) == 1 / (n * (n - 1) * (n - 2) * (n - 3))


def test_one_formula_of_many_sizes_keeps_none_of_their_numbers() -> None:
    formula = ne.compile("size[i] ** 4 + k * sum[i](x[i])")
    for n in (3, 70_000, 3, 80_000):
        assert float(formula(x=np.zeros(n), k=10**10)) == float(n**4)
        assert float(formula.bind(k=2)(x=np.ones(n))) == float(n**4 + 2 * n)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("large", [False, True])
def test_integers_hold_a_number_or_refuse_it_and_never_wrap(dtype: str, large: bool) -> None:
    info = np.iinfo(dtype)
    x = np.zeros(200_000 if large else 3, dtype)
    for text in (
        "where(x[i] == 0, {}, x)",
        "where(x[i] < 0, x, {})",
        "maximum(x[i], {})",
        "clip(x[i], {0}, {0})",
    ):
        for number in (info.min - 1, info.min, -1, info.max, info.max + 1, 2**70):
            is_held = info.min <= number <= info.max
            signed = f"({written(number)})" if number >= 0 else f"(-{written(-number)})"
            for found in (outcome(text.format(signed), x=x), outcome(text.format("k"), x=x, k=number)):
                if not is_held:
                    assert found == "NE526", (text, number)
                    continue
                assert found.dtype == x.dtype
                assert int(found[0]) == (max(0, number) if "maximum" in text else number), (text, number)


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("number", ["k ** m", "k // z", "k % z", "2 * k ** m", "pow(k, m)", "reciprocal(z)"])
def test_a_fraction_that_integers_give_is_never_cut_off(number: str, large: bool) -> None:
    """What meets arrays of integers has a dtype before the numbers are known."""
    x = np.arange(200_000 if large else 4)
    numbers = {
        name: value for name, value in {"k": 2, "m": -1, "z": 0}.items() if name in number.replace("pow", "")
    }
    expected = ne.evaluate(number, **numbers)
    for text in (
        "x[i] * ({})",
        "(x[i] + 1) * ({})",
        "max[i](x[i] * ({}))",
        "where(x[i] > 1, x, {})",
        "y[j=3] = {}",
    ):
        given = numbers if "j" in text else {"x": x, **numbers}
        assert outcome(text.format(number), **given) == "NE526", text
    for text in ("x[i] * ({})", "x[i] / ({})", "where(x[i] > 1, x, {})"):
        with np.errstate(all="ignore"):
            found = ne.evaluate(text.format(number), x=x + 0.0, **numbers)
            plain = {"*": x * expected, "/": x / expected, "w": np.where(x > 1, x, expected)}
        np.testing.assert_array_equal(found, plain[text[0] if text[0] == "w" else text[5]])
    whole = {**numbers, "m": 3, "z": 5}
    whole = {name: value for name, value in whole.items() if name in numbers}
    assert ne.evaluate(f"x[i] + ({number})", x=x, **whole).dtype == np.int64


def test_minus_zero_and_zero_are_two_numbers() -> None:
    assert ne.evaluate("a = 0.0; copysign(1, a) + 10 * copysign(1, -a)") == -9
    assert ne.evaluate("x[i] * 0.0 + copysign(x, -0.0)", x=np.ones(2)).tolist() == [-1, -1]


def test_plans_say_the_dtype_that_a_large_number_has() -> None:
    for number, dtype in (("2 ** 62", "int64"), ("2 ** 63", "uint64"), ("2 ** 64", "float64")):
        plan = ne.compile(f"y[i=3] = {number}").plan()
        assert plan.dtype == dtype
        assert ne.evaluate(f"y[i=3] = {number}").dtype == dtype


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex64"])
@pytest.mark.parametrize("zero", ["0", "0.0", "expm1(0)"])
def test_a_choice_of_zero_has_the_dtype_of_both(dtype: str, zero: str) -> None:
    x = np.ones(3, dtype)
    asked = np.array([True, False, True])
    wanted = np.where(asked, x, 0 if zero == "0" else 0.0)
    for text in (f"where(b[N], x[N], {zero})", f"where(b[N], x[N] * 1, {zero}) + 0"):
        got = ne.evaluate(text, b=asked, x=x)
        assert got.dtype == wanted.dtype and (got == wanted).all()
