"""A fused instruction as NumPy: nested loops over blocks, the functions of one block in between.

Names are the block's own: `i0` is where it starts along an axis, `x0` the part of a source, `b0` a value,
`r` what is reduced.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.backends.numpy.codegen.calls import LETTERS, axes_text, filled
from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    Attribute,
    Callee,
    Conditional,
    Statement,
    Subscript,
    Value,
    callee_of,
    delete,
    nested,
    numpy,
    quoted,
)
from nameexpr.compiler.ir.liveness import COMBINED, WHERE, WIDENED, accumulator, buffers, is_inner_product
from nameexpr.compiler.ir.program import Instruction

Shape = tuple[int, ...]


def fused(one: Instruction, target: str, names: Sequence[str], shapes: Sequence[Shape]) -> list[Statement]:
    """Return the statements that compute a fused instruction into a new array called `target`."""
    kept = [axis for axis in range(len(one.shape)) if axis not in one.axes]
    tiled = [axis for axis, (size, tile) in enumerate(zip(one.shape, one.tiles, strict=True)) if tile < size]
    fresh: Value = numpy("empty")(str(tuple(one.shape[axis] for axis in kept)), quoted(accumulator(one)))
    if one.over is not None:
        fresh = names[one.over]
    body = _block(one, names, shapes, tiled, Subscript(target, _index(kept, one, tiled)))
    loops = [(f"i{axis}", f"0, {one.shape[axis]}, {one.tiles[axis]}") for axis in tiled]
    local = [each.target for each in body if isinstance(each, Assign) and isinstance(each.target, str)]
    statements = [Assign(target, fresh), *nested(loops, body), *delete(local)]
    if one.function == "mean":
        count = prod(one.shape[axis] for axis in one.axes)
        statements.append(Assign(None, numpy("true_divide")(target, str(count), out=target)))
    if accumulator(one) != one.dtype:
        statements.append(Assign(target, Attribute(target, "astype")(quoted(one.dtype))))
    return statements


def _index(axes: Sequence[int], one: Instruction, tiled: Sequence[int], shape: Shape | None = None) -> str:
    """Return the index of the present block in an array that has these axes."""
    parts = []
    for axis in axes:
        is_cut = axis in tiled and (shape is None or shape[axis] != 1)
        parts.append(f"i{axis} : i{axis} + {one.tiles[axis]}" if is_cut else ":")
    while parts and parts[-1] == ":":
        parts.pop()
    return ", ".join(parts) or "..."


def _block(
    one: Instruction, names: Sequence[str], shapes: Sequence[Shape], tiled: Sequence[int], place: Subscript
) -> list[Statement]:
    """Return the statements of one block, which put what it gives at `place`."""
    statements: list[Statement] = []
    local: list[str] = []
    for number, (name, shape) in enumerate(zip(names, shapes, strict=True)):
        index = _index(range(len(one.shape)), one, tiled, shape) if shape else "..."
        local.append(name if index == "..." else f"x{number}")
        if index != "...":
            statements.append(Assign(f"x{number}", Subscript(name, index)))
    local += [f"b{number}" for number in range(len(one.steps))]
    varies, overs, home = buffers(one, shapes)
    for number, step in enumerate(one.steps):
        is_final = not one.function and home is None and number == len(one.steps) - 1
        if is_final and step.takes_out and step.dtype == one.dtype:
            return [*statements, Assign(None, _step(step, local, place))]
        over = overs[number]
        out: Value | None = place if number == home else local[over] if over is not None else None
        statements.append(Assign(local[len(names) + number], _step(step, local, out)))
    if one.function:
        return statements + _reduction(one, [local[factor] for factor in one.factors], varies, tiled, place)
    return statements if home is not None else [*statements, Assign(place, local[one.factors[0]])]


def _step(step: Instruction, local: Sequence[str], out: Value | None) -> Value:
    """Return the call of one function of a block; a choice writes over its second argument."""
    sources = [local[source] for source in step.sources]
    if step.primitive == "cast":
        return Attribute(sources[0], "astype")(quoted(step.dtype))
    arguments = filled(step, sources)
    if step.function == WHERE and out is not None:
        return Callee("formulas", "where_over")(*arguments)
    return callee_of(step.function)(*arguments, out=out)


def _reduction(
    one: Instruction,
    factors: Sequence[str],
    varies: Sequence[frozenset[int] | None],
    tiled: Sequence[int],
    place: Subscript,
) -> list[Statement]:
    """Return the statements that reduce a block, and put it together with the blocks before."""
    axes, dtype = axes_text(one.axes), quoted(accumulator(one))
    if one.function not in COMBINED:
        return [Assign(place, Callee("kernels", one.function)(factors[0], axes))]
    combine = COMBINED[one.function]
    if len(factors) > 1:
        call = _product(one, factors, [varies[factor] for factor in one.factors])
    elif one.function == "count_nonzero":
        call = numpy("count_nonzero")(factors[0], axis=axes)
    else:
        reduce = numpy(f"{combine}.reduce")
        call = reduce(factors[0], axis=axes, dtype=dtype if one.function in WIDENED else None)
    cut = [axis for axis in one.axes if axis in tiled]
    if not cut:
        return [Assign(place, call)]
    is_first = " and ".join(f"i{axis} == 0" for axis in cut)
    return [Assign("r", call), Assign(place, Conditional("r", is_first, numpy(combine)(place, "r")))]


def _product(one: Instruction, factors: Sequence[str], varies: Sequence[frozenset[int] | None]) -> Value:
    """Return the sum of products: by BLAS along the last axis, or in one pass of NumPy's C loop."""
    last = len(one.shape) - 1
    dtype = quoted(accumulator(one))
    if is_inner_product(one, [axes and last in axes for axes in varies]):
        return numpy("vecdot")(*factors, dtype=dtype)
    letters = LETTERS[: len(one.shape)]
    kept = "".join(letter for axis, letter in enumerate(letters) if axis not in one.axes)
    pattern = ",".join("" if axes is None else letters for axes in varies) + "->" + kept
    return numpy("einsum")(quoted(pattern), *factors, dtype=dtype, casting=quoted("unsafe"))
