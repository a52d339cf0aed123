"""The accuracy of the expected times of plans: `python -m benchmarks.expected [NUMBER [SEED]]` measures it.

Every workload, and the requested number of random expressions and formulas, is planned and timed. The figures
are those of docs/performance.md, whose seeds differ from those that the model was fitted to. Times are those
of the processor, which other programs hardly change; with more than one BLAS thread they are not comparable.
Calls that are off by more than a factor of 2 are listed at the end.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np

import nameexpr as ne
from benchmarks.workloads import WORKLOADS
from benchmarks.workloads.formulas import FormulaWorkload
from benchmarks.workloads.named import NamedWorkload
from nameexpr.ops import REDUCTIONS

BUDGET = 0.03
"""Seconds for which each call is repeated."""
SHORT = 10e-6
"""Calls that take less are reported separately: they are mostly overhead."""
MOST = 3_000_000
"""The number of elements of the random operands and results."""
DTYPES = (*["float64"] * 3, *["float32"] * 2, "int64", "complex128", "int32", "float16", "bool")
POINTWISE = (
    "exp({})", "sqrt(abs({}))", "tanh({})", "log(abs({}) + 1)", "sigmoid({})", "abs({})", "relu({})",
    "{} ** 2", "1 / (2 + abs({}))", "sin({})", "-{}", "floor({})", "where({} > 0, 1, 0)", "gelu({})",
    "clip({}, 0, 1)",
)  # fmt: skip
ALONG = ("softmax", "cumsum", "sort", "log_softmax", "flip")
REDUCERS = tuple(REDUCTIONS)
REDUCE = ("sum", "sum", "max", "mean", "var", "std", "median", "logsumexp", "norm", "prod", "min")
Case = tuple[Any, Callable[[], Any]]
"""A plan, and its call."""


class Found(NamedTuple):
    """What was called, the expected seconds, and the least measured ones."""

    name: str
    expected: float
    measured: float

    @property
    def ratio(self) -> float:
        """Expected over measured."""
        return self.expected / self.measured


def main(number: str = "150", seed: str = "71") -> None:
    """Measure, and print a table."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    drawn = random.Random(int(seed))
    groups: dict[str, list[Found]] = {}
    for group, found in _workloads():
        groups.setdefault(f"workloads of {group}", []).append(found)
    groups["random expressions"] = [_measured(*_expression(drawn)) for _ in range(int(number))]
    groups["random formulas"] = [_measured(*_formula(drawn)) for _ in range(int(number))]
    groups["all"] = [one for found in groups.values() for one in found]
    for name, found in groups.items():
        for is_short in (False, True):
            ratios = [one.ratio for one in found if (one.measured < SHORT) == is_short]
            if ratios:
                print(f"{name:<20} {'below' if is_short else 'from'} 10 us  {_summary(ratios)}")
    for one in sorted(groups["all"], key=lambda one: one.ratio):
        if one.measured >= SHORT and not 1 / 2 <= one.ratio <= 2:
            print(f"{one.ratio:6.2f}  {one.measured * 1e6:10.1f} us  {one.name[:100]}")


def _summary(ratios: list[float]) -> str:
    within = {factor: np.mean([1 / factor <= one <= factor for one in ratios]) for factor in (2, 3)}
    shares = ", ".join(f"{share:.0%} within {factor}" for factor, share in within.items())
    return f"{len(ratios):4} calls, expected over measured {statistics.median(ratios):.2f}, {shares}"


def _measured(plan: Any, call: Callable[[], Any], name: str = "") -> Found:
    clock = time.process_time
    call()
    start = clock()
    call()
    repeats = max(1, int(5e-5 / max(clock() - start, 1e-7)))
    least, end, rounds = float("inf"), clock() + BUDGET, 0
    while clock() < end or rounds < 3:
        start = clock()
        for _ in range(repeats):
            call()
        least = min(least, (clock() - start) / repeats)
        rounds += 1
    return Found(name or plan.text.replace("\n", "; "), plan.seconds, least)


def _workloads() -> Iterator[tuple[str, Found]]:
    """Yield the group of each workload, and its times."""
    for workload in WORKLOADS:
        if isinstance(workload, NamedWorkload) or workload.is_in_place:
            continue
        operands = workload.operands()
        if isinstance(workload, FormulaWorkload):
            named = dict(zip(workload.inputs, operands, strict=True))
            formula = ne.compile(workload.text, sizes=dict(workload.sizes) or None)
            found = _measured(formula.plan(**named), lambda f=formula, n=named: f(**n), workload.name)
        else:
            compiled = ne.compile(workload.text, sizes=dict(workload.sizes) or None)
            found = _measured(compiled.plan(*operands), lambda c=compiled, o=operands: c(*o), workload.name)
        yield workload.group, found


def _expression(drawn: random.Random) -> Case:
    """Return a random expression of one to three operands: reducers, dtypes, orders of axes, strides."""
    while True:
        dims = drawn.sample("abcdef", drawn.randint(2, 5))
        sizes = {dim: drawn.choice([2, 3, 4, 8, 16, 32, 50, 64, 100, 200, 300, 1000]) for dim in dims}
        terms = [_term(drawn, dims) for _ in range(drawn.choice([1, 1, 1, 2, 2, 3]))]
        every = sorted({dim for term in terms for dim in term})
        kept = [dim for dim in every if drawn.random() < 0.55]
        drawn.shuffle(kept)
        largest = max(prod(sizes[dim] for dim in term) for term in (*terms, kept))
        if largest > MOST or prod(sizes[dim] for dim in every) > 20_000_000:
            continue
        reducer = f" : {drawn.choice(REDUCERS)}" if drawn.random() < 0.6 and len(kept) < len(every) else ""
        text = ", ".join(map(" ".join, terms)) + " -> " + " ".join(kept) + reducer
        dtype = drawn.choice(DTYPES)
        operands = [_array(drawn, tuple(sizes[dim] for dim in term), dtype) for term in terms]
        try:
            compiled = ne.compile(text)
            compiled(*operands)
            return compiled.plan(*operands), lambda c=compiled, o=operands: c(*o)
        except ne.NameExprError:
            continue  # a label that would be summed silently, a reducer that a dtype lacks


def _term(drawn: random.Random, dims: list[str]) -> list[str]:
    term = [dim for dim in dims if drawn.random() < 0.8] or dims[:1]
    drawn.shuffle(term)
    return term


def _array(drawn: random.Random, shape: tuple[int, ...], dtype: str) -> Any:
    rng = np.random.default_rng(drawn.randrange(2**32))
    array = (rng.standard_normal(shape) * 5).astype(dtype)
    if drawn.random() < 0.3:
        order = rng.permutation(array.ndim)
        array = np.ascontiguousarray(array.transpose(order)).transpose(np.argsort(order))
    return np.repeat(array, 2, axis=-1)[..., ::2] if drawn.random() < 0.1 else array


def _formula(drawn: random.Random) -> Case:
    """Return a random formula: pointwise functions, functions along dims, often a reduction of it all."""
    while True:
        dims = drawn.sample(["I", "J", "K"], drawn.choice([1, 2, 2, 2, 3]))
        sizes = {dim: drawn.choice([4, 16, 33, 64, 100, 256, 500, 1000]) for dim in dims}
        if prod(sizes.values()) > 2 * MOST:
            continue
        leaves: dict[str, list[str]] = {}
        text = _value(drawn, dims, leaves, 0)
        if drawn.random() < 0.5:
            text = (
                f"{drawn.choice(REDUCE)}[{' '.join(drawn.sample(dims, drawn.randint(1, len(dims))))}]({text})"
            )
        dtype = drawn.choice(["float64", "float64", "float32"])
        operands = {
            name: _array(drawn, tuple(sizes[dim] for dim in term), dtype) for name, term in leaves.items()
        }
        try:
            formula = ne.compile(f"y = {text}")
            formula(**operands)
            return formula.plan(**operands), lambda f=formula, o=operands: f(**o)
        except ne.NameExprError:
            continue  # a function along a dim that its value lacks


def _value(drawn: random.Random, dims: list[str], leaves: dict[str, list[str]], depth: int) -> str:
    kind = drawn.random()
    if kind < 0.25 or depth > 3:
        name = "abcdefgh"[len(leaves)] if len(leaves) < 8 else drawn.choice(list(leaves))
        leaves.setdefault(name, _term(drawn, dims))
        return f"{name}[{' '.join(leaves[name])}]"
    first = _value(drawn, dims, leaves, depth + 1)
    if kind < 0.55:
        return drawn.choice(POINTWISE).format(f"({first})")
    if kind < 0.85:
        return f"({first} {drawn.choice('+*-/*')} {_value(drawn, dims, leaves, depth + 1)})"
    if kind < 0.95:
        return f"{drawn.choice(ALONG)}[{drawn.choice(dims)}]({first})"
    return f"maximum({first}, {_value(drawn, dims, leaves, depth + 1)})"


if __name__ == "__main__":
    main(*sys.argv[1:3])
