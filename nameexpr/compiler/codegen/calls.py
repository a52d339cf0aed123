"""One instruction as a NumPy expression, in the names of its sources."""

from __future__ import annotations

import string
from collections.abc import Sequence
from math import isfinite, prod

from nameexpr.backends.numpy import spelled
from nameexpr.compiler.codegen.blocks import literal
from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.loops import Looped, Sliced
from nameexpr.compiler.ir.program import (
    AlongAxes,
    Apply,
    Arange,
    AsComplex,
    AsReal,
    Cast,
    Constant,
    Copy,
    Diagonal,
    Divide,
    Dot,
    Einsum,
    Embed,
    Full,
    Fused,
    Instruction,
    IntegerMatmul,
    Matmul,
    Multiply,
    Ones,
    Pointwise,
    Reduce,
    Repeat,
    Reshape,
    Slices,
    Step,
    Sum,
    Transpose,
    Vecdot,
)
from nameexpr.ops import REDUCTIONS


def render_call(instruction: Instruction, sources: Sequence[str]) -> str:
    """Return the NumPy expression of one instruction."""
    match instruction:
        case Multiply() | Dot() | Vecdot() | Matmul() | IntegerMatmul() | Einsum():
            return _product(instruction, sources)
        case Ones(shape, dtype):
            return f'np.ones({shape}, dtype="{dtype}")'
        case Full(shape, value, dtype):
            number = literal(value) if isfinite(value) else f'float("{value}")'
            return f"np.full({shape}, {number}{_option('dtype', dtype or None)})"
        case Sum() | Slices() | Reduce() | Apply() | Divide():
            return _reduction(instruction, sources[0])
        case Constant() | Arange() | Pointwise() | AlongAxes():
            return _formula_call(instruction, sources)
        case Fused():
            return "blocks of " + ", ".join(dict.fromkeys(map(_spelled_step, instruction.steps)))
        case Sliced(_, _, counts, inner):
            return f"{prod(counts)} slices of {len(inner.instructions)} steps"
        case Looped():
            return f"{instruction.count} blocks of {instruction.block} along {shown(instruction.label)}"
        case _:
            return _movement(instruction, sources[0])


def _spelled_step(step: Step) -> str:
    return step.call if step.call == "cast" else spelled(step.call)


def render_streamed(instruction: Dot | Matmul, source: str, dtype: str) -> str:
    """Return the product of an array with ones that are never made (`ir.program.streamed`)."""
    is_stack = ", is_stack=True" if isinstance(instruction, Matmul) else ""
    return f'kernels.add_up({source}, "{dtype}"{is_stack})'


def _product(
    instruction: Multiply | Dot | Vecdot | Matmul | IntegerMatmul | Einsum, sources: Sequence[str]
) -> str:
    match instruction:
        case Multiply(_, _, dtype):
            return f"np.multiply({', '.join(sources)}{_option('dtype', dtype)})"
        case Dot():
            return f"{sources[0]}.dot({sources[1]})"
        case Matmul():
            return f"np.matmul({sources[0]}, {sources[1]})"
        case Vecdot():
            return f"np.vecdot({sources[0]}, {sources[1]})"
        case IntegerMatmul(_, _, dtype):
            return f'kernels.integer_matmul({sources[0]}, {sources[1]}, "{dtype}")'
        case Einsum(_, letters, result):
            pattern = ",".join(map(_word, letters)) + "->" + _word(result)
            return f'np.einsum("{pattern}", {", ".join(sources)})'


def _formula_call(instruction: Constant | Arange | Pointwise | AlongAxes, sources: Sequence[str]) -> str:
    match instruction:
        case Constant(value):
            return f"np.asarray({literal(value)})"
        case Arange(size):
            return f"np.arange({size})"
        case AlongAxes(function, _, axes, _, over):
            return f"formulas.{function}({sources[0]}, {_axes(axes)}{', over=True' if over else ''})"
        case Pointwise():
            return _pointwise(instruction, sources)


def _pointwise(one: Pointwise, sources: Sequence[str]) -> str:
    given = iter(sources)
    arguments = [next(given) if constant is None else literal(constant.value) for constant in one.constants]  # type: ignore[attr-defined]
    listed = ", ".join(arguments)
    if one.is_weak:
        return f"formulas.fold({spelled(one.call)}, {listed})"
    if one.over is None:
        return f"{spelled(one.call)}({listed})"
    if not one.is_ufunc:
        return f"formulas.where_over({listed})"
    return f"{spelled(one.call)}({listed}, out={sources[one.sources.index(one.over)]})"


def _movement(instruction: Instruction, source: str) -> str:
    match instruction:
        case Cast(_, dtype):
            return f'{source}.astype("{dtype}")'
        case Reshape(_, shape):
            return f"{source}.reshape({shape})"
        case Transpose(_, axes):
            return f"{source}.T" if axes == (1, 0) else f"{source}.transpose({axes})"
        case AsReal() | AsComplex():
            return f"kernels.{'as_real' if isinstance(instruction, AsReal) else 'as_complex'}({source})"
        case Diagonal(_, letters) if max(letters) < len(string.ascii_letters):
            return f'np.einsum("{_word(letters)}->{_word(tuple(dict.fromkeys(letters)))}", {source})'
        case Diagonal(_, letters):
            return f"kernels.diagonal({source}, {letters})"
        case Repeat(_, shape):
            return f"copies.repeated({source}, {shape})"
        case Embed(_, shape, letters):
            return f"kernels.embed({source}, {shape}, {letters})"
        case Copy(_, is_large, is_lax):
            name = "row_major" if is_lax else "contiguous"
            return f"copies.{name}({source})" if is_large or is_lax else f"{source}.copy()"
    raise AssertionError(f"no rule for {instruction}")


def _reduction(instruction: Sum | Slices | Reduce | Apply | Divide, source: str) -> str:
    match instruction:
        case Sum(_, axes, dtype):
            return f"np.add.reduce({source}, axis={_axes(axes)}{_option('dtype', dtype)})"
        case Slices(_, reducer, axes):
            return f"kernels.slices(np.{REDUCTIONS[reducer].combine}, {source}, {axes})"
        case Reduce(_, reducer, count, dtype) if REDUCTIONS[reducer].combine:
            ufunc = f"np.{REDUCTIONS[reducer].combine}"
            return f"{ufunc}.reduce({source}, axis={_last(count)}{_option('dtype', dtype)})"
        case Reduce(_, reducer, count):
            return f"kernels.{reducer}({source}, {_last(count)})"
        case Apply():
            return f"kernels.apply(reduce, {source})"
        case Divide(_, count):
            return f"np.true_divide({source}, {count})"


def _axes(axes: tuple[int, ...]) -> str:
    return str(axes[0]) if len(axes) == 1 else str(axes)


def _last(count: int) -> str:
    return _axes(tuple(range(-count, 0)))


def _option(name: str, value: str | None) -> str:
    return f', {name}="{value}"' if value else ""


def _word(letters: tuple[int, ...]) -> str:
    return "".join(string.ascii_letters[letter] for letter in letters)
