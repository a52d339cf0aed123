"""A fused instruction as NumPy: nested loops over blocks, the functions of one block in between.

Inside a block a function writes over an earlier value that is dead, of the same dtype, and varies over the
same axes; the last one writes into the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan

from nameexpr.backends.numpy import spelled
from nameexpr.compiler.ir.program import Fused, Step, takes_out
from nameexpr.ops import REDUCTIONS

UFUNCS = {name: row.combine for name, row in REDUCTIONS.items() if row.combine} | {
    "mean": "add",
    "count_nonzero": "add",
}
WHERE = "where"
PAIR = 2
REAL = frozenset({"float32", "float64"})
WIDENED = frozenset({"sum", "mean", "prod"})


def literal(value: object) -> str:
    """Return a number as source: repr, but for those that Python has no literal of."""
    if isinstance(value, complex):
        return f"complex({literal(value.real)}, {literal(value.imag)})"
    if isinstance(value, float) and not isfinite(value):
        return "np.nan" if isnan(value) else "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def fused_lines(
    one: Fused, target: str, names: Sequence[str], shapes: Sequence[tuple[int, ...]]
) -> list[str]:
    """Return the statements that compute a fused instruction into a new array called `target`."""
    kept = tuple(size for axis, size in enumerate(one.shape) if axis not in one.reduced)
    lines = [f'{target} = np.empty({kept}, "{accumulator(one)}")']
    if one.over is not None:
        lines = [f"{target} = {names[one.sources.index(one.over)]}"]
    tiled = [axis for axis, (size, tile) in enumerate(zip(one.shape, one.tiles, strict=True)) if tile < size]
    indent = ""
    for axis in tiled:
        lines.append(f"{indent}for i{axis} in range(0, {one.shape[axis]}, {one.tiles[axis]}):")
        indent += "    "
    place = _index([axis for axis in range(len(one.shape)) if axis not in one.reduced], one, tiled)
    body = _block(one, names, shapes, tiled, f"{target}[{place}]")
    lines += [indent + line for line in body]
    lines += _forgotten(body)
    if one.reducer == "mean":
        count = 1
        for axis in one.reduced:
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


def accumulator(one: Fused) -> str:
    """Return the dtype in which blocks are added up."""
    return "float32" if one.dtype == "float16" and one.reducer in WIDENED else one.dtype


def _index(axes: Sequence[int], one: Fused, tiled: Sequence[int], shape: Sequence[int] | None = None) -> str:
    """Return the index of the present block in an array that has these axes."""
    parts = []
    for axis in axes:
        is_cut = axis in tiled and (shape is None or shape[axis] != 1)
        parts.append(f"i{axis} : i{axis} + {one.tiles[axis]}" if is_cut else ":")
    while parts and parts[-1] == ":":
        parts.pop()
    return ", ".join(parts) or "..."


def _block(
    one: Fused, names: Sequence[str], shapes: Sequence[tuple[int, ...]], tiled: Sequence[int], place: str
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
        is_final = one.reducer is None and number == len(one.steps) - 1
        if is_final and home is None and takes_out(step) and step.dtype == one.dtype:
            lines.append(_call(step, local, place))
            return lines
        if number == home:
            lines.append(f"{local[me]} = {_call(step, local, place)}")
            continue
        over = overs[number]
        if over is not None and step.call == WHERE:
            lines.append(f"{local[me]} = {_where_over(step, local)}")
            continue
        lines.append(f"{local[me]} = {_call(step, local, local[over] if over is not None else None)}")
    value = local[one.factors[0]]
    if one.reducer is None:
        return lines if home is not None else [*lines, f"{place} = {value}"]
    return lines + _reduction(one, [local[factor] for factor in one.factors], varies, tiled, place)


def buffers(
    one: Fused, shapes: Sequence[tuple[int, ...]]
) -> tuple[list[frozenset[int] | None], list[int | None], int | None]:
    """Return where the values of a block lie: for each source and step the axes along which it is longer than
    1 (None for a number), for each step the earlier one that it writes over, and the step from which on they
    are in the result itself.
    """
    varies, last = _varies(one, shapes), _last_uses(one)
    overs = [_over(one, step, number, len(shapes), varies, last) for number, step in enumerate(one.steps)]
    return varies, overs, _home(one, overs, len(shapes), varies)


def _varies(one: Fused, shapes: Sequence[tuple[int, ...]]) -> list[frozenset[int] | None]:
    """Return for each source and step the axes along which it is longer than 1; None for a number."""
    found: list[frozenset[int] | None] = [
        frozenset(axis for axis, size in enumerate(shape) if size != 1) if shape else None for shape in shapes
    ]
    for step in one.steps:
        parts = [found[argument] for argument in step.arguments if argument is not None]
        axes = [part for part in parts if part is not None]
        found.append(frozenset().union(*axes) if axes else None)
    return found


def _last_uses(one: Fused) -> dict[int, int]:
    last = {
        argument: number
        for number, step in enumerate(one.steps)
        for argument in step.arguments
        if argument is not None
    }
    return last | dict.fromkeys(one.factors, len(one.steps))


def _over(
    one: Fused,
    step: Step,
    number: int,
    count: int,
    varies: Sequence[frozenset[int] | None],
    last: dict[int, int],
) -> int | None:
    """Return the earlier step whose memory this one can write over."""
    if not takes_out(step) and step.call != WHERE:
        return None
    for argument in step.arguments[1:2] if step.call == WHERE else step.arguments:
        if argument is None or argument < count or last[argument] != number:
            continue
        if one.steps[argument - count].dtype == step.dtype and varies[argument] == varies[count + number]:
            return argument
    return None


def _home(
    one: Fused, overs: Sequence[int | None], count: int, varies: Sequence[frozenset[int] | None]
) -> int | None:
    """Return the step from which on a block is computed in the result itself, each step over the one before.

    None where the last step is the only one, or where a later step reads what the result takes over.
    """
    first = last = len(one.steps) - 1
    if one.reducer is not None or one.factors != (count + last,):
        return None
    while (over := overs[first]) is not None:
        first = over - count
    step, every = one.steps[first], frozenset(axis for axis, size in enumerate(one.shape) if size != 1)
    if first == last or not takes_out(step) or step.dtype != one.dtype or varies[count + first] != every:
        return None
    taken = None if one.over is None else one.sources.index(one.over)
    later = one.steps[first + 1 :]
    return None if any(taken is not None and taken in other.arguments for other in later) else first


def _where_over(step: Step, local: Sequence[str]) -> str:
    return "formulas.where_over" + _call(step, local, None).removeprefix(spelled(step.call))


def _call(step: Step, local: Sequence[str], out: str | None) -> str:
    arguments = [
        literal(constant) if place is None else local[place]
        for place, constant in zip(step.arguments, step.constants, strict=True)
    ]
    if step.call == "cast":
        return f'{arguments[0]}.astype("{step.dtype}")'
    return f"{spelled(step.call)}({', '.join(arguments)}{f', out={out}' if out else ''})"


def _reduction(
    one: Fused,
    factors: Sequence[str],
    varies: Sequence[frozenset[int] | None],
    tiled: Sequence[int],
    place: str,
) -> list[str]:
    axes = str(one.reduced[0]) if len(one.reduced) == 1 else str(one.reduced)
    parts = [axis for axis in one.reduced if axis in tiled]
    assert one.reducer is not None
    if one.reducer not in UFUNCS:
        return [f"{place} = kernels.{one.reducer}({factors[0]}, {axes})"]
    ufunc = f"np.{UFUNCS[one.reducer]}"
    dtype = f', dtype="{accumulator(one)}"' if one.reducer in WIDENED else ""
    if len(factors) > 1:
        call = _product(one, factors, [varies[place] for place in one.factors])
    elif one.reducer == "count_nonzero":
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


def is_inner_product(one: Fused, is_along: Sequence[object]) -> bool:
    """Whether a block's products are added up along the last axis alone, by `numpy.vecdot`; `is_along` says
    which factors vary along it.
    """
    is_last = one.reduced == (len(one.shape) - 1,)
    return len(is_along) == PAIR and is_last and accumulator(one) in REAL and all(is_along)


def _product(one: Fused, factors: Sequence[str], varies: Sequence[frozenset[int] | None]) -> str:
    """Return the sum of products: by BLAS along the last axis, or in one pass of NumPy's C loop."""
    last = len(one.shape) - 1
    dtype = accumulator(one)
    if is_inner_product(one, [axes and last in axes for axes in varies]):
        return f'np.vecdot({", ".join(factors)}, dtype="{dtype}")'
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(one.shape)]
    kept = "".join(letter for axis, letter in enumerate(letters) if axis not in one.reduced)
    pattern = ",".join("" if axes is None else letters for axes in varies) + "->" + kept
    return f'np.einsum("{pattern}", {", ".join(factors)}, dtype="{dtype}", casting="unsafe")'
