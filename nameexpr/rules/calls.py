"""A call of a method: how an error shows it, and which dims its arguments refer to.

A dim is given by name, or by position as in NumPy (negative from the end).

>>> from nameexpr.dims import Dim
>>> call = ShownCall("rename", ("A", "A"), ((Dim("N", 2), Dim("C", 3)),))
>>> print(fault("NE411", "'A' stands twice", call, (0, 1)))
DimNameError[NE411]: 'A' stands twice
  rename('A', 'A')
         ^^^  ^^^
  operand 0  (N=2, C=3)
>>> dims = (Dim("N", 2), Dim("C", 3), Dim(None, 4))
>>> position(dims, "C", "size"), axes(dims, ["C", -1], "sum"), removed(("N", "C", None), (1, 2))
(1, (1, 2), ('N',))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from operator import index as as_index
from reprlib import Repr
from typing import Any, NamedTuple, SupportsIndex, TypeAlias

from nameexpr.dims import Dim, Dims, Names, find, is_keyword, names_of, normalised, shape_of
from nameexpr.errors import Diagnostic, Mark, NameExprError, OperandInfo, Span, did_you_mean, error


class _Short(Repr):
    """Values as source text: `...` and slices as in an index, a type by its name."""

    def repr_ellipsis(self, x: object, level: int) -> str:
        return "..."

    def repr_slice(self, x: slice, level: int) -> str:
        ends = ["" if end is None else self.repr1(end, level) for end in (x.start, x.stop)]
        return ":".join(ends if x.step is None else [*ends, self.repr1(x.step, level)])

    def repr_int(self, x: int, level: int) -> str:
        try:
            return super().repr_int(x, level)
        except ValueError:  # Python does not print integers of more than 4,300 digits
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
    """A piece of a call that is shown unchanged, without quotes: `N='batch'`."""

    __slots__ = ()
    __repr__ = str.__str__


class ShownCall(NamedTuple):
    """A method (or a keyword: `names=`), the arguments that carets may mark, and the tensors."""

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
    """Return one argument as source text, on one line and shortened if it is long."""
    return " ".join(_short.repr(argument).split())


def listed(words: Iterable[object], last: str = "and") -> str:
    """Return values as an English list: "'N', 'C' and 'H'"."""
    texts = [shown(word) for word in words]
    return f" {last} ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def as_keywords(values: Mapping[Any, object]) -> str:
    """Return keywords of a call as a user would write them.

    >>> as_keywords({"N": "batch"}), as_keywords({"in": 0})
    ("N='batch'", "**{'in': 0}")
    """
    if all(map(is_keyword, values)):
        return ", ".join(f"{name}={shown(value)}" for name, value in values.items())
    return f"**{shown(dict(values))}"


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


DimLike: TypeAlias = str | int
"""A dim given by name or by position."""


def position(dims: Dims, dim: object, verb: str) -> int:
    """Return the position, from 0, of the dim given by name or number: see `position_of`."""
    return position_of(dims, ShownCall(verb, (dim,), (dims,)), 0)


def positions(dims: Dims, call: ShownCall) -> tuple[int, ...]:
    """Return the positions of all dims that a call's arguments refer to, none of them twice (NE417)."""
    found_axes = tuple(position_of(dims, call, index) for index in range(len(call.arguments)))
    for index, at in enumerate(found_axes):
        if at in found_axes[:index]:
            message = f"{called(dims, at)} is given twice"
            raise fault("NE417", message, call, (found_axes.index(at), index), "give each dim once")
    return found_axes


def position_of(dims: Dims, call: ShownCall, index: int) -> int:
    """Return the position of the dim that one argument of a call refers to.

    NE410 if no dim has the name, NE416 for None, and for `...`, which means that none was given, NE801 if
    there is no such position, NE651 for anything else.
    """
    dim = call.arguments[index]
    if isinstance(dim, str):
        at = find(names_of(dims), normalised(dim))
        if at is None:
            message = f"no dim is called {dim!r}" + ("" if dims else ": a 0-d tensor has no dims")
            raise fault("NE410", message, call, (index,), unknown_hint(dims, dim))
        return at
    if dim is ...:
        message = f"{call.verb} needs a dim"
        raise fault("NE416", message, ShownCall(call.verb, (), call.tensors), (), _choices(dims))
    if dim is None:
        message = "None does not identify a dim; unnamed dims are given by position"
        raise fault("NE416", message, call, (index,), _choices(dims))
    try:
        if isinstance(dim, bool) or not isinstance(dim, SupportsIndex):
            raise TypeError
        number = as_index(dim)
    except TypeError:
        message = f"a dim is given by name or by position, not as {type(dim).__name__}"
        raise fault("NE651", message, call, (index,), _choices(dims)) from None
    rank = len(dims)
    if -rank <= number < rank:
        return number % rank
    why = f"positions go from {-rank} to {rank - 1}" if rank else "a 0-d tensor has no dims"
    raise fault("NE801", f"there is no dim {number}: {why}", call, (index,), _choices(dims))


def dims_in(wanted: object) -> tuple[object, ...]:
    """Return the dims of a list, the words of a string, or the only one."""
    if isinstance(wanted, str):
        return tuple(wanted.split())
    return tuple(wanted) if isinstance(wanted, list | tuple) else (wanted,)


def unknown_hint(dims: Dims, name: str) -> str:
    """Return the advice about a name that no dim has."""
    known = [known for known in names_of(dims) if known is not None]
    if not known:
        return "the tensor has no names at all; refine_names gives it some" if dims else ""
    names = f"the names are {listed(known)}" if len(known) > 1 else f"the only name is {known[0]!r}"
    return did_you_mean(name, known) or names


def _choices(dims: Dims) -> str:
    if not dims:
        return ""
    known = [name for name in names_of(dims) if name is not None]
    numbers = f"a position from {-len(dims)} to {len(dims) - 1}"
    return f"give {numbers}, or a name: {listed(known, 'or')}" if known else f"give {numbers}"


def called(dims: Dims, at: int) -> str:
    """Return how messages refer to a dim: "dim 'C'", or "dim 1" if it has no name."""
    return f"dim {spelt(dims[at], at % len(dims))!r}"


def spelt(dim: Dim, at: int) -> DimLike:
    """Return how to write a dim: its name, or its position if it has none."""
    return at if dim.name is None else dim.name


def axes(dims: Dims, wanted: object, verb: str) -> tuple[int, ...]:
    """Return the positions of one dim or of several: a name, an int, a list that mixes them, or "N C".

    Errors are those of `position_of`, and NE417 for a dim that is given twice.
    """
    if isinstance(wanted, list | tuple):
        call = ShownCall(verb, wanted, (dims,), "([", "])")
    else:
        is_list = isinstance(wanted, str) and len(wanted.split()) > 1
        call = ShownCall(verb, str(wanted).split() if is_list else (wanted,), (dims,))
    if not dims and call.arguments and all(map(is_only, call.arguments)):
        positions((Dim(None, 1),), call)  # which ensures that there is one
        return ()
    return positions(dims, call)


def is_only(dim: object) -> bool:
    """Return whether PyTorch accepts this as a dim of a 0-d tensor, which is its only element."""
    return type(dim) is int and dim in (0, -1)


def removed(names: Names, gone: Sequence[int], *, keepdim: bool = False) -> Names:
    """Return the names without those of some positions, or all of them if the dims are kept with size 1."""
    if keepdim:
        return names
    return tuple(name for at, name in enumerate(names) if at not in gone)
