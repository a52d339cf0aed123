"""Whatever is broken in a formula is marked where it was broken, and every mistake comes with help."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import nameexpr as ne
from nameexpr.errors import Diagnostic
from nameexpr.syntax.parser.formula import parse_formula
from nameexpr.syntax.unparse import unparse_formula
from nameexpr.tensors import wrap
from oracle.generate.formulas import Case, seeded_case
from properties.hostile import fault_of
from properties.test_hostile_formulas import mutated

pytestmark = pytest.mark.slow

TOKEN = re.compile(r"[^\W\d]\w*'*|[0-9.]+(?:e-?[0-9]+)?|\*\*|//|[=!<>]=|\.\.\.|\S")
ILLEGAL = [
    "?",
    "$",
    "^",
    "->",
    "→",
    "×",
    "!",
    "\\",
    "{",
    '"',
    "3C",
    ":",
    "=>",
    "&&",
    "\x00",
    ", ,",
]
ELSEWHERE = {"NE143", "NE104"}  # these mark the bracket that has no partner, wherever the other one was


def run(text: str, case: Case) -> ne.NameExprError | None:
    operands: dict[str, Any] = {
        name: wrap(value.array, value.names) if hasattr(value, "names") else value
        for name, value in case.operands.items()
    }
    return fault_of(lambda: ne.evaluate(text, operands=operands, sizes=case.sizes or None))


def touches(diagnostics: tuple[Diagnostic, ...], start: int, end: int) -> bool:
    return any(
        mark.span.start <= end + 1 and mark.span.end >= start - 1 for one in diagnostics for mark in one.marks
    )


def spelled(seed: int) -> str:
    """Return a random formula without comments."""
    return unparse_formula(parse_formula(seeded_case(seed).text))


@pytest.mark.parametrize("first", [0, 200])
def test_a_stray_token_is_marked(first: int) -> None:
    for seed in range(first, first + 200):
        rng = random.Random(seed)
        text, stray = spelled(seed), rng.choice(ILLEGAL)
        place = rng.choice([0, *(match.end() for match in TOKEN.finditer(text)), len(text)])
        broken = f"{text[:place]} {stray} {text[place:]}"
        fault = fault_of(lambda broken=broken: parse_formula(broken))
        assert isinstance(fault, ne.ParseError), broken
        if fault.code not in ELSEWHERE:
            assert touches(fault.diagnostics, place + 1, place + 1 + len(stray)), f"{broken}\n{fault}"


def test_a_token_too_few_is_noticed_there_or_behind_it() -> None:
    noticed = 0
    for seed in range(400):
        text = spelled(seed)
        tokens = list(TOKEN.finditer(text))
        place = random.Random(seed).randrange(len(tokens))
        taken = tokens[place]
        broken = text[: taken.start()] + " " * len(taken[0]) + text[taken.end() :]
        fault = fault_of(lambda broken=broken: parse_formula(broken))
        if fault is not None and fault.code not in ELSEWHERE:
            noticed += 1
            assert touches(fault.diagnostics, tokens[max(0, place - 1)].start(), len(text)), (
                f"{broken}\n{fault}"
            )
    assert noticed > 150


def test_every_mistake_has_a_mark_and_a_hint() -> None:
    told = 0
    for seed in range(1500):
        case = seeded_case(seed % 150)
        fault = run(mutated(random.Random(seed), case.text), case)
        for one in fault.diagnostics if fault else ():
            told += 1
            assert one.hint or one.code == "NE526", fault
            assert one.marks or one.code in {"NE140", "NE522", "NE526", "NE602"}, fault
            for mark in one.marks:
                assert 0 <= mark.span.start <= mark.span.end <= len(one.text)
    assert told > 800


def test_a_misspelt_label_is_marked_or_another_place_of_it() -> None:
    found = 0
    for seed in range(400):
        rng = random.Random(seed)
        case, text = seeded_case(seed), spelled(seed)
        labels = [
            match
            for match in re.finditer(r"(?<=[\[ (])[^\W\d]\w*'*(?=[\] )])", text)
            if _in_term(text, match.start())
        ]
        if not labels or run(text, case):
            continue
        chosen = rng.choice(labels)
        broken = f"{text[: chosen.start()]}zq{chosen[0]}{text[chosen.end() :]}"
        fault = run(broken, case)
        if fault is None or isinstance(fault, ne.OptionError):  # of a size beside the text
            continue
        found += 1
        marked = [broken[mark.span.start : mark.span.end] for one in fault.diagnostics for mark in one.marks]
        assert any(chosen[0] in word or "..." in word for word in marked), f"{broken}\n{fault}"
    assert found > 100


def _in_term(text: str, place: int) -> bool:
    return text.count("[", 0, place) > text.count("]", 0, place)
