"""Random programs against the nested loops of the reference, on operands of every layout."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import nameexpr as ne
from hardening.figures import Figures, counted, over_seeds
from hardening.forcing import MANNERS, forced
from hardening.layouts import native, strange
from nameexpr.records import replace
from nameexpr.tensors import wrap
from oracle.generate import expressions as generate
from oracle.generate import formulas as formula_generate
from oracle.reference import expressions as reference
from oracle.reference import formulas as formula_reference

EXPRESSIONS, FORMULAS = 140_000, 60_000
FIRST = 40_000_000
"""The first seed: far from those of the tests."""
LIMITED = 0.2
"""Share of the expressions that run under a limit of their memory, and so in loops over labels."""


def measure(scale: float) -> Figures:
    """Compare so many random expressions and formulas with the reference."""
    expressions, formulas = counted(EXPRESSIONS, scale), counted(FORMULAS, scale)
    breaches = over_seeds(wrong_expressions, range(FIRST, FIRST + expressions))
    breaches += over_seeds(wrong_formulas, range(FIRST, FIRST + formulas))
    summary = f"{expressions:,} expressions and {formulas:,} formulas, {len(breaches)} wrong"
    return Figures(summary, tuple(breaches))


def wrong_expressions(seeds: range) -> list[str]:
    """Return the expressions among these seeds whose result is not the reference's."""
    return [f"expression, seed {seed}: {why}" for seed in seeds if (why := _compared(_expression, seed))]


def wrong_formulas(seeds: range) -> list[str]:
    """Return the formulas among these seeds whose results are not the reference's."""
    return [f"formula, seed {seed}: {why}" for seed in seeds if (why := _compared(_formula, seed))]


REFUSED = frozenset({"NE308", "NE504", "NE526"})
"""Codes of what the pages say is rejected, and the reference computes: sizes that follow only by division of
two products, and numbers that the dtype of an array does not hold.
"""


def _compared(compare: Callable[[int, random.Random], str], seed: int) -> str:
    """Return what is wrong with the case of a seed, nothing if it is right; any fault is wrong."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return compare(seed, random.Random(f"layout {seed}"))
        except Exception as fault:  # noqa: BLE001  whatever comes is a finding
            is_refused = isinstance(fault, ne.NameExprError) and fault.code in REFUSED
            return "" if is_refused else f"{type(fault).__name__}: {fault}"


def _expression(seed: int, rng: random.Random) -> str:
    case = generate.seeded_case(seed)
    laid = tuple(_laid_out(rng, operand) for operand in case.operands)
    plain = tuple(_with_array(operand, native) for operand in laid)
    before = [native(generate.array_of(operand)) for operand in laid]
    expected = replace(case, operands=plain).run(reference.einsum)
    limit = _limit(case, laid) if rng.random() < LIMITED else None
    run: Callable[..., Any] = ne.einsum
    if limit is not None:
        run = lambda text, *operands, **options: ne.einsum(text, *operands, memory_limit=limit, **options)  # noqa: E731
    try:
        found = replace(case, operands=laid).run(run, wrap=_named)
    except ne.LimitError:
        if limit is None:
            raise
        return ""  # rejected, as it may be
    if not generate.same(_native_result(found), expected, case):
        return f"wrong result of {case.text!r}, limit {limit}"
    return _changed(laid, before, case.text)


def _formula(seed: int, rng: random.Random) -> str:
    case = formula_generate.seeded_case(seed)
    laid = {name: _laid_out(rng, operand) for name, operand in case.operands.items()}
    plain = {name: _with_array(operand, native) for name, operand in laid.items()}
    before = [native(generate.array_of(operand)) for operand in laid.values()]
    try:
        expected = replace(case, operands=plain).run(formula_reference.answers)
    except formula_reference.Refused:  # the values of overlapping cells are others
        return ""
    with forced(rng.choice(MANNERS), rng.choice([1, 3, 7])):
        found = replace(case, operands=laid).run(ne.evaluate, wrap=_named)
    results = [found] if case.outputs is None else list(found)
    for result, answer in zip(results, expected, strict=True):
        if not formula_generate.same(_native_result(result), answer):
            return f"wrong result of {case.text!r}"
    return _changed(tuple(laid.values()), before, case.text)


def _limit(case: generate.Case, operands: tuple[Any, ...]) -> int:
    """Return a limit below the peak of the usual plan, for most texts."""

    def planned(text: str, *given: Any, **options: Any) -> Any:
        return ne.compile(text, **options).plan(*given)

    return max(64, replace(case, operands=operands).run(planned, wrap=_named).peak_bytes // 2)


def _laid_out(rng: random.Random, operand: Any) -> Any:
    return _with_array(operand, lambda array: strange(rng, array))


def _with_array(operand: Any, change: Callable[[Any], Any]) -> Any:
    """Return an operand with its array changed; numbers stay numbers."""
    if isinstance(operand, np.ndarray):
        return change(operand)
    array = getattr(operand, "array", None)
    return operand if array is None else type(operand)(change(array), operand.names)


def _named(operand: Any) -> Any:
    return wrap(operand.array, operand.names)


def _native_result(result: Any) -> Any:
    """Return a result in native byte order: what is only moved keeps the order of its operand."""
    if isinstance(result, tuple):
        return tuple(map(_native_result, result))
    array = generate.array_of(result)
    if array.dtype.isnative:
        return result
    return reference.Named(native(array), result.names) if hasattr(result, "names") else native(array)


def _changed(operands: tuple[Any, ...], before: list[Any], text: str) -> str:
    for operand, copy in zip(operands, before, strict=True):
        now = native(generate.array_of(operand))
        if now.tobytes() != copy.tobytes():
            return f"an operand of {text!r} was written to"
    return ""
