"""Breaking one token of a valid text is noticed, by the reference too, and marked where it was broken."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import nameexpr as ne
from nameexpr.errors import Diagnostic
from nameexpr.records import replace
from nameexpr.syntax.faults.stops import open_brackets
from nameexpr.tensors import wrap
from oracle.generate.expressions import Case, mutate_text, seeded_case
from oracle.generate.text import TOKEN
from oracle.reference import expressions as reference
from properties.hostile import fault_of

# These mark the bracket that has no partner, wherever the other one was, or the sign that lost its own.
BRACKETS = {"NE105", "NE121", "NE122", "NE128", "NE150"}


def run(case: Case, einsum: Callable[..., Any]) -> Any:
    return case.run(einsum, lambda named: wrap(named.array, named.names) if einsum is ne.einsum else named)


def is_refused_by_reference(case: Case) -> bool:
    try:
        run(case, reference.einsum)
    except reference.Refused:
        return True
    return False


def changed(before: str, after: str) -> tuple[int, int]:
    """Return the range of `after` in which it differs from `before`."""
    pairs = list(zip(before, after, strict=False))
    same = next((place for place, (a, b) in enumerate(pairs) if a != b), len(pairs))
    ends = list(zip(reversed(before), reversed(after), strict=False))
    tail = len(after) - next((place for place, (a, b) in enumerate(ends) if a != b), len(ends))
    return min(same, tail), max(same, tail)


def touches(diagnostics: tuple[Diagnostic, ...], start: int, end: int) -> bool:
    return any(
        mark.span.start <= end + 1 and mark.span.end >= start - 1 for one in diagnostics for mark in one.marks
    )


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(400, 1600, 400))]
)
def test_a_broken_text_is_refused_where_the_reference_refuses_it_and_marked_where_it_is_broken(
    first: int,
) -> None:
    for seed in range(first, first + 400):
        case = seeded_case(seed)
        broken = replace(case, text=mutate_text(random.Random(seed), case.text))
        fault = fault_of(lambda broken=broken: run(broken, ne.einsum))
        if fault is not None and fault.code == "NE216":
            continue  # a pack twice in the result: the loops of the reference would embed a diagonal
        assert (fault is not None) == is_refused_by_reference(broken), (
            f"seed {seed}: {broken.text!r}\n{fault}"
        )
        if isinstance(fault, ne.ParseError) and fault.code not in BRACKETS and "#" not in broken.text:
            assert touches(fault.diagnostics, *changed(case.text, broken.text)), (
                f"seed {seed}: {broken.text!r}\n{fault}"
            )


ILLEGAL = ["?", "*", "-", "=>", ";", "[", "3C", "+", "→", "%", "'", "..", "\\", '"', "<-", "\x00"]


@pytest.mark.slow
@settings(max_examples=300)
@given(st.integers(0, 10_000), st.randoms(use_true_random=False), st.sampled_from(ILLEGAL))
def test_a_stray_token_is_marked(seed: int, rng: random.Random, stray: str) -> None:
    text = seeded_case(seed).text.partition("#")[0]
    place = rng.choice([0, *(match.end() for match in TOKEN.finditer(text)), len(text)])
    assume(stray != "+" or not open_brackets(text[:place]))  # there it parts a dim
    broken = f"{text[:place]} {stray} {text[place:]}"
    fault = fault_of(lambda: ne.check(broken))  # compile may take a text with [ for a formula
    assert isinstance(fault, ne.ParseError)
    assert touches(fault.diagnostics, place + 1, place + 1 + len(stray))


@pytest.mark.slow
@settings(max_examples=300)
@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_a_misspelt_label_is_marked_or_another_place_of_it(seed: int, rng: random.Random) -> None:
    text = re.sub(r"#[^\n]*", "", seeded_case(seed).text)
    labels = re.finditer(r"(?<![\w'])[^\W\d]\w*'*(?![\w'.]|\s*=)", text.partition(":")[0])
    places = [match.span() for match in labels if match[0] != "_"]
    if not places or fault_of(lambda: ne.compile(text)):
        return
    start, end = rng.choice(places)
    name = text[start:end]
    broken = f"{text[:start]}zqx{name}{text[end:]}"
    fault = fault_of(lambda: ne.compile(broken))
    if fault is not None and fault.code != "NE112":
        shown = [broken[mark.span.start : mark.span.end] for one in fault.diagnostics for mark in one.marks]
        assert any(name in word or "..." in word for word in shown), f"{broken!r}\n{fault}"
