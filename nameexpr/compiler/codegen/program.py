"""Program to NumPy source: what runs, and what a person reads and pastes.

Every name in the source is ours (`a0`, `t3`), every constant an int or a dtype name from a fixed set: no
character of the user's text reaches what is executed. The text and its labels appear in comments only, and
only in the form made to be read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

from nameexpr.carets import visible
from nameexpr.compiler.codegen.blocks import fused_lines
from nameexpr.compiler.codegen.calls import render_call, render_streamed
from nameexpr.compiler.codegen.loops import Count, looped_lines, notes_inside
from nameexpr.compiler.codegen.slices import sliced_lines
from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.loops import Looped, Sliced
from nameexpr.compiler.ir.program import (
    BLOCK,
    Apply,
    AsComplex,
    AsReal,
    Diagonal,
    Dot,
    Fused,
    Instruction,
    Matmul,
    Note,
    Ones,
    Program,
    Reshape,
    Transpose,
    sources_of,
    streamed,
)

VIEWS = (Reshape, Transpose, Diagonal, AsReal, AsComplex)
HEADER = "import numpy as np"
KERNELS = "from nameexpr.backends.numpy import kernels"
COPIES = "from nameexpr.backends.numpy import copies"
FORMULAS = "from nameexpr.backends.numpy import formulas"

IMPORTS = {"copies.": COPIES, "formulas.": FORMULAS, "kernels.": KERNELS}
"""What the source begins with, where it uses these."""


def body(
    program: Program, shapes: Sequence[tuple[int, ...]], made_once: dict[str, Ones] | None = None
) -> list[str]:
    """Return the statements that compute a program from `a0`, `a1`, ..., the last a return.

    Ones go into `made_once`, by the name of their value, if it is given.
    """
    unmade = streamed(program)
    last_use = {
        source: number for number, one in enumerate(program.instructions) for source in sources_of(one)
    } | dict.fromkeys(program.outputs, len(program.instructions))
    count = len(program.operands)
    lines = []
    for number, instruction in enumerate(program.instructions):
        target = count + number
        if isinstance(instruction, Fused | Sliced | Looped):
            lines += _loops(program, number, shapes)
            lines += _deletions(program, number, last_use)
            continue
        if number in unmade:
            continue
        if isinstance(instruction, Ones) and made_once is not None and prod(instruction.shape) <= BLOCK:
            made_once[value_name(target, count)] = instruction
            continue
        call = _call(program, instruction, unmade)
        is_last = number == len(program.instructions) - 1
        if target == program.result and is_last and not program.results:
            lines.append(_returned(call, shapes[target]))
            return lines
        lines.append(f"{value_name(target, count)} = {call}")
        lines += _deletions(program, number, last_use)
    return [*lines, _return(program, shapes)]


def _call(program: Program, instruction: Instruction, unmade: Collection[int]) -> str:
    """Return the call of one instruction."""
    count = len(program.operands)
    names = [value_name(source, count) for source in sources_of(instruction)]
    if isinstance(instruction, Dot | Matmul) and instruction.right - count in unmade:
        return render_streamed(instruction, names[0], program.notes[instruction.right - count].dtype)
    return render_call(instruction, names)


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
    waiting = [
        source
        for source in sources_of(one)
        if source >= count and last_use[source] == number and not _is_constant(program, source - count)
    ]
    while waiting:
        value = waiting.pop(0)
        dead[value] = None
        view = program.instructions[value - count]
        if isinstance(view, VIEWS) and view.source >= count and last_use[view.source] == value - count:
            waiting.append(view.source)
    return [f"del {', '.join(value_name(value, count) for value in dead)}"] if dead else []


def _is_constant(program: Program, number: int) -> bool:
    return isinstance(program.instructions[number], Ones)


def _loops(program: Program, number: int, shapes: Sequence[tuple[int, ...]]) -> list[str]:
    """Return the statements of an instruction that is a loop over blocks or slices."""
    one, count = program.instructions[number], len(program.operands)
    target = value_name(count + number, count)
    names = [value_name(source, count) for source in sources_of(one)]
    own = [shapes[source] for source in sources_of(one)]
    if isinstance(one, Sliced):
        return sliced_lines(one, target, names, own, len(_slice_notes(program, number)), render_call)
    if isinstance(one, Looped):
        return looped_lines(one, target, names, Count(len(_slice_notes(program, number))), render_call)
    assert isinstance(one, Fused)
    return fused_lines(one, target, names, own)


def _slice_notes(program: Program, end: int) -> list[Note]:
    """Return the notes of the values inside slices before instruction `end`: of `v0`, `v1`, ..."""
    found: list[Note] = []
    for one in program.instructions[:end]:
        found += one.body.notes if isinstance(one, Sliced) else ()
        found += notes_inside(one) if isinstance(one, Looped) else ()
    return found


def _returned(call: str, shape: tuple[int, ...]) -> str:
    """NumPy gives scalars where an array has no axes: make them arrays, so that a result is always one."""
    return f"return {call}" if shape else f"return np.asarray({call})"


def value_name(value: int, count: int) -> str:
    """Return what a value is called in the source: operands `a0`, `a1`, ..., the others `t0`, `t1`, ..."""
    return f"a{value}" if value < count else f"t{value - count}"


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
    lines = [
        HEADER,
        *(text for name, text in IMPORTS.items() if any(name in line for line in statements)),
        "",
        "",
    ]
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
