"""Write Lark's tables for the grammars beside them, so that the first parse need not build them.

Run it after every change of a grammar: `python -m nameexpr.syntax.parser.generate`. A test fails when the
tables are not current.
"""

from __future__ import annotations

import json

from nameexpr.syntax.parser.grammar import digest, grammar_text, tables_path

STARTS = ("expression", "formula")


def tables_text(start: str = "expression") -> str:
    """Return the tables for a start symbol, built under Lark's strict mode (no conflicts of any kind).

    The digest of the grammar is in it, to tell whether the tables are current: Lark numbers its states anew
    each time.
    """
    import lark
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    text = grammar_text(start)
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
