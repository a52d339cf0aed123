"""Program to NumPy source: what runs, and what a person reads and pastes.

Every name in the source is ours (`a0`, `t3`), every constant an int or a dtype name from a fixed set: no
character of the user's text reaches what is executed. The text and its labels appear in comments only, and
only in the form made to be read.
"""

from __future__ import annotations

import string
from collections.abc import Sequence

from nameexpr.carets import visible
from nameexpr.compiler.program import (
    Apply,
    Cast,
    Copy,
    Diagonal,
    Divide,
    Dot,
    Einsum,
    Embed,
    Full,
    Instruction,
    IntegerMatmul,
    Matmul,
    Multiply,
    Program,
    Reduce,
    Repeat,
    Reshape,
    Sum,
    Transpose,
    sources_of,
)
from nameexpr.compiler.typed import shown

UFUNC_REDUCERS = {
    "max": "maximum",
    "min": "minimum",
    "prod": "multiply",
    "any": "logical_or",
    "all": "logical_and",
}
HEADER = "import numpy as np"
KERNELS = "from nameexpr.backends.numpy import kernels"


def body(program: Program, shapes: Sequence[tuple[int, ...]]) -> list[str]:
    """Return the statements that compute a program from `a0`, `a1`, ..., the last a return."""
    last_use = {
        source: number for number, one in enumerate(program.instructions) for source in sources_of(one)
    }
    count = len(program.operands)
    lines = []
    for number, instruction in enumerate(program.instructions):
        target = count + number
        call = render_call(instruction, [value_name(source, count) for source in sources_of(instruction)])
        if target == program.result and number == len(program.instructions) - 1:
            lines.append(_returned(call, shapes[target]))
            return lines
        lines.append(f"{value_name(target, count)} = {call}")
        dead = [value_name(s, count) for s in sources_of(instruction) if s >= count and last_use[s] == number]
        if dead and not isinstance(instruction, Reshape | Transpose | Diagonal):
            lines.append(f"del {', '.join(dict.fromkeys(dead))}")
    result = value_name(program.result, count)
    return [*lines, f"return {result}" if program.instructions else f"return {result}[...]"]


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
        case _:
            return _movement(instruction, sources[0])


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
    lines = [HEADER, *([KERNELS] if any("kernels." in line for line in statements) else []), "", ""]
    lines += [f"def compute({arguments}):", f"    # {_comment(text)}"]
    lines += [f"    # a{position}: {_comment(term)}" for position, term in enumerate(terms)]
    notes = {f"t{number}": " ".join(map(shown, note.labels)) for number, note in enumerate(program.notes)}
    for line in statements:
        note = notes.get(line.partition(" = ")[0]) if " = " in line else None
        note = result if line.startswith("return ") else note
        lines.append(f"    {line}  # {_comment(note)}" if note else f"    {line}")
    return "\n".join(lines) + "\n"


def _has_callable(program: Program) -> bool:
    return any(isinstance(instruction, Apply) for instruction in program.instructions)


def _comment(text: str) -> str:
    """Return text that cannot end a comment: on one line, with nothing unprintable in it."""
    return visible(" ".join(text.split()))
