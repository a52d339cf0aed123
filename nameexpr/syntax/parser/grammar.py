"""Where the grammar is: in the wheel beside the package's code, in a checkout or an editable install at its
top level.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGED = Path(__file__).parents[2] / "grammar"
_CHECKOUT = Path(__file__).parents[3] / "grammar"
_SHARED = "// Terms and names"


def grammar_text(start: str = "expression") -> str:
    """Return the text of the grammar of expressions, or of formulas, in Lark's notation."""
    folder = _PACKAGED if _PACKAGED.exists() else _CHECKOUT
    text = (folder / "nameexpr.lark").read_text(encoding="utf-8")
    if start == "expression":
        return text
    formula = (folder / "formula.lark").read_text(encoding="utf-8")
    return formula + "\n" + text[text.index(_SHARED) :]
