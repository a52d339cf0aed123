"""A fused instruction as NumPy: nested loops over blocks, the functions of one block in between.

Inside a block a function writes over an earlier value that is dead, of the same dtype, and varies over the
same axes; the last one writes into the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan

from nameexpr.backends.numpy import spelled
from nameexpr.compiler.ir.liveness import COMBINE, WHERE, WIDENED, accumulator, buffers, is_inner_product
from nameexpr.compiler.ir.program import Instruction


def literal(value: object) -> str:
    """Return a number as source: repr, but for those that Python has no literal of."""
    if isinstance(value, complex):
        return f"complex({literal(value.real)}, {literal(value.imag)})"
    if isinstance(value, float) and not isfinite(value):
        return "np.nan" if isnan(value) else "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def fused_lines(
    one: Instruction, target: str, names: Sequence[str], shapes: Sequence[tuple[int, ...]]
) -> list[str]:
    """Return the statements that compute a fused instruction into a new array called `target`."""
    kept = tuple(size for axis, size in enumerate(one.shape) if axis not in one.axes)
    lines = [f'{target} = np.empty({kept}, "{accumulator(one)}")']
    if one.over is not None:
        lines = [f"{target} = {names[one.over]}"]
    tiled = [axis for axis, (size, tile) in enumerate(zip(one.shape, one.tiles, strict=True)) if tile < size]
    indent = ""
    for axis in tiled:
        lines.append(f"{indent}for i{axis} in range(0, {one.shape[axis]}, {one.tiles[axis]}):")
        indent += "    "
    place = _index([axis for axis in range(len(one.shape)) if axis not in one.axes], one, tiled)
    body = _block(one, names, shapes, tiled, f"{target}[{place}]")
    lines += [indent + line for line in body]
    lines += _forgotten(body)
    if one.function == "mean":
        count = 1
        for axis in one.axes:
            count *= one.shape[axis]
        lines.append(f"np.true_divide({target}, {count}, out={target})")
    if accumulator(one) != one.dtype:
        lines.append(f'{target} = {target}.astype("{one.dtype}")')
    return lines


def _forgotten(body: Sequence[str]) -> list[str]:
    """Return the statement that forgets what the last block leaves: its values, and parts of arrays."""
    names = dict.fromkeys(line.partition(" = ")[0] for line in body if " = " in line)
    local = [name for name in names if name[0] in "xbr" and "[" not in name]
    return [f"del {', '.join(local)}"] if local else []


def _index(
    axes: Sequence[int], one: Instruction, tiled: Sequence[int], shape: Sequence[int] | None = None
) -> str:
    """Return the index of the present block in an array that has these axes."""
    parts = []
    for axis in axes:
        is_cut = axis in tiled and (shape is None or shape[axis] != 1)
        parts.append(f"i{axis} : i{axis} + {one.tiles[axis]}" if is_cut else ":")
    while parts and parts[-1] == ":":
        parts.pop()
    return ", ".join(parts) or "..."


def _block(
    one: Instruction,
    names: Sequence[str],
    shapes: Sequence[tuple[int, ...]],
    tiled: Sequence[int],
    place: str,
) -> list[str]:
    lines: list[str] = []
    local: list[str] = []
    for number, (name, shape) in enumerate(zip(names, shapes, strict=True)):
        index = _index(range(len(one.shape)), one, tiled, shape) if shape else "..."
        local.append(name if index == "..." else f"x{number}")
        if index != "...":
            lines.append(f"x{number} = {name}[{index}]")
    local += [f"b{number}" for number in range(len(one.steps))]
    varies, overs, home = buffers(one, shapes)
    for number, step in enumerate(one.steps):
        me = len(names) + number
        is_final = not one.function and number == len(one.steps) - 1
        if is_final and home is None and step.takes_out and step.dtype == one.dtype:
            lines.append(_call(step, local, place))
            return lines
        if number == home:
            lines.append(f"{local[me]} = {_call(step, local, place)}")
            continue
        over = overs[number]
        if over is not None and step.function == WHERE:
            lines.append(f"{local[me]} = {_where_over(step, local)}")
            continue
        lines.append(f"{local[me]} = {_call(step, local, local[over] if over is not None else None)}")
    value = local[one.factors[0]]
    if not one.function:
        return lines if home is not None else [*lines, f"{place} = {value}"]
    return lines + _reduction(one, [local[factor] for factor in one.factors], varies, tiled, place)


def _where_over(step: Instruction, local: Sequence[str]) -> str:
    return "formulas.where_over" + _call(step, local, None).removeprefix(spelled(step.function))


def _call(step: Instruction, local: Sequence[str], out: str | None) -> str:
    sources = [local[source] for source in step.sources]
    if step.primitive == "cast":
        return f'{sources[0]}.astype("{step.dtype}")'
    given = iter(sources)
    arguments = [next(given) if constant is None else literal(constant) for constant in step.constants]
    return f"{spelled(step.function)}({', '.join(arguments)}{f', out={out}' if out else ''})"


def _reduction(
    one: Instruction,
    factors: Sequence[str],
    varies: Sequence[frozenset[int] | None],
    tiled: Sequence[int],
    place: str,
) -> list[str]:
    axes = str(one.axes[0]) if len(one.axes) == 1 else str(one.axes)
    parts = [axis for axis in one.axes if axis in tiled]
    if one.function not in COMBINE:
        return [f"{place} = kernels.{one.function}({factors[0]}, {axes})"]
    ufunc = f"np.{COMBINE[one.function]}"
    dtype = f', dtype="{accumulator(one)}"' if one.function in WIDENED else ""
    if len(factors) > 1:
        call = _product(one, factors, [varies[place] for place in one.factors])
    elif one.function == "count_nonzero":
        call = f"np.count_nonzero({factors[0]}, axis={axes})"
    else:
        call = f"{ufunc}.reduce({factors[0]}, axis={axes}{dtype})"
    if not parts:
        return [f"{place} = {call}"]
    first = " and ".join(f"i{axis} == 0" for axis in parts)
    return [
        f"r = {call}",
        f"{place} = r if {first} else {ufunc}({place}, r)",
    ]


def _product(one: Instruction, factors: Sequence[str], varies: Sequence[frozenset[int] | None]) -> str:
    """Return the sum of products: by BLAS along the last axis, or in one pass of NumPy's C loop."""
    last = len(one.shape) - 1
    dtype = accumulator(one)
    if is_inner_product(one, [axes and last in axes for axes in varies]):
        return f'np.vecdot({", ".join(factors)}, dtype="{dtype}")'
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(one.shape)]
    kept = "".join(letter for axis, letter in enumerate(letters) if axis not in one.axes)
    pattern = ",".join("" if axes is None else letters for axes in varies) + "->" + kept
    return f'np.einsum("{pattern}", {", ".join(factors)}, dtype="{dtype}", casting="unsafe")'
