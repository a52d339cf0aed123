"""Read the patterns of einops, and check them by its rules.

Patterns are expressions of this package as well, with the same meaning: they are passed on as they are.

>>> pattern = read_pattern("b (h w) -> (b h) w", "rearrange", ("h",))
>>> pattern.is_reduced
False
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from nameexpr.compat.einops_errors import EinopsError
from nameexpr.errors import Diagnostic, Mark, Span, did_you_mean
from nameexpr.records import record

ARROW, ELLIPSIS, WILDCARD = "->", "...", "_"
REDUCTIONS = ("min", "max", "sum", "mean", "prod", "any", "all")
Operation = str | Callable[..., object]


@record
class PatternAxis:
    """A name, a number above 1, "..." or "_", and where it is."""

    word: str
    span: Span

    @property
    def is_number(self) -> bool:
        """Whether the axis has a size instead of a name."""
        return self.word.isdecimal()


@record
class PatternDim:
    """The axes whose product a dim is; `is_group` if they are in brackets. A 1 is left out."""

    axes: tuple[PatternAxis, ...]
    is_group: bool
    span: Span


@record
class Pattern:
    """Both sides of a pattern; `is_reduced` if axes of the left one are not in the right one.

    `reduced_dots` is where "..." is, if nothing else is reduced.
    """

    left: tuple[PatternDim, ...]
    right: tuple[PatternDim, ...]
    is_reduced: bool
    reduced_dots: Span | None = None


def fault(code: str, message: str, text: str, spans: Sequence[Span] = (), hint: str = "") -> EinopsError:
    """Return an error of einops that marks a part of a pattern."""
    return EinopsError(Diagnostic(code, message, text, tuple(map(Mark, spans)), hint=hint))


def shape_of(array: Any, text: str) -> tuple[Any, ...]:
    """Return the shape of an array; EinopsError for anything else."""
    shape = getattr(array, "shape", None)
    if shape is None:
        message = f"a {type(array).__name__} is not an array of a library that is supported"
        raise fault("NE503", message, text, hint="convert it first: numpy.asarray(x)")
    return tuple(shape)


def split(pattern: str) -> int:
    """Return where the arrow of a pattern is."""
    places = [at for at in range(len(pattern)) if pattern.startswith(ARROW, at)]
    if len(places) != 1:
        spans = [Span(at, at + len(ARROW)) for at in places]
        message = f"a pattern has one arrow, and this one has {len(places) or 'none'}"
        raise fault("NE123" if places else "NE218", message, pattern, spans, "write: axes -> axes")
    return places[0]


def read_side(
    text: str, start: int, stop: int, *, has_wildcards: bool = False, is_repeated: bool = False
) -> tuple[PatternDim, ...]:
    """Return the dims of a part of a pattern; options allow axes that are "_", or are there twice."""
    dims: list[PatternDim] = []
    inside: list[PatternAxis] | None = None
    opened = start
    seen: set[str] = set()
    for span in _words(text, start, stop):
        word = text[span.start : span.end]
        if word == "(":
            if inside is not None:
                raise fault(
                    "NE122", "a group is inside of another one", text, [span], "groups have one level"
                )
            inside, opened = [], span.start
        elif word == ")":
            if inside is None:
                raise fault("NE121", "a bracket is closed that was not opened", text, [span])
            dims.append(PatternDim(tuple(inside), is_group=True, span=Span(opened, span.end)))
            inside = None
        else:
            axes = _axes(text, span, has_wildcards=has_wildcards)
            _check_new(text, axes, seen, is_repeated=is_repeated)
            if inside is None:
                dims.append(PatternDim(axes, is_group=False, span=span))
            else:
                inside += axes
    if inside is not None:
        raise fault("NE122", "a bracket is not closed", text, [Span(opened, opened + 1)])
    return tuple(dims)


def _words(text: str, start: int, stop: int) -> Iterator[Span]:
    """Yield where the names, numbers, dots and brackets are."""
    at = start
    while at < stop:
        after = at + 1
        if text.startswith(ELLIPSIS, at, stop):
            after = at + len(ELLIPSIS)
        elif text[at].isalnum() or text[at] == WILDCARD:
            while after < stop and (text[after].isalnum() or text[after] == WILDCARD):
                after += 1
        elif text[at] == ".":
            message = "dots are only allowed as an ellipsis"
            raise fault("NE107", message, text, [Span(at, after)], "write ...")
        elif text[at] not in "() ":
            message = f"unknown character '{text[at]}'"
            raise fault("NE100", message, text, [Span(at, after)], "axes are names, numbers and ...")
        if text[at] != " ":
            _check_apart(text, at, after, stop)
            yield Span(at, after)
        at = after


def _check_apart(text: str, start: int, after: int, stop: int) -> None:
    """Raise an error for an ellipsis next to a name, which expressions have and einops does not."""
    is_dots = text.startswith(ELLIPSIS, start)
    following = text[after : after + 1] if after < stop else ""
    if is_dots and (following.isalnum() or following == WILDCARD):
        after += 1
    elif is_dots or text[start] in "()" or not text.startswith(ELLIPSIS, after, stop):
        return
    else:
        after += len(ELLIPSIS)
    message = f"Invalid axis identifier: '{text[start:after]}'"
    raise fault("NE100", message, text, [Span(start, after)], "write a space between a name and ...")


def _check_new(text: str, axes: Sequence[PatternAxis], seen: set[str], *, is_repeated: bool) -> None:
    """Add a name to those of a side; EinopsError if it is there already."""
    for axis in axes:
        is_free = axis.is_number or axis.word == WILDCARD or (is_repeated and axis.word != ELLIPSIS)
        if axis.word in seen and not is_free:
            what = "an ellipsis" if axis.word == ELLIPSIS else f"the axis '{axis.word}'"
            message = f"{what} is there more than once"
            raise fault("NE205", message, text, [axis.span], "write each axis once on a side")
        seen.add(axis.word)


def _axes(text: str, span: Span, *, has_wildcards: bool) -> tuple[PatternAxis, ...]:
    """Return the axis that a word is; nothing for a 1."""
    word = text[span.start : span.end]
    if word.isdecimal():
        if int(word) == 0:
            raise fault("NE102", "an axis that is a number has a positive length, not 0", text, [span])
        return () if int(word) == 1 else (PatternAxis(word, span),)
    is_wild = has_wildcards and word == WILDCARD
    if word != ELLIPSIS and not is_wild and (reason := misnamed(word)):
        raise fault("NE100", f"Invalid axis identifier: '{word}' {reason}", text, [span])
    return (PatternAxis(word, span),)


def misnamed(word: str) -> str:
    """Return why a word is not the name of an axis; "" if it is one."""
    if not word.isidentifier():
        return "is not a name of letters, digits and underscores that begins with a letter"
    return "begins or ends with an underscore" if "_" in (word[0], word[-1]) else ""


def read_pattern(text: str, operation: Operation, sizes: Sequence[str]) -> Pattern:
    """Return a pattern that follows the rules for an operation: "rearrange", "repeat", or a reduction."""
    arrow = split(text)
    left, right = read_side(text, 0, arrow), read_side(text, arrow + len(ARROW), len(text))
    before, after = _by_word(left), _by_word(right)
    if ELLIPSIS in after and ELLIPSIS not in before:
        hint = "write ... on the left for the dims that it stands for"
        raise fault("NE210", "'...' is only on the right", text, [after[ELLIPSIS].span], hint)
    for dim in left:
        if dim.is_group and any(axis.word == ELLIPSIS for axis in dim.axes):
            raise fault("NE206", "'...' is in a group on the left", text, [dim.span], "name the axes")
    _check_numbers(text, operation, left, right)
    lost = [axis for word, axis in before.items() if word not in after]
    new = [axis for word, axis in after.items() if word not in before]
    if lost and operation in ("rearrange", "repeat"):
        hint = f"write it on the right, too, or reduce over it: reduce(x, '{text}', 'mean')"
        raise fault("NE213", f"{_shown(lost)} only on the left", text, [axis.span for axis in lost], hint)
    if new and operation != "repeat":
        hint = f"remove it, or repeat along it: repeat(x, pattern, {new[0].word}=2)"
        raise fault("NE308", f"{_shown(new)} only on the right", text, [axis.span for axis in new], hint)
    if unknown := [axis for axis in new if axis.word not in sizes]:
        hint = f"give its size: {unknown[0].word}=2"
        raise fault(
            "NE308", f"{_shown(unknown)} new, and has no size", text, [axis.span for axis in unknown], hint
        )
    for name in sizes:
        if misnamed(name) or name not in {**before, **after}:
            hint = did_you_mean(name, {**before, **after}) or "sizes are given for axes of the pattern"
            raise fault("NE602", f"{name}= is given, but the pattern has no such axis", text, hint=hint)
    has_numbers = any(axis.is_number for dim in left for axis in dim.axes)
    are_dots = not has_numbers and [axis.word for axis in lost] == [ELLIPSIS]
    return Pattern(left, right, bool(lost) or has_numbers, lost[0].span if are_dots else None)


def _by_word(side: Sequence[PatternDim]) -> dict[str, PatternAxis]:
    """Return the axes of a side that have names, and the ellipsis."""
    return {axis.word: axis for dim in side for axis in dim.axes if not axis.is_number}


def _shown(axes: Sequence[PatternAxis]) -> str:
    return f"{', '.join([repr(axis.word) for axis in axes])} {'is' if len(axes) == 1 else 'are'}"


def _check_numbers(
    text: str, operation: Operation, left: Sequence[PatternDim], right: Sequence[PatternDim]
) -> None:
    """Raise an error for a number above 1 where it has no meaning: new axes are on the right of `repeat`, and
    axes to reduce on the left of `reduce`.
    """
    for side, is_allowed in (
        (left, operation not in ("rearrange", "repeat")),
        (right, operation == "repeat"),
    ):
        numbers = [axis.span for dim in side for axis in dim.axes if axis.is_number]
        if numbers and not is_allowed:
            message = "a number above 1 is allowed on the right of repeat and on the left of reduce only"
            raise fault("NE214", message, text, numbers, "give the axis a name, and its size as a keyword")
