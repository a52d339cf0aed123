"""Every strategy that the lowering knows for each step of a program, taken in turn."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

import nameexpr as ne
from hardening.figures import Figures, counted, over_seeds
from nameexpr.compiler.lowering.builder import Builder
from nameexpr.tensors import wrap
from oracle.generate import expressions as generate
from oracle.generate import formulas as formula_generate
from oracle.reference import expressions as reference
from oracle.reference import formulas as formula_reference

EXPRESSIONS, FORMULAS = 5_000, 1_500
FIRST = 50_000_000
MOST_RUNS = 60
"""Runs of one program: the strategies of long programs are sampled evenly."""


def measure(scale: float) -> Figures:
    """Run programs in every strategy, and compare each result with the reference's."""
    expressions, formulas = counted(EXPRESSIONS, scale), counted(FORMULAS, scale)
    breaches = over_seeds(wrong_expressions, range(FIRST, FIRST + expressions))
    breaches += over_seeds(wrong_formulas, range(FIRST, FIRST + formulas))
    summary = f"{expressions:,} expressions and {formulas:,} formulas, {len(breaches)} that disagree"
    return Figures(summary, tuple(breaches))


def wrong_expressions(seeds: range) -> list[str]:
    """Return the expressions among these seeds of which one strategy disagrees with the reference."""
    breaches = []
    for seed in seeds:
        case = generate.seeded_case(seed)
        expected = case.run(reference.einsum)
        breaches += _disagreeing(
            partial(case.run, ne.einsum, _named),
            partial(generate.same, expected=expected, case=case),
            f"expression, seed {seed}: {case.text!r}",
        )
    return breaches


def wrong_formulas(seeds: range) -> list[str]:
    """Return the formulas among these seeds of which one strategy disagrees with the reference."""
    breaches = []
    for seed in seeds:
        case = formula_generate.seeded_case(seed)
        breaches += _disagreeing(
            partial(case.run, ne.evaluate, _named),
            partial(_is_answer, case.run(formula_reference.answers), case.outputs is None),
            f"formula, seed {seed}: {case.text!r}",
        )
    return breaches


def _is_answer(answers: Sequence[Any], is_single: bool, result: Any) -> bool:
    results = [result] if is_single else list(result)
    return all(formula_generate.same(*pair) for pair in zip(results, answers, strict=True))


def _disagreeing(run: Callable[[], Any], is_right: Callable[[Any], bool], title: str) -> list[str]:
    try:
        offers = choices_of(run)
    except ne.NameExprError:  # rejected: for `programs` to judge
        return []
    picks = [{}, *({choice: rank} for choice, count in enumerate(offers) for rank in range(1, count))]
    breaches = []
    for pick in picks[:: max(1, len(picks) // MOST_RUNS)]:
        with warnings.catch_warnings(), np.errstate(all="ignore"), picking(pick):
            warnings.simplefilter("ignore")
            try:
                why = "" if is_right(run()) else "another result"
            except Exception as fault:  # noqa: BLE001  whatever comes is a finding
                why = f"{type(fault).__name__}: {fault}"
        if why:
            breaches.append(f"{title}, strategy {pick}: {why}")
    return breaches


def choices_of(run: Callable[[], Any]) -> list[int]:
    """Return how many strategies there are at each choice that compiling what is run makes."""
    offers: list[int] = []
    with warnings.catch_warnings(), np.errstate(all="ignore"), picking({}, offers):
        warnings.simplefilter("ignore")
        run()
    return offers


@contextmanager
def picking(pick: dict[int, int], offers: list[int] | None = None) -> Iterator[None]:
    """Compile with these ranks at these choices, and the best at all others."""

    def choose(self: Builder, candidates: Sequence[Any]) -> Any:
        number = len(self.offers)
        self.offers.append(len(candidates))
        if offers is not None and number == len(offers):
            offers.append(len(candidates))
        return candidates[min(pick.get(number, 0), len(candidates) - 1)]

    ne.cache_clear()
    with mock.patch.object(Builder, "choose", choose):
        yield
    ne.cache_clear()


def _named(operand: Any) -> Any:
    return wrap(operand.array, operand.names)
