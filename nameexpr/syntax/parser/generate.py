"""Write `nameexpr/syntax/parser/table.py` and `formula_table.py`: the parse tables of the grammars in
grammar/, so that the first parse need not build them.

Run it after every change of the grammar: `python -m nameexpr.syntax.parser.generate`. A test fails when the
tables are not current.
"""

from __future__ import annotations

from pathlib import Path
from pprint import pformat

HEADER = '''"""Lark's tables for the grammar, made by `nameexpr.syntax.parser.generate`: do not edit."""

from typing import Any
'''


def table_source(start: str = "expression") -> str:
    """Return the source of the module of tables for a start symbol, built under Lark's strict mode (no
    conflicts of any kind).

    The grammar is in it too, to tell whether the tables are current: Lark numbers its states anew each time.
    """
    import lark
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    from nameexpr.syntax.parser.grammar import grammar_text

    text = grammar_text(start)
    parser = lark.Lark(text, start=start, parser="lalr", lexer="basic", strict=True)
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    parts = [f"LARK = {lark.__version__!r}", f"GRAMMAR = {pformat(text, width=100)}"]
    parts += [
        f"{name}: dict[Any, Any] = {pformat(value, width=110, compact=True)}"
        for name, value in (("DATA", data), ("MEMO", memo))
    ]
    return HEADER + "\n" + "\n".join(parts) + "\n"


def main() -> None:
    """Write the modules."""
    for name, start in (("table.py", "expression"), ("formula_table.py", "formula")):
        Path(__file__).with_name(name).write_text(table_source(start), encoding="utf-8")


if __name__ == "__main__":
    main()
