"""Sizes as symbols: their expressions, their comparisons, and programs that are valid for all sizes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

from nameexpr.backends.numpy.codegen.statements import write
from nameexpr.backends.portable.target import PORTABLE
from nameexpr.backends.symbolic import hint_of, is_symbolic, named_sizes, size_statements
from nameexpr.runtime.expression import ExpressionEntry
from nameexpr.runtime.formula import FormulaEntry
from nameexpr.runtime.operands import OperandSpec


class Symbol:
    """A symbol with a value, as a library has them: it notes what was asked about it."""

    asked: ClassVar[list[str]] = []

    def __init__(self, value: int, text: str) -> None:
        self.value, self.text = value, text

    def __str__(self) -> str:
        return self.text

    def __int__(self) -> int:
        self.asked.append(f"int({self})")
        return self.value


def _calculated(name: str) -> Callable[[Any, Any], Symbol]:
    operate = getattr(operator, name)
    return lambda self, other: Symbol(operate(self.value, _value(other)), f"{name}({self}, {other})")


def _compared(name: str) -> Callable[[Any, Any], bool]:
    compare = getattr(operator, name)

    def ask(self: Symbol, other: Any) -> bool:
        self.asked.append(f"{name}({self}, {other})")
        return bool(compare(self.value, _value(other)))

    return ask


def _value(symbol: Any) -> Any:
    return symbol.value if isinstance(symbol, Symbol) else symbol


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(Symbol, f"__{_name}__", _calculated(_name))
    setattr(
        Symbol,
        f"__r{_name}__",
        lambda self, other, name=_name: _calculated(name)(Symbol(other, str(other)), self),
    )
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Symbol, f"__{_name}__", _compared(_name))


@pytest.fixture(autouse=True)
def _nothing_asked() -> None:
    Symbol.asked = []


def symbolic(*shapes: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """Return shapes of symbols: equal sizes are one."""
    return named_sizes([tuple(Symbol(size, f"s{size}") for size in shape) for shape in shapes], _value)


def test_source_has_the_value_of_its_expression() -> None:
    ((a, b),) = symbolic((7, 12))
    sums = (a + b, a - 1, 2 * a * b, (a + 1) * (b - 2), 100 - a, a - (b - a))
    for made in (*sums, b // 4, b % 5, a / b, b**0.5):
        assert eval(repr(made), {"n0_0": 7, "n0_1": 12}) == made.hint == made.actual.value
        assert eval(f"1000 / {made!r}", {"n0_0": 7, "n0_1": 12}) == 1000 / made.hint
    assert not Symbol.asked


def test_equal_expressions_are_equal_without_asking() -> None:
    ((a, b), (c,)) = symbolic((7, 12), (7,))
    assert a is c and a * b == a * b and len({a * b, c * b}) == 1
    assert not Symbol.asked
    assert a != b and a == 7
    assert Symbol.asked == ["eq(s7, s12)", "eq(s7, 7)"]


def test_the_value_is_never_read_silently() -> None:
    ((a,),) = symbolic((7,))
    for read in (int, float, range, "x".__mul__, [0].__mul__, [*range(9)].__getitem__, np.zeros):
        Symbol.asked = []
        read(a)  # type: ignore[operator]
        assert Symbol.asked == ["int(s7)"], read


def test_limits_are_compared_with_hints() -> None:
    ((a,),) = symbolic((7,))
    assert a < 1 << 60 and not a >= 1 << 60 and hint_of(a) == 7
    assert not Symbol.asked


def test_only_ints_are_known() -> None:
    assert not is_symbolic([(2, 3), ()])
    assert is_symbolic([(2, 3), (Symbol(2, "s"),)])


def test_sizes_are_read_where_they_are_named() -> None:
    assert write(size_statements(symbolic((7, 3), (3, 5))), str) == [
        "n0_0 = a0.shape[0]",
        "n0_1 = a0.shape[1]",
        "n1_1 = a1.shape[1]",
    ]


class PortableExpression(ExpressionEntry):
    """An expression for any library."""

    target = PORTABLE


class PortableFormula(FormulaEntry):
    """A formula for any library."""

    target = PORTABLE


EXPRESSIONS = {
    "a b, b c -> a c": [(3, 4), (4, 5)],
    "a b, b c, c d, d e -> a e": [(3, 4), (4, 5), (5, 6), (6, 7)],
    "q h d, k h d -> h q k": [(5, 3, 4), (6, 3, 4)],
    "a, b -> a b": [(3,), (4,)],
    "a b -> (b a)": [(3, 4)],
    "a a -> a": [(3, 3)],
    "a b, a b -> a": [(3, 4), (3, 4)],
    "a b -> b : max": [(3, 4)],
    "... a -> a ...": [(3, 4, 5)],
}
FORMULAS = {
    "d[i j] = sqrt(sum[D]((x[i D] - y[j D]) ** 2))": [(5, 7), (6, 7)],
    "m = mean[C](x[N C]); y[N C] = (x - m) / sqrt(var[C](x) + 1e-5) * g[C]": [(5, 6), (6,)],
    "y[N K] = softmax[K](sum[C](x[N C] * w[C K]) + b[K])": [(3, 4), (4, 5), (5,)],
}


@pytest.mark.parametrize("text", [*EXPRESSIONS, *FORMULAS])
def test_programs_for_symbols_are_those_for_numbers(text: str) -> None:
    """Only comparisons with 0 and 1 limit the sizes, and each shape has the value of its source."""
    entry = PortableExpression(text) if text in EXPRESSIONS else PortableFormula(text)
    shapes = {**EXPRESSIONS, **FORMULAS}[text]
    names = symbolic(*shapes)
    known = entry.compile([OperandSpec(shape) for shape in shapes])
    found = entry.compile([OperandSpec(shape) for shape in names])
    sizes = {repr(size): size.hint for shape in names for size in shape}
    assert eval(repr(found.shapes), sizes) == known.shapes
    assert [one.primitive for one in found.program.instructions] == [
        one.primitive for one in known.program.instructions
    ]
    limiting = [asked for asked in Symbol.asked if not asked.endswith((", 0)", ", 1)"))]
    assert {asked.partition("(")[0] for asked in limiting} <= {"eq"}
