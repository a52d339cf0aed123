"""Random contractions of two operands, every strategy of each: what the figures have to rank.

The cost of a strategy is piecewise linear in the figures. Its slopes are computed once, so that a fit does
not lower a text again for every figure that it tries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import prod
from random import Random
from typing import Any, NoReturn

from nameexpr.backends.numpy.calibration.drawing import WORK, Probe, array_of, draw_dtype
from nameexpr.backends.numpy.codegen.function import bound_statements, function_code
from nameexpr.backends.numpy.costs import Profile
from nameexpr.backends.numpy.costs.calls import NumpyCosts
from nameexpr.backends.numpy.profiles import figures_of
from nameexpr.backends.numpy.target import target_of
from nameexpr.compiler.analysis.infer import type_expression
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.compilation import Options
from nameexpr.compiler.ir.dtypes import ITEM_BYTES, choose_dtypes
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.ir.strides import row_major_strides
from nameexpr.compiler.pipeline import compile_expression, read
from nameexpr.records import replace

FAMILY = "strategies of contractions"
SIZES = (2, 3, 4, 5, 8, 14, 16, 24, 40, 64, 100)
LEAST = 30_000
"""The least number of multiplications."""
RANKS = 5
"""The number of strategies of a contraction, from the one that is expected to be the fastest."""
STEP = 1e-3
"""The relative change of a figure by which slopes are computed."""
Pair = tuple[str, tuple[tuple[int, ...], tuple[int, ...]], str]
"""A text, the shapes of its operands, and their dtype."""


def draw_pair(drawn: Random) -> Pair:
    """Return a random contraction: labels of both, of one, and summed ones, in any order in each term."""
    while True:
        counts = [drawn.randint(0, 1), drawn.randint(0, 2), drawn.randint(0, 2), drawn.randint(1, 2)]
        letters = iter("abcdefg")
        groups = [[next(letters) for _ in range(count)] for count in counts]
        sizes = {label: drawn.choice(SIZES) for group in groups for label in group}
        if not LEAST <= prod(sizes.values()) <= WORK:
            continue
        batch, rows, columns, inner = groups
        terms = [batch + rows + inner, batch + columns + inner, batch + rows + columns]
        for term in terms:
            drawn.shuffle(term)
        text = f"{' '.join(terms[0])}, {' '.join(terms[1])} -> {' '.join(terms[2])}"
        shapes = [tuple([sizes[label] for label in term]) for term in terms[:2]]
        return text, (shapes[0], shapes[1]), draw_dtype(drawn)


def strategies_of(pair: Pair, profile: Profile, names: Sequence[str]) -> list[Probe]:
    """Return a probe for each strategy of a pair; slopes by the named figures are those at the profile."""
    first = _lowered(pair, profile)
    slopes: dict[Any, dict[str, float]] = {key: {} for key in first}
    for name in names:
        figure = getattr(profile, name)
        near = _lowered(pair, replace(profile, **{name: figure * (1 + STEP)}))
        for key in first.keys() & near.keys():
            slopes[key][name] = (near[key][1] - first[key][1]) / (STEP * figure)
    return [
        Probe(FAMILY, _maker(program, pair), _linear(cost, slopes[key], profile, _bytes_of(pair)))
        for key, (program, cost) in first.items()
    ]


def _bytes_of(pair: Pair) -> int:
    """Return the bytes of the operands and the result of a pair."""
    text, shapes, dtype = pair
    terms, _, result = text.partition(" -> ")
    sizes: dict[str, int] = {}
    for term, shape in zip(terms.split(", "), shapes, strict=True):
        sizes |= zip(term.split(), shape, strict=True)
    cells = sum(prod(shape) for shape in shapes) + prod(sizes[label] for label in result.split())
    return cells * ITEM_BYTES[dtype]


def _lowered(pair: Pair, profile: Profile) -> dict[Any, tuple[Program, float]]:
    """Return the programs of the strategies of a pair, and their costs, by their instructions."""
    text, shapes, dtype = pair
    tree = read(text)
    typed = type_expression(tree, [Operand(shape) for shape in shapes], {})
    dtypes = choose_dtypes((dtype, dtype), dtype, typed.reducer, drops=True)
    layouts = [row_major_strides(shape) for shape in shapes]
    found: dict[Any, tuple[Program, float]] = {}
    for rank in range(RANKS):
        options = Options(target_of(profile), ranks=(rank,))
        program = compile_expression(tree, typed, dtypes, layouts, options).program
        if not program.offers or rank >= len(program.offers[0]):
            break
        found.setdefault(program.instructions, (program, program.offers[0][rank]))
    return found


def _linear(
    cost: float, slopes: dict[str, float], profile: Profile, size: int
) -> Callable[[NumpyCosts], float]:
    before = figures_of(profile)

    def moved(costs: NumpyCosts) -> float:
        now = figures_of(costs.profile)
        change = sum([slope * (now[name] - before[name]) for name, slope in slopes.items()])
        return max(1.0, cost + change) + costs.stream_cost(size)

    return moved


def _maker(program: Program, pair: Pair) -> Callable[[], Callable[[], Any]]:
    _, shapes, dtype = pair
    function = cache(lambda: _function(program))

    def make() -> Callable[[], Any]:
        run, left, right = function(), *(array_of(shape, dtype) for shape in shapes)
        return lambda: run(left, right)

    return make


def _function(program: Program) -> Callable[..., Any]:
    constants: dict[str, Any] = {}
    statements = bound_statements(program, shapes_of(program), constants)
    code = function_code([False, False], [], statements, constants)
    names: dict[str, Any] = {**constants, "missing": None, "miss": _never, "explain": _never}
    exec(code, names)  # noqa: S102  ours only, as in `nameexpr.runtime.specialise`
    function: Callable[..., Any] = names["call"]
    return function


def _never(*_: Any) -> NoReturn:
    raise AssertionError("the operands are those that the program was made for")


def draw_pairs(seed: int, count: int, profile: Profile, names: Sequence[str]) -> Iterator[list[Probe]]:
    """Yield the strategies of `count` random pairs."""
    drawn = Random(seed)
    for _ in range(count):
        yield strategies_of(draw_pair(drawn), profile, names)
