"""Sizes that are known only as symbols, while a library traces a function for operands of many sizes.

A `Size` takes the place of an int in the shapes that the compiler works on, so that the same stages make
programs for symbolic shapes. Its repr is an expression of the sizes of operands, and source that contains it
is valid for all of them:

>>> str((Size(6, "n0_0", 6), 3))
'(n0_0, 3)'
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from nameexpr.backends.dispatch import number_type
from nameexpr.backends.numpy.codegen.statements import Assign

if TYPE_CHECKING:
    Int = int
else:
    Int = object  # not int: C code reads the value of an int without asking for it

Shape = tuple[Any, ...]
HUGE = 1 << 50
"""More than any size: limits are compared with hints."""


class Size(Int):
    """A size as an expression of the sizes of operands, or a number that is computed from sizes.

    Arithmetic of sizes and numbers is symbolic. Comparisons are decided by `actual`: PyTorch
    records them as conditions of its graph, and JAX raises an error if the answer depends on the value.
    Conversions to a number (`int`, `float`, `range`, an index) ask `actual` for it, which PyTorch records,
    too.

    Attributes
    ----------
    hint : int
        A likely value, for choosing among ways that are all correct.
    source : str
        The expression, in the names of sizes of operands (`bound_sizes`).
    actual : object
        The symbol of the library.
    """

    __slots__ = ("_is_name", "actual", "hint", "source")

    hint: int
    source: str
    actual: Any
    _is_name: bool

    def __new__(cls, hint: int, source: str, actual: Any, *, is_name: bool = True) -> Size:
        """Return a size."""
        size: Any = object.__new__(cls)
        size.hint, size.source, size.actual, size._is_name = hint, source, actual, is_name
        return size  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        """Return the source, in parentheses unless it is a name: it may become an operand of an operator."""
        return self.source if self._is_name else f"({self.source})"

    def __hash__(self) -> int:
        """Return the hash of the expression, which no number has."""
        return hash(("size", str(self.actual)))

    def __eq__(self, other: object) -> bool:
        """Return whether the sizes are equal: the same expression, or so for the library."""
        if isinstance(other, Size) and str(self.actual) == str(other.actual):
            return True
        return bool(self.actual == actual_of(other)) if isinstance(other, int | Size) else NotImplemented

    def __bool__(self) -> bool:
        """Return whether it is not 0."""
        return bool(self.actual != 0)

    def __index__(self) -> int:
        """Return the number that the library chooses."""
        return int(self.actual)

    __int__ = __index__

    def __float__(self) -> float:
        """Return the number that the library chooses."""
        return float(self.actual if isinstance(self.hint, float) else int(self.actual))

    @property
    def scalar(self) -> int:
        """The size as a number to compute with: the number that the library chooses, unless its symbols are
        numbers, as those of PyTorch are.
        """
        return self if number_type(self.actual) is not None else int(self)

    @property
    def real(self) -> Size:
        """The size."""
        return self

    def __abs__(self) -> int:
        """Return a number to sort by."""
        return self.hint

    def __reduce__(self) -> NoReturn:
        raise TypeError("a symbolic size cannot be pickled")


def _arithmetic(sign: str, operate: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """Return the methods of an operator, for a size on its left and on its right."""

    def calculate(left: Any, right: Any) -> Any:
        if not (isinstance(left, int | float | Size) and isinstance(right, int | float | Size)):
            return NotImplemented
        actual = operate(actual_of(left), actual_of(right))
        if str(actual).lstrip("-").isdigit():  # the same for all sizes
            return int(actual)
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Size) and str(one.actual) == str(actual) and not isinstance(other, Size):
                return one  # times 1, plus 0
        source = f"{left!r} {sign} {right!r}"
        return Size(operate(hint_of(left), hint_of(right)), source, actual, is_name=False)

    return calculate, lambda self, other: calculate(other, self)


def _comparison(compare: Callable[[Any, Any], bool]) -> Any:
    def decide(left: Size, right: Any) -> bool:
        if not isinstance(right, int | float | Size):
            return NotImplemented  # type: ignore[no-any-return]
        if not isinstance(right, Size) and abs(right) >= HUGE:
            return bool(compare(left.hint, right))
        return bool(compare(left.actual, actual_of(right)))

    return decide


_SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**"}
for _name, _sign in _SIGNS.items():
    _methods = _arithmetic(_sign, getattr(operator, _name))
    setattr(Size, f"__{_name}__", _methods[0])
    setattr(Size, f"__r{_name}__", _methods[1])
for _name in ("lt", "le", "gt", "ge"):
    setattr(Size, f"__{_name}__", _comparison(getattr(operator, _name)))


def actual_of(value: Any) -> Any:
    """Return the symbol of a size; anything else unchanged."""
    return value.actual if isinstance(value, Size) else value


def hint_of(value: Any) -> Any:
    """Return a likely value of a size; anything else unchanged."""
    return value.hint if isinstance(value, Size) else value


def is_symbolic(shapes: Sequence[Shape]) -> bool:
    """Return whether a size in these shapes is not an int."""
    return any(type(size) is not int for shape in shapes for size in shape)


def named_sizes(shapes: Sequence[Shape], hint: Callable[[Any], int]) -> list[Shape]:
    """Return the shapes of operands with a `Size` for each symbol: `n1_0` is the size of dim 0 of operand 1.

    Sizes that are the same expression are one `Size`. `hint` returns a likely value of a symbol.
    """
    known: dict[str, Size] = {}

    def named(size: Any, name: str) -> Any:
        if type(size) is int:
            return size
        return known.setdefault(str(size), Size(hint(size), name, size))

    return [
        tuple([named(size, f"n{number}_{axis}") for axis, size in enumerate(shape)])
        for number, shape in enumerate(shapes)
    ]


def size_statements(shapes: Sequence[Shape]) -> list[Assign]:
    """Return the statements that read the sizes with names from operands `a0`, `a1`, ...

    >>> from nameexpr.backends.numpy.codegen.statements import write
    >>> write(size_statements([(3, Size(6, "n0_1", 6))]), str)
    ['n0_1 = a0.shape[1]']
    """
    return [
        Assign(size.source, f"a{number}.shape[{axis}]")
        for number, shape in enumerate(shapes)
        for axis, size in enumerate(shape)
        if isinstance(size, Size) and size.source == f"n{number}_{axis}"
    ]
