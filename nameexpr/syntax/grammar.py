"""Where the grammar is: in the wheel beside the package's code, in a checkout or an editable install at its
top level.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGED = Path(__file__).parents[1] / "grammar" / "nameexpr.lark"
_CHECKOUT = Path(__file__).parents[2] / "grammar" / "nameexpr.lark"


def grammar_text() -> str:
    """Return the text of the grammar in Lark's notation."""
    path = _PACKAGED if _PACKAGED.exists() else _CHECKOUT
    return path.read_text(encoding="utf-8")
