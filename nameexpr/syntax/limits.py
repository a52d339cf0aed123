"""The limits that are checked before a tree is built, so that no text can cost too much.

The defaults are far above typical texts and can be set with `nameexpr.set_limits`. They are checked on the
raw text: counting brackets and commas is cheap, and the parser only sees texts within the limits.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Never

from nameexpr.dims import WORD
from nameexpr.errors import Diagnostic, Mark, Span, did_you_mean, error
from nameexpr.forks import lock

MAX_NESTING = 400  # above it Python's recursion limit would be reached
MOST_DIMS = 64  # the limit of NumPy
SIZE_DIGITS = 18  # numbers of 18 digits are possible sizes, those of 20 are not


class Limits(NamedTuple):
    """Length of a text in characters, depth of its brackets, number of operands, number of dims of any
    array.
    """

    text: int = 65_536
    nesting: int = 200
    operands: int = 1_024
    dims: int = 64


_current = Limits()


def limits(*given: Never, **others: Never) -> Limits:
    """Return the current limits."""
    if given or others:
        hint = "set_limits(text=...) sets a limit, and returns the limits that held before"
        raise error(Diagnostic("NE687", "limits takes no arguments", hint=hint))
    return _current


def set_limits(
    *given: Never,
    text: int | None = None,
    nesting: int | None = None,
    operands: int | None = None,
    dims: int | None = None,
    **others: Never,
) -> Limits:
    """Set the given limits, keep the others, and return the previous ones.

    Parameters
    ----------
    text : int, optional
        Characters of a text.
    nesting : int, optional
        Depth of brackets, at most 400.
    operands : int, optional
        Operands of an expression.
    dims : int, optional
        Dims of an array, at most 64, which is the limit of NumPy.

    Raises
    ------
    OptionError
        If a limit is not a positive int, or above what can be supported, or there is no limit of that name.

    Examples
    --------
    >>> import nameexpr as ne
    >>> before = ne.set_limits(operands=8)
    >>> ne.set_limits(operands=before.operands).operands
    8
    """
    global _current  # noqa: PLW0603  one process-wide setting, replaced as a whole
    if given:
        hint = "the limits are text=, nesting=, operands= and dims="
        raise error(Diagnostic("NE687", "set_limits takes no positional arguments", hint=hint))
    wanted = {"text": text, "nesting": nesting, "operands": operands, "dims": dims}
    for word in others:
        hint = did_you_mean(word, wanted) or "the limits are text=, nesting=, operands= and dims="
        raise error(Diagnostic("NE601", f"there is no limit {word}=", hint=hint))
    ceilings = {"nesting": MAX_NESTING, "dims": MOST_DIMS}
    for name, value in wanted.items():
        highest = ceilings.get(name)
        if value is None:
            continue
        if type(value) is not int or value < 1 or (highest is not None and value > highest):
            upper = f" of at most {highest}" if highest else ""
            raise error(Diagnostic("NE601", f"the limit {name}= must be a positive int{upper}"))
    with lock:  # another thread may be setting another limit
        before = _current
        _current = before._replace(**{name: value for name, value in wanted.items() if value is not None})
    return before


def is_plain(text: str) -> bool:
    """Return whether a text is ASCII and certainly within the limits, except for numbers, which are checked
    later.
    """
    bounds = _current
    return (
        text.isascii()
        and len(text) <= bounds.text
        and text.count(",") < bounds.operands
        and text.count("(") <= bounds.nesting
    )


def check_limits(text: str) -> None:
    """Raise a `LimitError` if the text is longer, deeper or wider than the limits allow."""
    bounds = _current
    if len(text) > bounds.text:
        message = f"the text has {len(text):,} characters, and the limit is {bounds.text:,}"
        raise error(Diagnostic("NE701", message, hint="nameexpr.set_limits(text=...) raises it"))
    depth = 0
    for token in re.finditer(r"#[^\n]*|[()]", text) if text.count("(") > bounds.nesting else ():
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth > bounds.nesting:
            mark = Mark(Span(*token.span()))
            raise error(Diagnostic("NE702", f"brackets nest deeper than {bounds.nesting}", text, (mark,)))
    count = 1 + sum(token[0] == "," for token in re.finditer(r"#[^\n]*|,", text))
    if count > bounds.operands:
        message = f"the text has {count:,} terms, and the limit is {bounds.operands:,} operands"
        raise error(Diagnostic("NE703", message, hint="nameexpr.set_limits(operands=...) raises it"))
    for token in re.finditer(rf"#[^\n]*|{WORD}|([0-9]{{{SIZE_DIGITS + 1},}})", text):
        if token[1]:
            span = Span(token.start(), token.start() + 1)
            message = f"a size has at most {SIZE_DIGITS} digits, and this one has {len(token[0]):,}"
            raise error(Diagnostic("NE704", message, text, (Mark(span),)))
