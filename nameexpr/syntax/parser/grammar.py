"""Where the grammar and Lark's tables for it are: in the wheel beside the package's code, in a checkout or an
editable install at its top level.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

_PACKAGED = Path(__file__).parents[2] / "grammar"
_CHECKOUT = Path(__file__).parents[3] / "grammar"
_SHARED = "// Terms and names"
_FILES = {"expression": "nameexpr", "formula": "formula"}


def grammar_folder() -> Path:
    """Return the folder of the grammars and their tables."""
    return _PACKAGED if _PACKAGED.exists() else _CHECKOUT


def grammar_text(start: str = "expression") -> str:
    """Return the text of the grammar of expressions, or of formulas, in Lark's notation."""
    folder = grammar_folder()
    text = (folder / "nameexpr.lark").read_text(encoding="utf-8")
    if start == "expression":
        return text
    formula = (folder / "formula.lark").read_text(encoding="utf-8")
    return formula + "\n" + text[text.index(_SHARED) :]


def tables_path(start: str = "expression") -> Path:
    """Return the file of Lark's tables for a grammar."""
    return grammar_folder() / f"{_FILES[start]}.json"


@cache
def stored_tables(start: str = "expression") -> dict[str, Any]:
    """Return what was stored for a grammar: `lark`, its release, `grammar`, the digest of the text, and
    `data` and `memo`, from which Lark makes a parser.
    """
    import json

    def numbered(pairs: list[tuple[str, Any]]) -> dict[Any, Any]:
        """Return a table whose keys are numbers again, as they were before they were JSON."""
        return {int(key) if key.isdigit() else key: value for key, value in pairs}

    text = tables_path(start).read_text(encoding="utf-8")
    tables: dict[str, Any] = json.loads(text, object_pairs_hook=numbered)
    return tables


def table_state(start: str, lark: str | None) -> str:
    """Return whether the stored tables fit the grammar and this release of Lark: "stored", or "built anew",
    "unreadable", "unknown" without Lark.
    """
    try:
        tables = stored_tables(start)
        release, is_current = tables["lark"], tables["grammar"] == digest(grammar_text(start))
    except (OSError, ValueError, KeyError):
        return "unreadable"
    if lark is None:
        return "unknown"
    return "stored" if is_current and lark == release else "built anew"


def digest(grammar: str) -> str:
    """Return what tells a grammar from others."""
    from hashlib import sha256

    return sha256(grammar.encode()).hexdigest()
