"""Which instructions of a program several threads share, by what they are expected to take.

Fused instructions and slices are shared block by block. Blocks that are added are kept until all those
before them have been, so that the order of additions does not depend on threads.

Products for which BLAS uses several threads are left to it, and so is what else a program with them computes
unless that takes long: threads of OpenBLAS that have nothing to do take their cores for a while.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, fsum, prod

from nameexpr.backends.numpy import target
from nameexpr.backends.numpy.costs.program import estimate_seconds
from nameexpr.backends.numpy.threads import parts
from nameexpr.backends.numpy.threads.chains import chains
from nameexpr.backends.numpy.threads.gain import Division, Sharing, Spread, sharing_on
from nameexpr.backends.numpy.threads.placing import bytes_of_parts, writes_into
from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.layouts import OperandLayout
from nameexpr.compiler.ir.liveness import accumulator, is_inner_product
from nameexpr.compiler.ir.normalising import block_of
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Loop, Program, Shape
from nameexpr.compiler.ir.slices import collected
from nameexpr.compiler.memory.arrays import Array
from nameexpr.compiler.memory.blocks import IN_FLOAT64, LOGISTIC
from nameexpr.compiler.memory.program import ProgramInfo, alive, info_of, moments
from nameexpr.compiler.memory.scratch import NORMALISING
from nameexpr.records import replace

STARTED = frozenset({"add", "logical_or", "multiply", "logical_and"})
"""Kernels that combine blocks with an array that is there from the beginning."""
IDLE = 0.1
"""The seconds that other steps must take for each product on several threads: those of OpenBLAS take the
cores for half of it before they sleep.
"""
ON_ONE, ON_ONE_VECTOR = 1 << 18, 9216
"""The multiplications up to which OpenBLAS computes a product on one thread: of two matrices, and of a vector
and another factor.
"""
SEVERAL = NORMALISING | IN_FLOAT64.keys() | LOGISTIC | {"clip"}
"""Functions that make several calls."""
REALS = frozenset({"float32", "float64"})
BY_BLAS = frozenset({"dot", "integer_matmul", "matmul", "scatter", "vecdot", "window_multiply"})
Shapes = Sequence[Shape]


def spread_over(
    program: Program,
    shapes: Shapes,
    given: Sequence[OperandLayout],
    threads: int,
    limit: int | None = None,
) -> dict[int, Spread]:
    """Return by number the instructions of a program that threads share, where that saves time.

    Parameters
    ----------
    program : Program
        The program.
    shapes : sequence of tuple of int
        Shapes of all its values.
    given : sequence of OperandLayout
        Dtypes and strides of the operands.
    threads : int
        The number of threads, with the calling one.
    limit : int, optional
        The bytes that may be allocated at once, not counting operands.
    """
    if threads < 2:  # noqa: PLR2004
        return {}
    profile = target.current().profile
    times, sharing = estimate_seconds(program, shapes, given, profile), sharing_on(profile, threads)
    numbers = range(0 if target.blas_threads() == 1 else len(times))
    by_blas = {number for number in numbers if _has_threads(program, shapes, number)}
    if fsum([time for number, time in enumerate(times) if number not in by_blas]) < IDLE * len(by_blas):
        return {}
    info = info_of(program, shapes, given)

    def is_eligible(number: int) -> bool:
        return _is_call(info, number) and number not in by_blas

    found = chains(info, times, sharing, is_eligible, limit)
    for number, (held, scratch, _) in enumerate(alive(info)):
        instruction = program.instructions[number]
        if number in found or number in by_blas:
            continue
        spread = shared(instruction, times[number], sharing)
        spread = spread or _shared_call(info, number, times[number], sharing)
        spread = spread or _shared_inside(info, number, times[number], sharing)
        if spread is None:
            continue
        if spread.part is None:
            each = scratch - results_bytes(instruction)
            spread = replace(spread, bytes=spread.bytes + (spread.threads - 1) * each)
        if limit is None or held + scratch + spread.bytes <= limit:
            found[number] = spread
    return found


def _shared_call(info: ProgramInfo, number: int, seconds: float, sharing: Sharing) -> Spread | None:
    """Return how threads share an instruction that is one call; None if they do not."""
    instruction, value = info.program.instructions[number], info.count + number
    result, sources = info.arrays[value], info.sources(number)
    is_chain = instruction.function in SEVERAL
    if not _is_call(info, number) or sharing.is_short(seconds, is_chain=is_chain):
        return None
    layout = parts.layout_of(result.shape, result.strides)
    if layout is None:
        return None
    wanted, threads = sharing.parts(seconds, is_chain=is_chain), sharing.threads
    axis, step, cuts = parts.parted(instruction, sources, result, layout, wanted, threads)
    spread = None if cuts is None else sharing.worth(seconds, ceil(result.shape[axis] / step))
    if spread is None or cuts is None:
        return None
    part = Division(axis, step, cuts, result.dtype, layout, writes_into(instruction))
    size = max(0, bytes_of_parts(info, number, spread.threads, part) - info.scratch_bytes(number))
    return replace(spread, part=part, bytes=size, last=number)


def _shared_inside(info: ProgramInfo, number: int, seconds: float, sharing: Sharing) -> Spread | None:
    """Return how threads share what is normalised in several blocks: three times, as the largest elements of
    all blocks are known before their sums, and these before the results; None if they do not.
    """
    instruction = info.program.instructions[number]
    if instruction.function not in NORMALISING or not _is_call(info, number):
        return None
    if sharing.is_short(seconds, is_chain=True):
        return None
    (source,), axes = info.sources(number), instruction.axes
    counts = [
        ceil(size / step)
        for size, step in zip(source.shape, block_of(source.shape, source.strides, axes), strict=True)
    ]
    blocks, size = prod([counts[axis] for axis in axes]), _kept_bytes(source, axes)
    if prod(counts) != blocks or blocks * size > sharing.partial_bytes:
        return None
    spread = replace(sharing, handed=3 * sharing.handed).worth(seconds, blocks)
    return None if spread is None else replace(spread, bytes=blocks * size, last=number)


def _kept_bytes(source: Array, axes: Sequence[int]) -> int:
    """Return the bytes of an array with one element for all along some axes."""
    kept = [size for axis, size in enumerate(source.shape) if axis not in axes]
    return prod(kept) * max(source.item, ITEM_BYTES["float32"])


def _is_call(info: ProgramInfo, number: int) -> bool:
    """Return whether an instruction is a call whose result is a new array of a known dtype."""
    instruction, value = info.program.instructions[number], info.count + number
    streamed = {source - info.count for source in instruction.sources} & info.unmade
    is_known = bool(info.arrays[value].dtype) and not instruction.is_weak
    return is_known and value not in info.placed and not streamed


def peak_bytes_over(
    program: Program, shapes: Shapes, given: Sequence[OperandLayout], spread: Mapping[int, Spread]
) -> int:
    """Return the most bytes that are alive at once if threads share instructions, not counting operands."""
    most = moments(info_of(program, shapes, given))
    return max([size + (spread[at].bytes if at in spread else 0) for at, size in enumerate(most)], default=0)


def calls_blas(instruction: Instruction) -> bool:
    """Return whether an instruction, or what it runs, multiplies matrices by BLAS."""
    if instruction.loop is not None:
        return any(calls_blas(inner) for body in instruction.loop.bodies for inner in body.instructions)
    if instruction.recurrence is not None:
        return any(map(calls_blas, instruction.recurrence.body.instructions))
    if instruction.primitive == "fused":
        return len(instruction.factors) > 1 and is_inner_product(instruction, [True, True])
    return instruction.primitive in BY_BLAS


def _has_threads(program: Program, shapes: Shapes, number: int) -> bool:
    """Return whether an instruction, or what it runs, is a product for which a BLAS that has several threads
    uses them: OpenBLAS computes small products of reals on one.
    """
    instruction = program.instructions[number]
    steps = instruction.recurrence
    bodies = [steps.body] if steps else instruction.loop.bodies if instruction.loop else ()
    if bodies:
        inner = [(body, shapes_of(body), at) for body in bodies for at in range(len(body.instructions))]
        return any(_has_threads(*one) for one in inner)
    if not calls_blas(instruction):
        return False
    if program.notes[number].dtype not in REALS or target.loaded_blas()[0] is None:
        return True
    left, value = shapes[instruction.sources[0]], len(program.operands) + number
    if instruction.primitive == "fused":
        return instruction.shape[-1] > ON_ONE_VECTOR
    if instruction.primitive == "vecdot":
        return left[-1] > ON_ONE_VECTOR
    if instruction.primitive not in {"dot", "matmul"}:
        return True
    every = shapes[value][-2:]
    is_matrix = len(every) == 2 and 1 not in every  # noqa: PLR2004
    return prod(every) * left[-1] > (ON_ONE if is_matrix else ON_ONE_VECTOR)


def shared(instruction: Instruction, seconds: float, sharing: Sharing) -> Spread | None:
    """Return how threads share an instruction that is expected to take `seconds` on one; None if they do
    not.
    """
    if instruction.primitive == "fused":
        return _shared_blocks(instruction, seconds, sharing)
    if instruction.loop is None:
        return None
    if not instruction.loop.block:
        return sharing.worth(seconds, instruction.loop.turns)
    return _shared_loop(instruction.loop, seconds, sharing)


def _shared_loop(loop: Loop, seconds: float, sharing: Sharing) -> Spread | None:
    """Return how threads share the blocks of a label; those of which the first one determines the dtype of a
    result stay on one thread.
    """
    if any(not one.dtype or (one.place is None and one.combine not in STARTED) for one in loop.results):
        return None
    shapes, count = shapes_of(loop.body), loop.sizes[0] // loop.block
    size = 0
    for one, output in zip(loop.results, loop.body.outputs, strict=True):
        if one.place is None:
            size += prod(shapes[output]) * ITEM_BYTES.get(one.dtype, 8) * count
    spread = sharing.worth(seconds, count) if size <= sharing.partial_bytes else None
    return None if spread is None else replace(spread, bytes=size)


def results_bytes(instruction: Instruction) -> int:
    """Return the bytes of the results of a loop that has several, which are counted with its blocks."""
    loop = instruction.loop
    if loop is None or len(loop.results) == 1:
        return 0
    every = shapes_of(loop.body)
    shapes = collected(loop, [every[output] for output in loop.body.outputs])
    sizes = [ITEM_BYTES.get(one.dtype, 8) for one in loop.results]
    return sum(prod(shape) * size for shape, size in zip(shapes, sizes, strict=True))


def _shared_blocks(block: Instruction, seconds: float, sharing: Sharing) -> Spread | None:
    """Return how threads share blocks: those of the axes that are kept, or all of them."""
    if sharing.is_short(seconds, is_chain=True):
        return None
    counts = [ceil(size / tile) if tile else 1 for size, tile in zip(block.shape, block.tiles, strict=True)]
    kept = prod(count for axis, count in enumerate(counts) if axis not in block.axes)
    spread = sharing.worth(seconds, kept)
    if kept == prod(counts) or (spread is not None and kept >= sharing.threads):
        return spread
    cells = prod(size for axis, size in enumerate(block.shape) if axis not in block.axes)
    size = cells * ITEM_BYTES.get(accumulator(block), 8) * prod(counts) // kept
    if size > sharing.partial_bytes:
        return spread
    spread = sharing.worth(seconds, prod(counts))
    return None if spread is None else replace(spread, keeps_partials=True, bytes=size)
