"""A fused instruction as NumPy code: nested loops over blocks, with the functions of one block inside.

The names are local to the block: `i0` is its start along an axis, `x0` the part of a source, `b0` a value,
`r` the reduced value.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from nameexpr.backends.numpy.codegen.calls import LETTERS, axes_text, chosen, filled
from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    Callee,
    Dtype,
    Joined,
    Return,
    Statement,
    Value,
    callee_of,
    delete,
    either,
    indexed,
    method,
    nested,
    numpy,
    quoted,
)
from nameexpr.compiler.ir.liveness import COMBINED, WHERE, WIDENED, accumulator, buffers, is_inner_product
from nameexpr.compiler.ir.program import Instruction

if TYPE_CHECKING:
    from nameexpr.backends.numpy.threads.gain import Spread

Shape = tuple[int, ...]


def fused(
    block: Instruction,
    target: str,
    names: Sequence[str],
    shapes: Sequence[Shape],
    place: Value | None = None,
    spread: Spread | None = None,
) -> list[Statement]:
    """Return the statements that compute a fused instruction into a new array called `target`, or into a part
    of another one; if it is `spread`, over threads.
    """
    kept = [axis for axis in range(len(block.shape)) if axis not in block.axes]
    tiled = [
        axis for axis, (size, tile) in enumerate(zip(block.shape, block.tiles, strict=True)) if tile < size
    ]
    fresh: Value = numpy("empty")(str(tuple(block.shape[axis] for axis in kept)), Dtype(accumulator(block)))
    if block.over is not None or place is not None:
        fresh = names[block.over] if block.over is not None else place or fresh
    body = _block(block, names, shapes, tiled, indexed(target, _index(kept, block, tiled)))
    if spread is None:
        local = [each.target for each in body if isinstance(each, Assign) and isinstance(each.target, str)]
        statements = [Assign(target, fresh), *nested(_loops(block, tiled), body), *delete(local)]
    else:
        statements = [Assign(target, fresh), *_over_threads(block, target, tiled, body, spread)]
    if block.function == "mean":
        count = prod(block.shape[axis] for axis in block.axes)
        statements.append(Assign(None, numpy("true_divide")(target, str(count), out=target)))
    if accumulator(block) != block.dtype:
        statements.append(Assign(target, method(target, "astype", Dtype(block.dtype))))
    return statements


def _loops(block: Instruction, axes: Sequence[int]) -> list[tuple[str, str]]:
    """Return the index and the range of the loops over blocks along these axes."""
    return [(f"i{axis}", f"0, {block.shape[axis]}, {block.tiles[axis]}") for axis in axes]


def _over_threads(
    block: Instruction, target: str, tiled: Sequence[int], body: list[Statement], spread: Spread
) -> list[Statement]:
    """Return the statements that compute the blocks over threads.

    What blocks along reduced axes contribute is added in one thread, in their order: the blocks of other axes
    are distributed, or all of them, and what they contribute is kept and added at the end.
    """
    from nameexpr.backends.numpy.codegen.spread import blocks_over_threads

    inner = [axis for axis in tiled if axis in block.axes and not spread.keeps_partials]
    outer = [axis for axis in tiled if axis not in inner]
    last: list[Statement] = []
    if spread.keeps_partials:
        *body, reduced, combined = body
        assert isinstance(reduced, Assign), "a block ends with its reduction"
        body, last = [*body, Return((reduced.value,))], [combined]
    starts = [(f"i{axis}", block.shape[axis], block.tiles[axis]) for axis in outer]
    statements = nested(_loops(block, inner), body)
    return blocks_over_threads(target, spread.threads, starts, statements, last)


def _index(axes: Sequence[int], block: Instruction, tiled: Sequence[int], shape: Shape | None = None) -> str:
    """Return the index of the current block in an array with these axes."""
    parts = []
    for axis in axes:
        is_cut = axis in tiled and (shape is None or shape[axis] != 1)
        parts.append(f"i{axis} : i{axis} + {block.tiles[axis]}" if is_cut else ":")
    while parts and parts[-1] == ":":
        parts.pop()
    return ", ".join(parts) or "..."


def _block(
    block: Instruction,
    names: Sequence[str],
    shapes: Sequence[Shape],
    tiled: Sequence[int],
    place: Joined,
) -> list[Statement]:
    """Return the statements of one block, which write its result to `place`."""
    statements: list[Statement] = []
    local: list[str] = []
    for number, (name, shape) in enumerate(zip(names, shapes, strict=True)):
        index = _index(range(len(block.shape)), block, tiled, shape) if shape else "..."
        local.append(name if index == "..." else f"x{number}")
        if index != "...":
            statements.append(Assign(f"x{number}", indexed(name, index)))
    local += [f"b{number}" for number in range(len(block.steps))]
    varies, overs, home = buffers(block, shapes)
    for number, step in enumerate(block.steps):
        is_final = not block.function and home is None and number == len(block.steps) - 1
        if is_final and step.takes_out and step.dtype == block.dtype:
            return [*statements, Assign(None, _step(step, local, place))]
        over = overs[number]
        out: Value | None = place if number == home else local[over] if over is not None else None
        statements.append(Assign(local[len(names) + number], _step(step, local, out)))
    if block.function:
        return statements + _reduction(
            block, [local[factor] for factor in block.factors], varies, tiled, place
        )
    return statements if home is not None else [*statements, Assign(place, local[block.factors[0]])]


def _step(step: Instruction, local: Sequence[str], out: Value | None) -> Value:
    """Return the call of one function of a block; a choice writes over its second argument."""
    sources = [local[source] for source in step.sources]
    if step.primitive == "cast":
        return method(sources[0], "astype", Dtype(step.dtype))
    arguments = filled(step, sources)
    if step.function == WHERE and out is not None:
        return Callee("formulas", "where_over")(*arguments)
    return (chosen(step, arguments) if out is None else None) or callee_of(step.function)(*arguments, out=out)


def _reduction(
    block: Instruction,
    factors: Sequence[str],
    varies: Sequence[frozenset[int] | None],
    tiled: Sequence[int],
    place: Joined,
) -> list[Statement]:
    """Return the statements that reduce a block, and combine it with the previous blocks."""
    axes, dtype = axes_text(block.axes), Dtype(accumulator(block))
    if block.function not in COMBINED:
        return [Assign(place, Callee("kernels", block.function)(factors[0], axes))]
    combine = COMBINED[block.function]
    if len(factors) > 1:
        call = _product(block, factors, [varies[factor] for factor in block.factors])
    elif block.function == "count_nonzero":
        call = numpy("count_nonzero")(factors[0], axis=axes)
    else:
        reduce = numpy(f"{combine}.reduce")
        call = reduce(factors[0], axis=axes, dtype=dtype if block.function in WIDENED else None)
    cut = [axis for axis in block.axes if axis in tiled]
    if not cut:
        return [Assign(place, call)]
    is_first = " and ".join(f"i{axis} == 0" for axis in cut)
    return [Assign("r", call), Assign(place, either("r", is_first, numpy(combine)(place, "r")))]


def _product(block: Instruction, factors: Sequence[str], varies: Sequence[frozenset[int] | None]) -> Value:
    """Return the sum of products: by BLAS along the last axis, or in one pass of NumPy's C loop."""
    last = len(block.shape) - 1
    dtype = Dtype(accumulator(block))
    if is_inner_product(block, [axes and last in axes for axes in varies]):
        return numpy("vecdot")(*factors, dtype=dtype)
    letters = LETTERS[: len(block.shape)]
    kept = "".join(letter for axis, letter in enumerate(letters) if axis not in block.axes)
    pattern = ",".join("" if axes is None else letters for axes in varies) + "->" + kept
    return numpy("einsum")(quoted(pattern), *factors, dtype=dtype, casting=quoted("unsafe"))
