"""Comments that silence findings: ``# nameexpr: ignore``, ``# nameexpr: ignore[NE304, NE5]``.

A comment counts on the line where the call, the text or the mistake begins, and on the line where the text
ends. It is looked for in the line as it stands, so a comment inside a text of several lines counts, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_COMMENT = re.compile(r"#\s*nameexpr:\s*ignore(?![\w-])(?:\s*\[([^\]]*)\])?")


def is_ignored(code: str, lines: Iterable[str]) -> bool:
    """Return whether a comment on one of these lines silences a code.

    >>> is_ignored("NE304", ["f()  # nameexpr: ignore[NE3]"]), is_ignored("NE304", ["f()  # noqa"])
    (True, False)
    """
    return any(_silences(found[1], code) for line in lines for found in _COMMENT.finditer(line))


def _silences(codes: str | None, code: str) -> bool:
    return codes is None or starts_with(code, codes.replace(",", " ").split())


def starts_with(code: str, beginnings: Iterable[str]) -> bool:
    """Return whether a code is one of these, or begins with one of these."""
    return any(code.startswith(beginning) for beginning in beginnings)
