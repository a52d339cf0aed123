"""The expected time of a program: a model, from shapes, dtypes and strides alone.

Each instruction is one or several passes over elements, a product that `calls` estimates, or a call. Nothing
is timed: the figures are those of a profile (docs/performance.md shows their accuracy).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, prod

from nameexpr.backends.numpy.costs import GENERIC, Profile
from nameexpr.backends.numpy.costs.blocks import MADE, PART, TURN
from nameexpr.backends.numpy.costs.calls import NumpyCosts
from nameexpr.backends.numpy.costs.instructions import instruction_cost
from nameexpr.backends.numpy.costs.passes import memory_cost, pages_cost, ufunc_cost
from nameexpr.backends.numpy.costs.strided import Strided
from nameexpr.compiler.ir.dtypes import strong
from nameexpr.compiler.ir.layouts import OperandLayout, layouts_or_default
from nameexpr.compiler.ir.primitives import shapes_of, strides_of
from nameexpr.compiler.ir.program import Instruction, Program, Shape
from nameexpr.compiler.memory.program import allocated

NANO = 1e-9
CALL = 0.3e-6
"""The seconds of a call of nameexpr, not counting the steps of its program."""
UNITS = (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0))
LONG_UNITS = (("years", 365.25 * 86_400), ("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0))
MOST = 1e6 * LONG_UNITS[0][1]
"""The seconds from which a time is a power of ten of years."""
LEAST = 0.1
"""The smallest number that is shown with a unit."""


def estimate_seconds(
    program: Program,
    shapes: Sequence[Shape],
    given: Sequence[OperandLayout] = (),
    profile: Profile = GENERIC,
) -> tuple[float, ...]:
    """Return the seconds that each instruction is expected to take.

    Parameters
    ----------
    program : Program
        The program.
    shapes : sequence of tuple of int
        Shapes of all its values.
    given : sequence of OperandLayout, optional
        Dtypes and strides of the operands; by default float64, and row-major.
    profile : Profile, optional
        The machine.

    Examples
    --------
    >>> from nameexpr.compiler.ir.program import Note
    >>> turned = Instruction("transpose", (0,), axes=(1, 0))
    >>> turned = Program(((2, 3),), (turned,), (Note(("b", "a"), "float64", None),), 1, False)
    >>> [f"{seconds:.2g}" for seconds in estimate_seconds(turned, ((2, 3), (3, 2)))]
    ['1e-07']
    """
    return tuple(cost * NANO for cost in _costs(NumpyCosts(profile), program, shapes, given))


def _costs(
    costs: NumpyCosts, program: Program, shapes: Sequence[Shape], given: Sequence[OperandLayout]
) -> list[float]:
    dtypes = [layout.dtype for layout in layouts_or_default(given, program.operands)]
    dtypes += [note.dtype for note in program.notes]
    strides = strides_of(program, shapes, given)
    arrays = [Strided(*facts) for facts in zip(shapes, strides, map(strong, dtypes), strict=True)]
    sizes = allocated(program, shapes, given)
    every = []
    for number, instruction in enumerate(program.instructions):
        sources, result = (
            [arrays[source] for source in instruction.sources],
            arrays[len(program.operands) + number],
        )
        rule = LOOPS.get(instruction.primitive, instruction_cost)
        cost = rule(costs, instruction, sources, result)
        every.append(cost + pages_cost(costs.profile, sizes[number]))
    return every


def _loop(costs: NumpyCosts, instruction: Instruction, sources: Sequence[Strided], result: Strided) -> float:
    """Return the cost of all parts: a body reads parts, and its result is placed."""
    loop, profile = instruction.loop, costs.profile
    assert loop is not None
    layouts = [
        OperandLayout(source.dtype, source.strides[loop.leading(number) :])
        for number, source in enumerate(sources)
    ]
    if not loop.block:
        body = fsum(_costs(costs, loop.body, shapes_of(loop.body), layouts))
        calls = (TURN + PART * (1 + loop.parts)) * profile.per_call
        return MADE * profile.per_call + loop.turns * (calls + body)
    cost = MADE * profile.per_call + memory_cost(profile, result.size)
    whole = loop.sizes[0] // loop.block
    for program, count in zip(loop.bodies, (whole, 1), strict=False):
        shapes = shapes_of(program)
        added = ufunc_cost(profile, "add")
        placing = fsum([added + profile.copy_cell * prod(shapes[one]) for one in program.outputs])
        calls = (TURN + PART * loop.parts) * profile.per_call
        cost += count * (calls + placing + fsum(_costs(costs, program, shapes, layouts)))
    return cost


def _recurrence(
    costs: NumpyCosts, instruction: Instruction, sources: Sequence[Strided], result: Strided
) -> float:
    """Return the cost of all steps: each takes parts and rows, and writes a row of every array."""
    steps = instruction.recurrence
    assert steps is not None
    own = [OperandLayout(source.dtype) for source in sources[steps.count :]]
    own += [OperandLayout(steps.body.notes[-1].dtype)] * len(steps.reads)
    body, profile = fsum(_costs(costs, steps.body, shapes_of(steps.body), own)), costs.profile
    parts = sum(steps.cut) + len(steps.reads) + len(steps.body.outputs)
    calls = (TURN + PART * parts) * profile.per_call
    return MADE * profile.per_call + memory_cost(profile, result.size) + steps.length * (calls + body)


LOOPS = {"loop": _loop, "recurrence": _recurrence}
"""The costs of instructions that run a program."""


def duration(seconds: float) -> str:
    """Return a time for display, with two digits and its unit; from a minute on, in the units of clocks.

    Examples
    --------
    >>> duration(1.26e-3), duration(1.5e-7), duration(0.0996e-3), duration(34.0)
    ('1.3 ms', '0.15 us', '0.10 ms', '34 s')
    >>> duration(214.0), duration(5400.0), duration(1e6), duration(1e10)
    ('3.6 minutes', '1.5 hours', '12 days', '320 years')
    """
    if seconds <= 0:
        return "0 us"
    rounded = float(f"{seconds:.1e}")
    units = (pair for pair in reversed(UNITS[1:]) if rounded >= LEAST * pair[1] * (1 - 1e-9))
    unit, scale = next((pair for pair in LONG_UNITS if seconds >= pair[1]), None) or next(units, UNITS[0])
    if seconds >= MOST:
        from nameexpr.pictures.words import power  # late: no program takes that long

        return f"{power(int(seconds / scale))} {unit}"
    number = float(f"{seconds / scale:.2g}")
    if number == 1 and scale > 1:
        return f"1 {unit[:-1]}"
    if number >= 10:  # noqa: PLR2004  both digits are before the point
        return f"{number:,.0f} {unit}"
    return f"{number:.1f} {unit}" if number >= 1 else f"{number:.2f} {unit}"
