"""Titles of values and steps in pictures: their operation, as a formula would write it.

>>> written_call(FUNCTIONS["/."], ["x", "2"]), along("softmax", ["C"], "x")
('x / 2', 'softmax[C](x)')
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.primitives import is_view
from nameexpr.compiler.ir.program import Instruction, Loop
from nameexpr.ops import FUNCTIONS, OPERATORS, SIGNS, Function
from nameexpr.rules.calls import shown as shown_number

HOLE = "·"
"""A placeholder for a value without a name, which an edge connects."""
_ROWS: Mapping[str, Function] = {row.kernel: row for row in FUNCTIONS.values()}
"""The row of each pointwise kernel."""


def written_number(number: complex) -> str:
    """Return a number in a few characters."""
    return shown_number(number) if isinstance(number, int) else f"{number:.6g}"


def written_call(row: Function, arguments: Sequence[str], *, is_inner: bool = False) -> str:
    """Return a pointwise function as it would be written; only its name, if no argument has a name and it is
    not nested.
    """
    if row is SIGNS.get(row.name):
        return f"{row.name}{arguments[0]}"
    if row is OPERATORS.get(row.name):
        return f"{arguments[0]} {row.name} {arguments[1]}"
    if set(arguments) <= {HOLE} and not is_inner:
        return row.name
    return f"{row.name}({', '.join(arguments)})"


def _is_sign(row: Function | None) -> bool:
    return row is not None and row in (SIGNS.get(row.name), OPERATORS.get(row.name))


def along(function: str, labels: Sequence[str], argument: str) -> str:
    """Return a function along labels as it would be written; the labels may be unknown."""
    brackets = f"[{' '.join(map(shown, labels))}]" if labels else ""
    return f"{function}{brackets}" + ("" if argument == HOLE else f"({argument})")


def step_title(instruction: Instruction, arguments: Sequence[str], labels: Sequence[str]) -> str:
    """Return the operation of an instruction on its arguments; `labels` are those of the first one's axes, if
    known.
    """
    if instruction.loop is not None:
        return _loop_title(instruction.loop)
    if instruction.primitive == "pointwise":
        return _pointwise(instruction, arguments)
    if instruction.primitive == "fused":
        return _fused(instruction, arguments, labels)
    if instruction.primitive == "divide":
        return f"{arguments[0]} / {written_number(instruction.constants[0] or 0)}"
    if instruction.primitive == "along_axes" or (instruction.primitive == "reduce" and labels):
        return along(instruction.function, _picked(labels, instruction.axes), arguments[0])
    if instruction.primitive in {"sum", "window_reduce"}:
        return along(instruction.function or "sum", _picked(labels, instruction.axes), arguments[0])
    if instruction.primitive in {"reduce", "slices"}:
        return along(instruction.function, (), arguments[0])
    if instruction.primitive == "apply":
        return along("reduce", labels[-(len(instruction.axes) or 1) :], arguments[0])
    if instruction.primitive == "cast":
        return f"as {instruction.dtype}"
    return instruction.kind


def _picked(labels: Sequence[str], axes: Sequence[int]) -> list[str]:
    return [labels[axis] for axis in axes] if labels else []


def _pointwise(instruction: Instruction, arguments: Sequence[str], *, is_inner: bool = False) -> str:
    row = _ROWS.get(instruction.function)
    if row is None:  # a cast, which is not a function of the language
        return f"as {instruction.dtype}"
    arrays = iter(arguments)
    filled = [next(arrays) if one is None else written_number(one) for one in instruction.constants]
    return written_call(row, filled, is_inner=is_inner)


def _fused(instruction: Instruction, arguments: Sequence[str], labels: Sequence[str]) -> str:
    """Return the functions of a block as a nested call."""
    texts = [(text, False) for text in arguments]  # with whether they need parentheses next to a sign
    for step in instruction.steps:
        is_sign = _is_sign(_ROWS.get(step.function))
        inner = [_enclosed(*texts[source]) if is_sign else texts[source][0] for source in step.sources]
        texts.append((_pointwise(step, inner, is_inner=True), is_sign))
    factors = [texts[factor] for factor in instruction.factors or (len(texts) - 1,)]
    whole = " * ".join(_enclosed(*factor) for factor in factors) if len(factors) > 1 else factors[0][0]
    if not instruction.function:
        return whole
    return along(instruction.function, _picked(labels, instruction.axes), whole)


def _enclosed(text: str, is_sign: bool) -> str:
    return f"({text})" if is_sign else text


def _loop_title(loop: Loop) -> str:
    """Return the description of a loop: its label, or the steps of each slice."""
    if loop.block:
        return f"blocks of {shown(loop.label)}"
    body, count = loop.body, len(loop.body.operands)
    titles = []
    for one in body.instructions:
        if not is_view(one):
            source = one.sources[0] - count if one.sources else -1
            labels = body.notes[source].labels if source >= 0 else ()
            titles.append(step_title(one, [HOLE] * len(one.sources), labels))
    return "slices: " + ", ".join(dict.fromkeys(titles))
