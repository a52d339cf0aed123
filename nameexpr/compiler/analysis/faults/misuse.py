"""What the functions say of a text of another kind, of operands without names, and of options that are none.

The calls say it (`nameexpr.runtime`), and so does the checker of source files (`nameexpr.lint`), which has no
NumPy.

>>> no_size("h", 2.5).message
'h= is a float, and not a size'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from nameexpr.compiler.analysis.faults.sizes import OPTIONS
from nameexpr.errors import Diagnostic, Mark, Span, did_you_mean
from nameexpr.ops import REDUCTIONS


def needs_arrow(text: str) -> Diagnostic:
    """Return the mistake of an assertion that is given to `einsum` or `compile`."""
    hint = "to compute, say what results: inputs -> result; to check shapes, call nameexpr.check"
    message = "an expression needs an arrow: this text is an assertion"
    end = len(_bare(text).rstrip())
    marks = (Mark(Span(end, end), "->"),) if end else ()
    return Diagnostic("NE218", message, text, marks, hint=hint)


def takes_no_arrow(text: str) -> Diagnostic:
    """Return the mistake of an expression that is given to `check`."""
    hint = "to compute, call nameexpr.einsum; to check shapes, leave out the arrow and what follows"
    start = _bare(text).index("->")
    marks = (Mark(Span(start, start + 2)),)
    return Diagnostic("NE219", "check takes no arrow: this text is an expression", text, marks, hint=hint)


def _bare(text: str) -> str:
    """Return a text with blanks where its comments are."""
    return re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), text)


def operands_by_position(text: str, operands: Sequence[str]) -> Diagnostic:
    """Return the mistake of operands of a formula that come without names."""
    hint = f"write {', '.join(f'{name}=...' for name in operands[:8])}" if operands else "leave them out"
    return Diagnostic("NE527", "the operands of a formula are given by name", text, hint=hint)


def no_size(name: str, value: Any) -> Diagnostic:
    """Return the mistake of a size, or of what is taken for one, that is no whole number."""
    hint = did_you_mean(name, OPTIONS) or f"sizes are whole numbers: {name}=8"
    if name in OPTIONS:
        hint = f"{name}= is no option here; a label of that name takes sizes={{'{name}': 8}}"
    elif hasattr(value, "__array__"):
        hint = "operands come behind the text, without a keyword: einsum(text, array)"
    return Diagnostic("NE603", f"{name}= is {kind_of(value)}, and not a size", hint=hint)


def kind_of(value: Any) -> str:
    """Return the type of a value with its article.

    >>> kind_of(2.5), kind_of([])
    ('a float', 'a list')
    """
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' or name == 'ndarray' else 'a'} {name}"


def no_reducer(name: str) -> Diagnostic:
    """Return the mistake of a name in `reduce=` that no reducer has."""
    hint = did_you_mean(name, REDUCTIONS) or f"one of {' '.join(REDUCTIONS)}, or a callable f(array, axis)"
    return Diagnostic("NE202", f"there is no reducer '{name}'", hint=hint)
