"""The grammars, and Lark's parsers for them.

`nameexpr.syntax.parser` is hand-written. Lark locates syntax errors (`nameexpr.syntax.faults`) and finds the
possible next tokens (completion), and is imported when first needed. Its tables are stored in files next to
the grammars: inside the package in a wheel, at the top level in a checkout or an editable install. With
another release of Lark, or a changed grammar, they are rebuilt.

`python -m nameexpr.syntax.grammar` writes the tables; run it after every change of a grammar. A test fails if
they are outdated.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lark import Lark
    from lark.exceptions import UnexpectedInput

STARTS = ("expression", "formula")
_PLACES = [folder / "grammar" for folder in Path(__file__).parents[1:3]]  # in the wheel, in a checkout
_FOLDER = next((folder for folder in _PLACES if folder.exists()), _PLACES[0])
_SHARED = "// Terms and names"


def grammar_text(start: str = "expression") -> str:
    """Return the grammar of expressions, or of formulas, in Lark's notation."""
    text = (_FOLDER / "nameexpr.lark").read_text(encoding="utf-8")
    if start == "expression":
        return text
    formula = (_FOLDER / "formula.lark").read_text(encoding="utf-8")
    return formula + "\n" + text[text.index(_SHARED) :]


def tables_path(start: str = "expression") -> Path:
    """Return the file of Lark's tables for a grammar."""
    return _FOLDER / {"expression": "nameexpr.json", "formula": "formula.json"}[start]


@cache
def stored_tables(start: str = "expression") -> dict[str, Any]:
    """Return the stored data of a grammar: `lark`, its release, `grammar`, the digest of the text, and `data`
    and `memo`, from which Lark creates a parser.
    """

    def numbered(pairs: list[tuple[str, Any]]) -> dict[Any, Any]:
        """Convert the keys back to numbers, as they were before they were stored as JSON."""
        return {int(key) if key.isdigit() else key: value for key, value in pairs}

    text = tables_path(start).read_text(encoding="utf-8")
    tables: dict[str, Any] = json.loads(text, object_pairs_hook=numbered)
    return tables


def digest(grammar: str) -> str:
    """Return the SHA-256 of a grammar, in hexadecimal."""
    from hashlib import sha256

    return sha256(grammar.encode()).hexdigest()


def load_parser(start: str, callbacks: object = None) -> Lark:
    """Return Lark's parser, from the stored tables if they are current, else built from the grammar.

    `callbacks` has a method for each rule whose tree should differ from Lark's.
    """
    import lark

    if are_current(start, lark.__version__):
        tables = stored_tables(start)
        load: Callable[..., Lark] = lark.Lark._load_from_dict
        return load(tables["data"], tables["memo"], transformer=callbacks)
    build: Callable[..., Lark] = lark.Lark
    return build(grammar_text(start), start=start, parser="lalr", lexer="basic", transformer=callbacks)


def are_current(start: str, lark: str) -> bool:
    """Return whether the stored tables are readable and match the grammar and this release of Lark."""
    try:
        tables = stored_tables(start)
        return bool(tables["lark"] == lark and tables["grammar"] == digest(grammar_text(start)))
    except (OSError, ValueError, KeyError):
        return False


_parser = cache(load_parser)


def refusal(text: str, start: str, callbacks: object = None) -> UnexpectedInput:
    """Return Lark's exception for a text that does not match the grammar."""
    from lark.exceptions import UnexpectedInput

    try:
        _parser(start, callbacks).parse(text)
    except UnexpectedInput as refused:
        return refused
    raise AssertionError(f"the grammar reads what the parser refuses: {text!r}")


def tables_text(start: str = "expression") -> str:
    """Return the tables for a start symbol as JSON, built in Lark's strict mode (no conflicts of
    any kind).
    """
    import lark
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    text = grammar_text(start)  # its digest shows if tables are current: Lark renumbers states each time
    parser = lark.Lark(text, start=start, parser="lalr", lexer="basic", strict=True)
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    tables = {"lark": lark.__version__, "grammar": digest(text), "data": data, "memo": memo}
    return json.dumps(tables, separators=(",", ":"), ensure_ascii=False) + "\n"


def main() -> None:
    """Write the files."""
    for start in STARTS:
        tables_path(start).write_text(tables_text(start), encoding="utf-8")


if __name__ == "__main__":
    main()
