"""Program to NumPy source: what runs, and what a person reads and pastes.

Every name in the source is ours (`a0`, `t3`), every constant an int or a dtype name from a fixed set: no
character of the user's text reaches what is executed. The text and its labels appear in comments only, and
only in the form made to be read.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from math import prod

from nameexpr.carets import visible
from nameexpr.compiler.program import (
    AlongAxes,
    Apply,
    Arange,
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
    Note,
    Pointwise,
    Program,
    Reduce,
    Repeat,
    Reshape,
    Sum,
    Transpose,
    sources_of,
)
from nameexpr.compiler.render_blocks import fused_lines, literal
from nameexpr.compiler.render_slices import sliced_lines
from nameexpr.compiler.sliced import Sliced
from nameexpr.compiler.typed import shown

UFUNC_REDUCERS = {
    "max": "maximum",
    "min": "minimum",
    "prod": "multiply",
    "any": "logical_or",
    "all": "logical_and",
}
VIEWS = (Reshape, Transpose, Diagonal)
HEADER = "import numpy as np"
KERNELS = "from nameexpr.backends.numpy import kernels"
FORMULAS = "from nameexpr.backends.numpy import formulas"


def body(program: Program, shapes: Sequence[tuple[int, ...]]) -> list[str]:
    """Return the statements that compute a program from `a0`, `a1`, ..., the last a return."""
    last_use = {
        source: number for number, one in enumerate(program.instructions) for source in sources_of(one)
    } | dict.fromkeys(program.outputs, len(program.instructions))
    count = len(program.operands)
    lines = []
    for number, instruction in enumerate(program.instructions):
        target = count + number
        if isinstance(instruction, Fused | Sliced):
            lines += _loops(program, number, shapes)
            lines += _deletions(program, number, last_use)
            continue
        call = render_call(instruction, [value_name(source, count) for source in sources_of(instruction)])
        is_last = number == len(program.instructions) - 1
        if target == program.result and is_last and not program.results:
            lines.append(_returned(call, shapes[target]))
            return lines
        lines.append(f"{value_name(target, count)} = {call}")
        lines += _deletions(program, number, last_use)
    return [*lines, _return(program, shapes)]


def _return(program: Program, shapes: Sequence[tuple[int, ...]]) -> str:
    """Return the last statement: every result an array, and an operand as it is a view of itself."""
    count = len(program.operands)
    values = []
    for result in program.outputs:
        name = value_name(result, count)
        if result < count:
            name = f"np.asarray({name})[...]" if not shapes[result] else f"{name}[...]"
        values.append(name if shapes[result] or result < count else f"np.asarray({name})")
    return f"return {', '.join(values)}{',' if program.results and len(values) == 1 else ''}"


def _deletions(program: Program, number: int, last_use: Mapping[int, int]) -> list[str]:
    """Return the statement that forgets what nothing reads any more: arrays, and what they were views of."""
    count = len(program.operands)
    one = program.instructions[number]
    if isinstance(one, VIEWS):
        return []
    dead: dict[int, None] = {}
    waiting = [source for source in sources_of(one) if source >= count and last_use[source] == number]
    while waiting:
        value = waiting.pop(0)
        dead[value] = None
        view = program.instructions[value - count]
        if isinstance(view, VIEWS) and view.source >= count and last_use[view.source] == value - count:
            waiting.append(view.source)
    return [f"del {', '.join(value_name(value, count) for value in dead)}"] if dead else []


def _loops(program: Program, number: int, shapes: Sequence[tuple[int, ...]]) -> list[str]:
    """Return the statements of an instruction that is a loop over blocks or slices."""
    one, count = program.instructions[number], len(program.operands)
    target = value_name(count + number, count)
    names = [value_name(source, count) for source in sources_of(one)]
    own = [shapes[source] for source in sources_of(one)]
    if isinstance(one, Sliced):
        return sliced_lines(one, target, names, own, len(_slice_notes(program, number)), render_call)
    assert isinstance(one, Fused)
    return fused_lines(one, target, names, own)


def _slice_notes(program: Program, end: int) -> list[Note]:
    """Return the notes of the values inside slices before instruction `end`: of `v0`, `v1`, ..."""
    return [note for one in program.instructions[:end] if isinstance(one, Sliced) for note in one.body.notes]


def _returned(call: str, shape: tuple[int, ...]) -> str:
    """NumPy gives scalars where an array has no axes: make them arrays, so that a result is always one."""
    return f"return {call}" if shape else f"return np.asarray({call})"


def value_name(value: int, count: int) -> str:
    """Return what a value is called in the source: operands `a0`, `a1`, ..., the others `t0`, `t1`, ..."""
    return f"a{value}" if value < count else f"t{value - count}"


def render_call(instruction: Instruction, sources: Sequence[str]) -> str:
    """Return the NumPy expression of one instruction."""
    match instruction:
        case Multiply(_, _, dtype):
            return f"np.multiply({', '.join(sources)}{_option('dtype', dtype)})"
        case Dot():
            return f"{sources[0]}.dot({sources[1]})"
        case Matmul():
            return f"np.matmul({sources[0]}, {sources[1]})"
        case IntegerMatmul():
            return f"kernels.integer_matmul({sources[0]}, {sources[1]})"
        case Einsum(_, letters, result):
            pattern = ",".join(map(_word, letters)) + "->" + _word(result)
            return f'np.einsum("{pattern}", {", ".join(sources)})'
        case Full(shape, value, dtype):
            return f'np.full({shape}, float("{value}"){_option("dtype", dtype or None)})'
        case Sum() | Reduce() | Apply() | Divide():
            return _reduction(instruction, sources[0])
        case Constant() | Arange() | Pointwise() | AlongAxes():
            return _formula_call(instruction, sources)
        case Fused():
            return "blocks of " + ", ".join(dict.fromkeys(step.call for step in instruction.steps))
        case Sliced(_, _, counts, inner):
            return f"{prod(counts)} slices of {len(inner.instructions)} steps"
        case _:
            return _movement(instruction, sources[0])


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
        return f"formulas.fold({one.call}, {listed})"
    if one.over is None:
        return f"{one.call}({listed})"
    if not one.is_ufunc:
        return f"formulas.where_over({listed})"
    return f"{one.call}({listed}, out={sources[one.sources.index(one.over)]})"


def _movement(instruction: Instruction, source: str) -> str:
    match instruction:
        case Cast(_, dtype):
            return f'{source}.astype("{dtype}")'
        case Reshape(_, shape):
            return f"{source}.reshape({shape})"
        case Transpose(_, axes):
            return f"{source}.T" if axes == (1, 0) else f"{source}.transpose({axes})"
        case Diagonal(_, letters) if max(letters) < len(string.ascii_letters):
            return f'np.einsum("{_word(letters)}->{_word(tuple(dict.fromkeys(letters)))}", {source})'
        case Diagonal(_, letters):
            return f"kernels.diagonal({source}, {letters})"
        case Repeat(_, shape):
            return f"np.broadcast_to({source}, {shape}).copy()"
        case Embed(_, shape, letters):
            return f"kernels.embed({source}, {shape}, {letters})"
        case Copy():
            return f"{source}.copy()"
    raise AssertionError(f"no rule for {instruction}")


def _reduction(instruction: Sum | Reduce | Apply | Divide, source: str) -> str:
    match instruction:
        case Sum(_, axes, dtype):
            return f"np.add.reduce({source}, axis={_axes(axes)}{_option('dtype', dtype)})"
        case Reduce(_, reducer, count) if reducer in UFUNC_REDUCERS:
            return f"np.{UFUNC_REDUCERS[reducer]}.reduce({source}, axis={_last(count)})"
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


def readable(
    program: Program, shapes: Sequence[tuple[int, ...]], text: str, terms: Sequence[str], result: str
) -> str:
    """Return a function that can be pasted: the same statements as those that run, with the labels in
    comments.

    Parameters
    ----------
    program : Program
        What to write.
    shapes : sequence of tuple of int
        Shape of every value.
    text : str
        The expression, for a comment.
    terms : sequence of str
        For each operand the line that says what it is, for a comment.
    result : str
        The same for the result.
    """
    statements = body(program, shapes)
    count = len(program.operands)
    arguments = ", ".join([f"a{position}" for position in range(count)] + ["reduce"] * _has_callable(program))
    lines = [HEADER, *([FORMULAS] if any("formulas." in line for line in statements) else [])]
    lines += [*([KERNELS] if any("kernels." in line for line in statements) else []), "", ""]
    lines += [f"def compute({arguments}):", f"    # {_comment(text)}"]
    lines += [f"    # a{position}: {_comment(term)}" for position, term in enumerate(terms)]
    notes = {f"t{number}": " ".join(map(shown, note.labels)) for number, note in enumerate(program.notes)}
    within = _slice_notes(program, len(program.instructions))
    notes |= {f"v{number}": " ".join(map(shown, note.labels)) for number, note in enumerate(within)}
    for line in statements:
        note = notes.get(line.partition(" = ")[0].lstrip()) if " = " in line else None
        note = result if line.startswith("return ") else note
        lines.append(f"    {line}  # {_comment(note)}" if note else f"    {line}")
    return "\n".join(lines) + "\n"


def _has_callable(program: Program) -> bool:
    return any(isinstance(instruction, Apply) for instruction in program.instructions)


def _comment(text: str) -> str:
    """Return text that cannot end a comment: on one line, with nothing unprintable in it."""
    return visible(" ".join(text.split()))
