"""What can be wrong with a formula's call, in words: operands that are no numbers, options of a wrong kind,
memory, and what NumPy says while a formula runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.backends.numpy.arrays import as_operand, is_bfloat16
from nameexpr.compiler.analysis.faults.values import NOT_HELD
from nameexpr.compiler.memory.program import largest, peak_bytes
from nameexpr.compiler.schedule.limit.refusal import needs_infos
from nameexpr.errors import Diagnostic, Mark, NameExprError, OperandInfo, Span, error
from nameexpr.runtime.not_held import not_held_at
from nameexpr.syntax.ast import Binary, Formula, Unary, nodes

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.scope import Scope
    from nameexpr.compiler.pipeline import Compilation

_REASONS = (
    (re.compile(r"negative integer powers"), "write x ** -1.0, or 1 / x"),
    *((re.compile(words), hint) for words, hint in NOT_HELD.items()),
)
"""What NumPy says, and what to do."""


def formula_operand(value: Any, name: str, scope: Scope) -> Any:
    """Return a plain operand as an array of numbers (NE503 or NE525 below its uses if it is none)."""
    text = scope.tree.text
    marks = tuple(Mark(use.name_span) for use in scope.uses[name])
    try:
        array = as_operand(value, 0, text)
    except NameExprError as fault:
        one = fault.diagnostics[0]
        message = one.message.replace("operand 0", f"'{name}'", 1)
        hint = "give an array, a NamedTensor or a number" if isinstance(value, str | bytes) else one.hint
        if "einsum" in hint:
            hint = "give one array; numpy.stack(arrays) makes one of several"
        raise error(Diagnostic(one.code, message, text, marks, hint=hint)) from fault
    check_numbers(array.dtype, name, scope)
    return array


def check_numbers(dtype: np.dtype[Any], name: str, scope: Scope) -> None:
    """Raise NE525 below the uses of an operand with elements that formulas do not compute with."""
    if dtype.kind in "biufc":
        return
    marks = tuple(Mark(use.name_span) for use in scope.uses[name])
    what = f"'{name}' has elements of dtype {dtype}, "
    if is_bfloat16(dtype):
        message, hint = f"{what}in which formulas do not compute", "convert it first: x.astype('float32')"
    else:
        message, hint = f"{what}which are no numbers", "convert it to numbers first"
    raise error(Diagnostic("NE525", message, scope.tree.text, marks, hint=hint))


def check_memory(compiled: Compilation[Scope], limit: int | None) -> None:
    """Raise NE706 for what no machine can hold, and NE709 for more than a limit."""
    tree = compiled.tree.tree
    for shape in compiled.shapes:
        if prod(size for size in shape if size) * 16 > 2**62:
            message = f"an array of shape {shape} would be needed, which no machine can hold"
            marks: tuple[Mark, ...] = ()
            if shape == compiled.shapes[compiled.program.result]:
                last = tree.statements[-1]
                marks = (Mark(last.span if last.term is None else last.term.span),)
            hint = "reduce over dims, or make them smaller"
            raise error(Diagnostic("NE706", message, tree.text, marks, hint=hint))
    needed = 0 if limit is None else peak_bytes(compiled.program, compiled.shapes, compiled.given)
    if limit is not None and needed > limit:
        message = f"the formula needs {needed:,} bytes at its peak, and memory_limit is {limit:,}"
        infos = needs_infos(largest(compiled.program, compiled.shapes, compiled.given))
        hint = "these are its largest arrays: raise the limit, or reduce dims earlier"
        raise error(Diagnostic("NE709", message, tree.text, operands=infos, hint=hint))


def run_fault(fault: Exception, compiled: Compilation[Scope], operands: Sequence[Any]) -> Exception:
    """Return the error to raise for what NumPy raised while a formula ran."""
    if isinstance(fault, NameExprError | Warning | FloatingPointError):
        return fault
    text = compiled.tree.tree.text
    arrays = [getattr(value, "_data", value) for value in operands]
    infos = tuple(
        OperandInfo(place, np.shape(array), getattr(operands[place], "_names", None), (), name)
        for place, (name, array) in enumerate(zip(compiled.tree.operands, arrays, strict=True))
    )
    if isinstance(fault, MemoryError):
        needed = peak_bytes(compiled.program, compiled.shapes, compiled.given)
        message = f"there is not enough memory: this formula needs {needed:,} bytes beside its operands"
        return error(Diagnostic("NE707", message, text, operands=infos))
    reason = str(fault).splitlines()[0][:160].rstrip(".") if str(fault) else type(fault).__name__
    spans: Sequence[Span] = ()
    if isinstance(fault, OverflowError) or "no integer" in reason:
        reason, spans = not_held_at(compiled, operands) or (reason, ())
    hint = next((hint for pattern, hint in _REASONS if pattern.search(reason)), "")
    message = f"the formula cannot be computed: {reason}"
    marks = tuple(map(Mark, spans or _culprits(compiled.tree.tree, reason)))
    return error(Diagnostic("NE526", message, text, marks, infos, hint))


def _culprits(tree: Formula, reason: str) -> list[Span]:
    """Return where a power stands that no integer has."""
    every = [node for statement in tree.statements for node in nodes(statement.value)]
    if "negative integer powers" in reason:
        powers = [node for node in every if isinstance(node, Binary) and node.operator == "**"]
        signed = [node for node in powers if isinstance(node.right, Unary)]
        return [node.operator_span for node in signed or powers]
    return []
