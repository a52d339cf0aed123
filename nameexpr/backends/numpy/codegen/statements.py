"""Generated code as data until it is written: functions, arguments, and targets of results.

The spelling of a function and of a dtype is left to the writer: in full in the source for users, as a bound
name in the executed code.

>>> step = Assign("t0", numpy("matmul")("a0", "a1", out="t1"))
>>> write([step], str)
['t0 = np.matmul(a0, a1, out=t1)']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite, isnan
from typing import TYPE_CHECKING, TypeAlias

from nameexpr.compiler.ir.program import Note, Program
from nameexpr.ops import KERNELS
from nameexpr.records import field, record

if TYPE_CHECKING:
    from nameexpr.compiler.ir.program import Loop

_OWN = {*KERNELS, "as_array"}
"""Pointwise kernels that NumPy does not have."""


@record
class Callee:
    """A function of a module: `np`, or one of this package."""

    module: str
    name: str

    def __str__(self) -> str:
        """Return the function as written in the source for users."""
        return f"{self.module}.{self.name}"

    def __call__(self, *arguments: Value, **options: Value | None) -> Invocation:
        """Return a call; options that are None are left out."""
        return Invocation(self, arguments, options)


@record
class Dtype:
    """A dtype by its name."""

    name: str

    def __str__(self) -> str:
        """Return the dtype as written in the source for users."""
        return f'"{self.name}"'


@record
class Element:
    """A number with the dtype of the floats that it is combined with."""

    number: float
    dtype: str

    def __str__(self) -> str:
        """Return the number as written in the source for users."""
        return repr(self.number)


@record
class Invocation:
    """A call; strings among its arguments are written unchanged."""

    function: Value
    arguments: tuple[Value, ...]
    options: Mapping[str, Value | None]


@record
class Joined:
    """Values and text, written one after the other: parts and methods of arrays, conditional expressions."""

    parts: tuple[Value, ...]


Value: TypeAlias = str | Callee | Dtype | Element | Invocation | Joined


@record
class Assign:
    """A value that gets a name or is written into a part of an array; it is only computed if `target` is
    None.
    """

    target: str | Joined | None
    value: Value
    operator: str = "="


@record
class Delete:
    """Names that are deleted."""

    names: tuple[str, ...]


@record
class For:
    """A loop over a range."""

    variable: str
    extent: str
    body: Sequence[Statement]


@record
class Define:
    """A function inside the function."""

    name: str
    parameters: tuple[str, ...]
    body: Sequence[Statement]


@record
class Return:
    """The return statement: one value, or a tuple of several."""

    values: tuple[Value, ...]
    is_tuple: bool = False


Statement: TypeAlias = Assign | Define | Delete | For | Return
Spell: TypeAlias = Callable[[Callee | Dtype | Element], str]


def numpy(name: str) -> Callee:
    """Return a NumPy function."""
    return Callee("np", name)


def callee_of(kernel: str) -> Callee:
    """Return the function that computes a pointwise kernel.

    >>> str(callee_of("absolute")), str(callee_of("erf"))
    ('np.absolute', 'formulas.erf')
    """
    return Callee("formulas" if kernel in _OWN else "np", kernel)


def method(array: Value, name: str, *arguments: Value) -> Invocation:
    """Return a call of a method of an array."""
    return Invocation(Joined((array, f".{name}")), arguments, {})


def indexed(array: Value, index: str) -> Joined:
    """Return a part of an array."""
    return Joined((array, f"[{index}]"))


def either(value: Value, condition: str, otherwise: Value) -> Joined:
    """Return one value if a condition holds, else another."""
    return Joined((value, f" if {condition} else ", otherwise))


def listed(values: Sequence[Value]) -> Joined:
    """Return the list of these values."""
    separated = [part for value in values for part in (", ", value)]
    return Joined(("[", *separated[1:], "]"))


def quoted(word: str) -> str:
    """Return the pattern of an einsum, or another word, as source."""
    return f'"{word}"'


def literal(number: object) -> Value:
    """Return a number as source: its repr, except for numbers without a Python literal."""
    if isinstance(number, complex):
        return Invocation("complex", (literal(number.real), literal(number.imag)), {})
    if isinstance(number, float) and not isfinite(number):
        if isnan(number):
            return numpy("nan")
        return numpy("inf") if number > 0 else Joined(("-", numpy("inf")))
    return repr(number)


def value_name(value: int, count: int) -> str:
    """Return the name of a value in the source: operands are `a0`, `a1`, ..., the others `t0`, `t1`, ..."""
    return f"a{value}" if value < count else f"t{value - count}"


@record(frozen=False)
class Numbering:
    """The notes of the values inside loops so far, `v0`, `v1`, ..., and the numbers of the next part and
    loop.
    """

    notes: list[Note] = field(default_factory=list)
    parts: int = 0
    loops: int = 0

    def values(self, body: Program) -> list[str]:
        """Return names for the values of a body."""
        start = len(self.notes)
        self.notes += body.notes
        return [f"v{number}" for number in range(start, len(self.notes))]

    def skip(self, bodies: Iterable[Program]) -> None:
        """Number the values of bodies, and of the loops in them, that need no names."""
        for body in bodies:
            self.notes += body.notes
            for inner in body.instructions:
                self.skip(inner.loop.bodies if inner.loop is not None else ())


def local_names(one: Loop, names: Sequence[str], start: int) -> list[str]:
    """Return the names of the sources in a block: the parts are numbered from `start`."""
    numbers = iter(range(start, start + one.parts))
    cuts = zip(names, one.cuts, strict=True)
    return [name if axis is None else f"p{next(numbers)}" for name, (axis,) in cuts]


def delete(names: Iterable[str]) -> list[Statement]:
    """Return the statement that deletes these names, each once; nothing if there are none."""
    unique = tuple(dict.fromkeys(names))
    return [Delete(unique)] if unique else []


def nested(loops: Iterable[tuple[str, str]], body: list[Statement]) -> list[Statement]:
    """Return the body inside loops, given by index and range, the outermost first."""
    for index, extent in reversed(list(loops)):
        body = [For(index, extent, body)]
    return body


def text_of(value: Value, spell: Spell = str) -> str:
    """Return a value as source."""
    if isinstance(value, str):
        return value
    if isinstance(value, Invocation):
        listed = [text_of(argument, spell) for argument in value.arguments]
        if value.options:
            options = value.options.items()
            listed += [f"{key}={text_of(own, spell)}" for key, own in options if own is not None]
        return f"{text_of(value.function, spell)}({', '.join(listed)})"
    if isinstance(value, Callee | Dtype | Element):
        return spell(value)
    return "".join([text_of(part, spell) for part in value.parts])


def write(
    statements: Sequence[Statement], spell: Spell, comments: Mapping[str, str] | None = None, indent: str = ""
) -> list[str]:
    """Return the lines of statements.

    Parameters
    ----------
    statements : sequence
        The statements.
    spell : callable
        Returns the spelling of a function or a dtype.
    comments : mapping, optional
        For each name the comment after the lines that assign to it; for "return" the one after the last line.
    indent : str, optional
        The beginning of each line.
    """
    lines: list[str] = []
    for statement in statements:
        if isinstance(statement, For):
            lines.append(f"{indent}for {statement.variable} in range({statement.extent}):")
            lines += write(statement.body, spell, comments, indent + "    ")
            continue
        if isinstance(statement, Define):
            lines.append(f"{indent}def {statement.name}({', '.join(statement.parameters)}):")
            lines += write(statement.body, spell, None, indent + "    ")
            continue
        line = indent + _line(statement, spell)
        comment = comments.get(_result_of(statement)) if comments else None
        lines.append(f"{line}  # {comment}" if comment else line)
    return lines


def _line(statement: Assign | Delete | Return, spell: Spell) -> str:
    if isinstance(statement, Assign):
        line = text_of(statement.value, spell)
        target = statement.target
        return line if target is None else f"{text_of(target, spell)} {statement.operator} {line}"
    if isinstance(statement, Delete):
        return f"del {', '.join(statement.names)}"
    listed = ", ".join([text_of(value, spell) for value in statement.values])
    return f"return {listed}{',' if statement.is_tuple and len(statement.values) == 1 else ''}"


def _result_of(statement: Assign | Delete | Return) -> str:
    """Return the name that a statement assigns to; "return" for the last."""
    if isinstance(statement, Assign):
        return statement.target if isinstance(statement.target, str) and statement.operator == "=" else ""
    return "return" if isinstance(statement, Return) else ""
