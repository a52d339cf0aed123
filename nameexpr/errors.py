"""The errors of nameexpr: what went wrong, where, with which operands, and how to fix it.

An error is raised with data (a `Diagnostic`: code, marks on the text, operands, hint) and turned into text in
one place, `nameexpr.carets`. The first digit of a code gives the family, and the family the class:
`SizeError` for NE3xx, and so on. This module is the lowest layer of the package and imports only the
renderer.

>>> from nameexpr.errors import Diagnostic, Mark, Span, error
>>> marks = (Mark(Span(0, 1)), Mark(Span(3, 4)))
>>> print(error(Diagnostic("NE304", "'i' is 2 here and 3 there", "i, i ->", marks)))
SizeError[NE304]: 'i' is 2 here and 3 there
  i, i ->
  ^  ^
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple

ROWS = 16
"""The number of operands that a diagnostic lists."""
TOLD = 20
"""The number of diagnostics that an error shows."""


class Span(NamedTuple):
    """A half-open range of characters of a source text."""

    start: int
    end: int


class Mark(NamedTuple):
    """A span to underline, with a short note to print below its carets."""

    span: Span
    note: str = ""


class OperandInfo(NamedTuple):
    """One operand as a diagnostic shows it.

    `names` is None for a plain array; `labels` contains one short text per dim ("batch=2"), or nothing if the
    term does not fit. `title` is the name of the operand, if it has one instead of a number; `is_told` means
    that the message is about it.
    """

    position: int
    shape: tuple[int, ...]
    names: tuple[str | None, ...] | None = None
    labels: tuple[str, ...] = ()
    title: str = ""
    is_told: bool = False


class Diagnostic(NamedTuple):
    """One error: its code, one sentence, the text with its marks, the operands involved and a concrete fix.

    For a text with several lines those that contain a mark are shown, or all if `is_whole`.
    """

    code: str
    message: str
    text: str = ""
    marks: tuple[Mark, ...] = ()
    operands: tuple[OperandInfo, ...] = ()
    hint: str = ""
    is_whole: bool = False

    def render(
        self, strong: Callable[[str], str] = str, columns: int | None = None, *, has_code: bool = True
    ) -> str:
        """Return the diagnostic as lines without a final newline; `strong` highlights the error, and
        `columns` is the width of a terminal. The message is the first thing if it has no code.
        """
        from nameexpr.carets import aligned_columns, line_limit, marked_text, shortened, visible, wrapped

        shown = [operand for place, operand in enumerate(self.operands) if place < ROWS or operand.is_told]
        head = visible(shortened(self.message))
        if has_code:
            head = f"{family(self.code).__name__}[{self.code}]: {head}"
        lines = [strong(wrapped(head, columns, 2))]
        spans = [(*mark.span, mark.note) for mark in self.marks]
        limit = line_limit(columns)
        marked = marked_text(self.text, spans, is_whole=self.is_whole, strong=strong, limit=limit)
        lines += ["  " + line for line in marked]
        table = aligned_columns([_cells(operand) for operand in shown], columns and columns - 2)
        lines += ["  " + line for line in table]
        if left_out := len(self.operands) - len(shown):
            lines.append(f"  ... and {left_out:,} more operands")
        if self.hint:
            lines.append(wrapped(f"  help: {visible(shortened(self.hint))}", columns, len("  help: ")))
        return "\n".join(lines)


def _cells(operand: OperandInfo) -> list[str]:
    """Return the columns of one operand: its title, its shape (with names), its labels with sizes."""
    from nameexpr.carets import shortened, visible

    if operand.names is None:
        shape = str(operand.shape)
    else:
        dims = (f"{name}={size}" for name, size in zip(operand.names, operand.shape, strict=True))
        shape = f"({', '.join(dims)})"
    title = operand.title or f"operand {operand.position}"
    labels = (visible(shortened(label)) for label in operand.labels)
    return [f"{title} ", visible(shortened(shape)) + "  ", *labels]


class NameExprError(ValueError):
    """Base of all errors of nameexpr: one diagnostic or several (`Diagnostic`).

    Examples
    --------
    >>> import nameexpr as ne
    >>> try:
    ...     ne.compile("a b, b -> a c d")(1)
    ... except ne.NameExprError as error:
    ...     print(error.code)
    NE501
    """

    has_code = True
    """Whether its text begins with its code; those of a class of another library begin with the message."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)
        self.diagnostics = diagnostics
        from nameexpr.tracebacks import hide_frames

        hide_frames()

    @property
    def code(self) -> str:
        """Code of the first diagnostic, such as "NE304"."""
        return self.diagnostics[0].code

    @property
    def text(self) -> str:
        """The text with the marks of the first diagnostic, or "".

        It is the caller's text. For an expression that leaves its inputs out, they are written out; for a
        method it is the call.
        """
        return self.diagnostics[0].text

    @property
    def spans(self) -> tuple[Span, ...]:
        """The marked spans of the first diagnostic, ranges of characters of `text`."""
        return tuple(mark.span for mark in self.diagnostics[0].marks)

    @property
    def operands(self) -> tuple[OperandInfo, ...]:
        """Shapes and names of the operands of the first diagnostic."""
        return self.diagnostics[0].operands

    @property
    def hint(self) -> str:
        """The fix proposed by the first diagnostic, or ""."""
        return self.diagnostics[0].hint

    def _forget_frames(self) -> None:
        """Remove this package's frames from the traceback, before the error leaves the package."""
        from nameexpr.tracebacks import forget_frames

        forget_frames(self)

    def _render_traceback_(self) -> list[str]:
        """Return the lines for IPython and Jupyter: the user's frames, then the error."""
        from nameexpr.tracebacks import rendered_by_ipython

        return rendered_by_ipython(self)

    def __str__(self) -> str:
        """Return the diagnostics rendered, one after the other; if there are very many, the first ones."""
        return self.render()

    __repr__ = __str__  # libraries that trace functions show it

    def render(self, strong: Callable[[str], str] = str, columns: int | None = None) -> str:
        """Return the text of the error; `strong` highlights the error, in colour on a terminal, whose width
        is `columns`.
        """
        told = [one.render(strong, columns, has_code=self.has_code) for one in self.diagnostics[:TOLD]]
        left_out = len(self.diagnostics) - len(told)
        return "\n".join([*told, *([f"... and {left_out:,} more mistakes"] if left_out else [])])


class ParseError(NameExprError):
    """NE1xx: the text is not an expression."""


class RuleError(NameExprError):
    """NE2xx: the text breaks a safety rule of the language, regardless of the operands."""


class SizeError(NameExprError):
    """NE3xx: sizes or numbers of dims do not fit."""


class DimNameError(NameExprError, RuntimeError):
    """NE4xx: names of dims do not match, are unknown, repeated or malformed (a RuntimeError too, as PyTorch
    raises).
    """


class OperandError(NameExprError, TypeError):
    """NE5xx: an operand is missing, too many, or not an array that this expression can use."""


class OptionError(NameExprError, TypeError):
    """NE6xx: an option or keyword is unknown, or has a value that it cannot have."""


class LimitError(NameExprError, MemoryError):
    """NE7xx: a limit on length, nesting, operands, dims or memory is exceeded."""


class DimRangeError(NameExprError, IndexError):
    """NE8xx: a dim is given by a number that the tensor does not have."""


_FAMILIES = (
    ParseError, RuleError, SizeError, DimNameError, OperandError, OptionError, LimitError, DimRangeError,
)  # fmt: skip


def family(code: str) -> type[NameExprError]:
    """Return the class that errors with this code belong to, by its first digit."""
    return _FAMILIES[int(code[2]) - 1]


def error(*diagnostics: Diagnostic) -> NameExprError:
    """Return (not raise) the error for these diagnostics; its class is that of the first one."""
    return family(diagnostics[0].code)(*diagnostics)


LONGEST = 64
"""The length of a word up to which a similar one is searched."""
CHOICES = 256
"""The number of words among which a similar one is searched."""


class Proposal(str):
    """The hint "did you mean 'x'?", and perhaps more: editors offer `word` as a replacement at the first
    mark.
    """

    __slots__ = ("more", "word")
    word: str
    more: str

    def __new__(cls, word: str, more: str = "") -> Proposal:
        """Return the hint that proposes a word."""
        hint = super().__new__(cls, f"did you mean '{word}'?{more}")
        hint.word, hint.more = word, more
        return hint

    def __reduce__(self) -> tuple[type[Proposal], tuple[str, str]]:
        """Pickle a hint as its arguments."""
        return Proposal, (self.word, self.more)


ALIKE = 0.6
"""The similarity of two words of which one may be a misspelling: difflib's ratio."""


def did_you_mean(word: str, choices: Iterable[str], alike: float = ALIKE) -> str:
    """Return "did you mean 'x'?" for the choice nearest to `word`, or "" if none is near."""
    near = nearest(word, choices, alike)
    return Proposal(near) if near else ""


def nearest(word: str, choices: Iterable[str], alike: float = ALIKE) -> str:
    """Return the choice nearest to `word`, or "" if none is near.

    Its time is bounded for any words.
    """
    if len(word) > LONGEST:
        return ""
    from difflib import get_close_matches

    likely = islice((choice for choice in choices if choice != word and len(choice) <= LONGEST), CHOICES)
    pool = {choice.casefold(): choice for choice in likely}
    near = get_close_matches(word.casefold(), pool, n=1, cutoff=alike)
    return pool[near[0]] if near else ""


class NotHeldError(OverflowError):
    """A number that a dtype cannot hold, found while numbers are computed; `hint` is the advice."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.hint = hint


NO_FLOAT = "numbers this large have no float: divide first, or take logarithms"
