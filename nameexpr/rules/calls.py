"""How an error shows the call that it is about: verb, arguments, and the tensors with names and sizes.

>>> from nameexpr.dims import Dim
>>> call = ShownCall("rename", ("A", "A"), ((Dim("N", 2), Dim("C", 3)),))
>>> print(fault("NE411", "'A' stands twice", call, (0, 1)))
DimNameError[NE411]: 'A' stands twice
  rename('A', 'A')
         ^^^  ^^^
  operand 0  (N=2, C=3)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from reprlib import Repr
from typing import NamedTuple

from nameexpr.dims import Dims, names_of, shape_of
from nameexpr.errors import Diagnostic, Mark, NameExprError, OperandInfo, Span, error


class _Short(Repr):
    """Values as source text: of `...` and slices as in an index, of a type by its name."""

    def repr_ellipsis(self, x: object, level: int) -> str:
        return "..."

    def repr_slice(self, x: slice, level: int) -> str:
        ends = ["" if end is None else self.repr1(end, level) for end in (x.start, x.stop)]
        return ":".join(ends if x.step is None else [*ends, self.repr1(x.step, level)])

    def repr_int(self, x: int, level: int) -> str:
        try:
            return super().repr_int(x, level)
        except ValueError:  # Python writes no integer of more than 4,300 digits
            return f"<an integer of {x.bit_length():,} bits>"

    def repr_type(self, x: type, level: int) -> str:
        if x.__module__ == "builtins":
            return x.__qualname__
        return f"{_MODULES.get(x.__module__, x.__module__)}.{x.__qualname__}"


_MODULES = {"numpy": "np"}
_short = _Short()
_short.maxlist = _short.maxtuple = _short.maxdict = 16
_short.maxstring = _short.maxother = 60


class Verbatim(str):
    """A piece of a call that is shown as it is, without quotes: `N='batch'`."""

    __slots__ = ()
    __repr__ = str.__str__


class ShownCall(NamedTuple):
    """A verb (or a keyword: `names=`), the arguments that carets may stand under, and the tensors."""

    verb: str
    arguments: Sequence[object]
    tensors: tuple[Dims, ...] = ()
    opening: str = "("
    closing: str = ")"

    @property
    def text(self) -> str:
        """The call as a user would write it."""
        return f"{self.verb}{self.opening}{', '.join(map(shown, self.arguments))}{self.closing}"

    def marks(self, places: Iterable[int]) -> tuple[Mark, ...]:
        """Return the marks below some arguments."""
        wanted = list(places)
        if not wanted:
            return ()
        widths = [len(shown(argument)) for argument in self.arguments]
        starts = list(accumulate((width + 2 for width in widths), initial=len(self.verb) + len(self.opening)))
        return tuple(Mark(Span(starts[index], starts[index] + widths[index])) for index in wanted)


def shown(argument: object) -> str:
    """Return one argument as source text, on one line and cut short where it is long."""
    return " ".join(_short.repr(argument).split())


def listed(words: Iterable[object], last: str = "and") -> str:
    """Return values as an English list: "'N', 'C' and 'H'"."""
    texts = [shown(word) for word in words]
    return f" {last} ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def counted(count: int, noun: str) -> str:
    """Return a number and its noun: "1 name", "2 names"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def fault(
    code: str, message: str, call: ShownCall, marked: Iterable[int] = (), hint: str = ""
) -> NameExprError:
    """Return (not raise) the error of a call, with carets below the arguments at fault and all tensors."""
    operands = tuple(
        OperandInfo(index, shape_of(dims), names_of(dims) if any(names_of(dims)) else None)
        for index, dims in enumerate(call.tensors)
    )
    return error(Diagnostic(code, message, call.text, call.marks(marked), operands, hint))
