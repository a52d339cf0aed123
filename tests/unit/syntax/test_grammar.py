"""The grammars have no conflicts, and the stored tables are theirs."""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import lark
import pytest

from nameexpr.syntax import grammar
from nameexpr.syntax.ast import Expression
from nameexpr.syntax.grammar import are_current, grammar_text, load_parser, stored_tables
from nameexpr.syntax.parser.expression import parse
from nameexpr.syntax.parser.formula import parse_formula, with_semicolons
from nameexpr.syntax.unparse import unparse, unparse_statement
from oracle.generate import expressions
from oracle.generate import formulas as formula_generate
from oracle.trees import FormulaNodes, Nodes

STARTS = pytest.mark.parametrize("start", grammar.STARTS)


def canonical(stored: dict[str, Any], start: str) -> tuple[Any, ...]:
    """Return Lark's tables with the states numbered as they are reached: Lark's numbers differ by run."""
    data, memo = stored["data"], stored["memo"]
    parser, conf = data["parser"]["parser"], data["parser"]["lexer_conf"]
    order, rows = [parser["start_states"][start]], []
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
    terminals = sorted((memo[one["@"]] for one in conf["terminals"]), key=itemgetter("name"))
    rules = sorted(rule(memo[one["@"]]) for one in data["rules"])
    return rows, place[parser["end_states"][start]], terminals, sorted(conf["ignore"]), rules


def rule(stored: dict[str, Any]) -> tuple[Any, ...]:
    symbols = [symbol["name"] for symbol in stored["expansion"]]
    return stored["origin"]["name"], symbols, stored["alias"] or "", stored["options"]["expand1"]


@STARTS
def test_the_stored_tables_are_current(start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With another release of Lark tables are built again, and only the grammar can be compared."""
    stored = stored_tables(start)
    assert stored["grammar"] == grammar.digest(grammar_text(start))
    if lark.__version__ == stored["lark"]:
        (tmp_path / "current").write_text(grammar.tables_text(start), encoding="utf-8")
        monkeypatch.setattr(grammar, "tables_path", lambda _: tmp_path / "current")
        current = stored_tables.__wrapped__(start)
        assert canonical(stored, start) == canonical(current, start)
        assert are_current(start, lark.__version__)


@STARTS
def test_the_grammar_has_no_conflicts_and_names_all_its_terminals(start: str) -> None:
    parser = lark.Lark(grammar_text(start), start=start, parser="lalr", lexer="basic", strict=True)
    names = {terminal.name for terminal in parser.terminals}
    assert not [name for name in names if name.startswith("__")]
    assert names >= {"NAME", "PACK", "DOTS", "INT"}


def as_expression(parser: Callable[[str], Any], seed: int) -> tuple[str, str]:
    text = expressions.seeded_case(seed).text
    return unparse(Expression(*parser(text))), unparse(parse(text))


def as_formula(parser: Callable[[str], Any], seed: int) -> tuple[str, str]:
    text = formula_generate.seeded_case(seed).text
    both = parser(with_semicolons(text)), parse_formula(text).statements
    first, second = ("; ".join(map(unparse_statement, statements)) for statements in both)
    return first, second


@pytest.mark.parametrize(
    ("start", "nodes", "read"),
    [("expression", Nodes, as_expression), ("formula", FormulaNodes, as_formula)],
)
@pytest.mark.parametrize("is_stored", [True, False])
def test_tables_read_the_same_stored_or_built(
    start: str, nodes: type[Nodes], read: Callable[..., Any], is_stored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grammar, "are_current", lambda *_: is_stored)
    parser = load_parser(start, nodes()).parse
    for seed in range(60):
        again, usual = read(parser, seed)
        assert again == usual


def test_tables_are_judged_by_the_release_of_lark_and_by_the_grammar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = stored_tables("expression")["lark"]
    assert are_current("expression", release)
    assert not are_current("formula", "1.2.0")
    monkeypatch.setattr(grammar, "grammar_text", lambda _: "other")
    assert not are_current("expression", release)
    monkeypatch.setattr(grammar, "stored_tables", stored_tables.__wrapped__)
    path = tmp_path / "tables.json"
    monkeypatch.setattr(grammar, "tables_path", lambda _: path)
    assert not are_current("formula", release)
    for content in ("", "{", json.dumps({"lark": release})):
        path.write_text(content, encoding="utf-8")
        assert not are_current("formula", release)
