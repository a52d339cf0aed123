"""What can be wrong with a line beside its expression: names that nobody has, commands that are none.

>>> print(LineError("there is no tensor 'w'", "N C, C -> N | x, w", Span(18, 19), "make it: w = randn(N=2)"))
there is no tensor 'w'
  N C, C -> N | x, w
                    ^
  help: make it: w = randn(N=2)
"""

from __future__ import annotations

from nameexpr.carets import marked_text, shortened, visible
from nameexpr.errors import Span


class LineError(Exception):
    """A mistake in a line: what is wrong, where if that is known, and how to mend it."""

    def __init__(self, message: str, text: str = "", span: Span | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.text = text
        self.span = span
        self.hint = hint

    def __str__(self) -> str:
        """Return the mistake as lines to read, carets below its place."""
        lines = [visible(shortened(self.message))]
        if self.span is not None:
            lines += ["  " + line for line in marked_text(self.text, [(*self.span, "")])]
        if self.hint:
            lines.append(f"  help: {visible(shortened(self.hint))}")
        return "\n".join(lines)
