"""Operands that are the same array: the plan and the program that compute what they have in common once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from nameexpr.compiler.compilation import Options
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.liveness import renumbered
from nameexpr.compiler.ir.nodes import View, Window
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Note, Program, Shape
from nameexpr.compiler.lowering.builder import Operands
from nameexpr.compiler.lowering.lower import Planner
from nameexpr.compiler.planning.path import is_our_own
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.compiler.schedule.cse import best_shared, calls, share
from nameexpr.records import replace

Plans = tuple[ContractionPlan, ...]
TINY = 8
"""The largest number of rows of a matrix that is copied before it is multiplied by itself."""
MANY = 8
"""The least number of these matrices."""
MOST = 1 << 17
"""The largest number of their elements: a larger copy takes longer than it saves."""


def share_operands(
    graph: Graph,
    operands: Operands,
    options: Options,
    program: Program,
    plans: Plans,
    lowered: Callable[[Planner], tuple[Program, Plans]],
    is_contraction: bool,
) -> tuple[Program, Plans, tuple[int, ...]]:
    """Return the program that computes equal values of equal operands once, its plans, and which operands
    are equal; the program unchanged if nothing is shared.
    """
    if not is_contraction:
        once = share(program, options.same)
        return (once, plans, options.same) if calls(once) < calls(program) else (program, plans, ())
    (plan,) = plans
    tried = [(plan, program)]
    is_read = any(isinstance(node, Window) for node in graph.nodes)  # its factors are not its operands
    if is_our_own(options.optimize) and len(options.same) > 3 and not is_read:  # noqa: PLR2004  two pairs
        from nameexpr.compiler.planning.repeated import plan_repeated

        axes = [node.axes for node in graph.nodes if isinstance(node, View)]
        other = plan_repeated(plan, axes, options.same)
        if other is not None:
            tried.append((other, lowered(lambda *_: other)[0]))
    shared = best_shared(tried, options.same, options.memory_limit, operands.given)
    chosen, once = shared or (plan, share(program, options.same))
    copied = once if options.memory_limit is not None else _with_tiny_copies(once)
    if shared is None and copied is once:
        return program, plans, ()
    return copied, (chosen,), options.same


def _with_tiny_copies(program: Program) -> Program:
    """Return the program with copies of tiny matrices that are multiplied by themselves, transposed: for
    these BLAS has a function that takes up to twice as long as a product of two.
    """
    shapes, count = shapes_of(program), len(program.operands)
    numbers, instructions, notes = dict(enumerate(range(count))), list[Instruction](), list[Note]()
    for value, (instruction, note) in enumerate(zip(program.instructions, program.notes, strict=True), count):
        moved = renumbered(instruction, numbers)
        if _is_tiny_square(program, instruction, shapes, shapes[value]):
            left, right = moved.sources
            notes.append(program.notes[instruction.sources[1] - count])
            instructions.append(Instruction("copy", (right,)))
            moved = moved._replace(sources=(left, count + len(instructions) - 1))
        numbers[value] = count + len(instructions)
        instructions.append(moved)
        notes.append(note)
    if len(instructions) == len(program.instructions):
        return program
    results = tuple([numbers[result] for result in program.results])
    rest = {"result": numbers[program.result], "results": results}
    return replace(program, instructions=tuple(instructions), notes=tuple(notes), **rest)


def _is_tiny_square(
    program: Program, instruction: Instruction, shapes: Sequence[Shape], shape: Shape
) -> bool:
    """Return whether an instruction multiplies many tiny matrices by themselves, transposed."""
    if instruction.primitive != "matmul" or shape[-1] > TINY or prod(shape[:-2]) < MANY:
        return False
    left, right = instruction.sources
    if prod(shapes[right]) > MOST:
        return False
    turned = right - len(program.operands)
    if turned < 0 or program.instructions[turned].primitive != "transpose":
        return False
    first = program.instructions[turned]
    axes = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
    return first.sources == (left,) and first.axes == axes
