"""Which of the two languages a text is in: asked before anything is parsed, so it loads no syntax tree."""

from __future__ import annotations

import re

from nameexpr.dims import WORD

_ASSIGNED = re.compile(rf"(?:^|[;\n])[^\S\n]*{WORD}'*\s*=(?!=)\s*[^\s;]")


def looks_like_formula(text: str) -> bool:
    """Whether a text is meant as a formula: no arrow, but brackets or a name with "=" behind it.

    >>> looks_like_formula("y = x[N C]"), looks_like_formula("N (h d=2) -> N h d")
    (True, False)
    """
    plain = re.sub(r"#[^\n]*", "", text)
    if "->" in plain:
        return False
    return "[" in plain or _ASSIGNED.search(plain) is not None
