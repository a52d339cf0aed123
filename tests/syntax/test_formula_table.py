"""The grammar of formulas has no conflicts, and its stored tables are current."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import lark
import pytest

from formula_generate import seeded_case
from nameexpr.syntax.formula_unparse import unparse_statement
from nameexpr.syntax.parser import formula_table, generate
from nameexpr.syntax.parser.expression import load_parser
from nameexpr.syntax.parser.formula import FormulaNodes, parse_formula, with_semicolons
from nameexpr.syntax.parser.grammar import grammar_text


def rule(stored: dict[str, Any]) -> tuple[Any, ...]:
    symbols = [symbol["name"] for symbol in stored["expansion"]]
    return stored["origin"]["name"], symbols, stored["alias"] or "", stored["options"]["expand1"]


def canonical(data: dict[str, Any], memo: dict[int, Any]) -> tuple[Any, ...]:
    """Return Lark's tables with the states numbered as they are reached: Lark's numbers differ by run."""
    parser = data["parser"]["parser"]
    order, rows = [parser["start_states"]["formula"]], []
    place = {order[0]: 0}
    for state in order:
        row = []
        for token, (action, target) in sorted(
            (parser["tokens"][t], to) for t, to in parser["states"][state].items()
        ):
            if action == 0 and target not in place:
                place[target] = len(order)
                order.append(target)
            row.append((token, place[target] if action == 0 else rule(memo[target["@"]])))
        rows.append(row)
    terminals = [memo[one["@"]] for one in data["parser"]["lexer_conf"]["terminals"]]
    rules = sorted(rule(memo[one["@"]]) for one in data["rules"])
    return rows, sorted(terminals, key=itemgetter("name")), rules


def test_the_stored_tables_of_formulas_are_current() -> None:
    """With another release of Lark tables are built anew, and only the grammar can be compared."""
    assert grammar_text("formula") == formula_table.GRAMMAR
    if lark.__version__ == formula_table.LARK:
        current: dict[str, Any] = {}
        exec(generate.table_source("formula"), current)
        assert canonical(formula_table.DATA, formula_table.MEMO) == canonical(
            current["DATA"], current["MEMO"]
        )


def test_the_grammar_has_no_conflicts_and_names_all_its_terminals() -> None:
    parser = lark.Lark(grammar_text("formula"), start="formula", parser="lalr", lexer="basic", strict=True)
    assert not [terminal.name for terminal in parser.terminals if terminal.name.startswith("__")]


def test_tables_built_anew_read_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formula_table, "LARK", "0.0")
    rebuilt = load_parser(FormulaNodes(), "formula").parse
    for seed in range(60):
        text = seeded_case(seed).text
        statements = rebuilt(with_semicolons(text))
        assert list(map(unparse_statement, statements)) == list(
            map(unparse_statement, parse_formula(text).statements)
        )
