"""One instruction as a NumPy expression, in the names of its sources."""

from __future__ import annotations

import string
from collections.abc import Sequence
from math import isfinite

from nameexpr.backends.numpy import spelled
from nameexpr.compiler.codegen.blocks import literal
from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.ir.typed import shown
from nameexpr.ops import REDUCTIONS


def render_call(instruction: Instruction, sources: Sequence[str]) -> str:
    """Return the NumPy expression of one instruction."""
    match instruction.primitive:
        case "multiply" | "dot" | "vecdot" | "matmul" | "integer_matmul" | "einsum":
            return _product(instruction, sources)
        case "ones":
            return f'np.ones({instruction.shape}, dtype="{instruction.dtype}")'
        case "full":
            (value,) = instruction.constants
            assert isinstance(value, int | float)
            number = literal(value) if isfinite(value) else f'float("{value}")'
            return f"np.full({instruction.shape}, {number}{_option('dtype', instruction.dtype)})"
        case "sum" | "slices" | "reduce" | "apply" | "divide":
            return _reduction(instruction, sources[0])
        case "constant" | "arange" | "pointwise" | "along_axes":
            return _formula_call(instruction, sources)
        case "fused":
            return "blocks of " + ", ".join(dict.fromkeys(map(_spelled_step, instruction.steps)))
        case "loop":
            return _loop(instruction)
        case _:
            return _movement(instruction, sources[0])


def _loop(instruction: Instruction) -> str:
    loop = instruction.loop
    assert loop is not None
    if not loop.block:
        return f"{loop.turns} slices of {len(loop.body.instructions)} steps"
    return f"{loop.turns} blocks of {loop.block} along {shown(loop.label)}"


def _spelled_step(step: Instruction) -> str:
    return "cast" if step.primitive == "cast" else spelled(step.function)


def render_streamed(instruction: Instruction, source: str, dtype: str) -> str:
    """Return the product of an array with ones that are never made (`ir.liveness.never_made`)."""
    is_stack = ", is_stack=True" if instruction.primitive == "matmul" else ""
    return f'kernels.add_up({source}, "{dtype}"{is_stack})'


def _product(instruction: Instruction, sources: Sequence[str]) -> str:
    match instruction.primitive:
        case "multiply":
            return f"np.multiply({', '.join(sources)}{_option('dtype', instruction.dtype)})"
        case "dot":
            return f"{sources[0]}.dot({sources[1]})"
        case "integer_matmul":
            return f'kernels.integer_matmul({sources[0]}, {sources[1]}, "{instruction.dtype}")'
        case "einsum":
            *letters, result = instruction.letters
            pattern = ",".join(map(_word, letters)) + "->" + _word(result)
            return f'np.einsum("{pattern}", {", ".join(sources)})'
        case _:
            return f"np.{instruction.primitive}({sources[0]}, {sources[1]})"


def _formula_call(instruction: Instruction, sources: Sequence[str]) -> str:
    match instruction.primitive:
        case "constant":
            return f"np.asarray({literal(instruction.constants[0])})"
        case "arange":
            return f"np.arange({instruction.shape[0]})"
        case "along_axes":
            over = "" if instruction.over is None else ", over=True"
            return f"formulas.{instruction.function}({sources[0]}, {_axes(instruction.axes)}{over})"
        case _:
            return _pointwise(instruction, sources)


def _pointwise(one: Instruction, sources: Sequence[str]) -> str:
    given = iter(sources)
    arguments = [next(given) if constant is None else literal(constant) for constant in one.constants]
    listed = ", ".join(arguments)
    if one.is_weak:
        return f"formulas.fold({spelled(one.function)}, {listed})"
    if one.over is None:
        return f"{spelled(one.function)}({listed})"
    if not one.is_ufunc:
        return f"formulas.where_over({listed})"
    return f"{spelled(one.function)}({listed}, out={sources[one.over]})"


def _movement(instruction: Instruction, source: str) -> str:
    axes, shape = instruction.axes, instruction.shape
    match instruction.primitive:
        case "cast":
            return f'{source}.astype("{instruction.dtype}")'
        case "reshape":
            return f"{source}.reshape({shape})"
        case "transpose":
            return f"{source}.T" if axes == (1, 0) else f"{source}.transpose({axes})"
        case "as_real" | "as_complex":
            return f"kernels.{instruction.primitive}({source})"
        case "diagonal":
            letters, result = instruction.letters
            if max(letters) < len(string.ascii_letters):
                return f'np.einsum("{_word(letters)}->{_word(result)}", {source})'
            return f"kernels.diagonal({source}, {letters})"
        case "repeat":
            return f"copies.repeated({source}, {shape})"
        case "embed":
            return f"kernels.embed({source}, {shape}, {instruction.letters[1]})"
        case "copy":
            how = instruction.function
            return f"copies.{how}({source})" if how else f"{source}.copy()"
    raise AssertionError(f"no rule for {instruction}")


def _reduction(instruction: Instruction, source: str) -> str:
    axes, option = _axes(instruction.axes), _option("dtype", instruction.dtype)
    match instruction.primitive:
        case "sum":
            return f"np.add.reduce({source}, axis={axes}{option})"
        case "slices":
            return (
                f"kernels.slices(np.{REDUCTIONS[instruction.function].combine}, {source}, {instruction.axes})"
            )
        case "reduce":
            combine = REDUCTIONS[instruction.function].combine
            if combine:
                return f"np.{combine}.reduce({source}, axis={axes}{option})"
            return f"kernels.{instruction.function}({source}, {axes})"
        case "apply":
            return f"kernels.apply(reduce, {source})"
        case _:
            return f"np.true_divide({source}, {instruction.constants[0]})"


def _axes(axes: tuple[int, ...]) -> str:
    return str(axes[0]) if len(axes) == 1 else str(axes)


def _option(name: str, value: str) -> str:
    return f', {name}="{value}"' if value else ""


def _word(letters: tuple[int, ...]) -> str:
    return "".join(string.ascii_letters[letter] for letter in letters)
