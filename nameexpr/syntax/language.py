"""Which of the two languages a text is in: asked before anything is parsed, so it loads no syntax tree."""

from __future__ import annotations

import re


def looks_like_formula(text: str) -> bool:
    """Return whether a text is meant as a formula: no arrow, but brackets or a name with "=" behind it.

    >>> looks_like_formula("y = x[N C]"), looks_like_formula("N (h d=2) -> N h d")
    (True, False)
    """
    plain = re.sub(r"#[^\n]*", "", text)
    if "->" in plain:
        return False
    return "[" in plain or re.search(r"(?:^|[;\n])[^\S\n]*[^\W\d]\w*'*\s*=(?!=)\s*[^\s;]", plain) is not None
