"""What can still go wrong when a program runs, in words: memory, elements that cannot be multiplied, numbers
that no dtype holds, a reducer of the caller's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nameexpr.backends.numpy.kernels import ReducerFault, ReducerMisuse
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.memory.program import peak_bytes
from nameexpr.compiler.pipeline import Compilation
from nameexpr.errors import Diagnostic, Mark, NotHeldError, OperandInfo, Span, error
from nameexpr.runtime.operands import array_of, names_of
from nameexpr.runtime.unheld import find_unheld
from nameexpr.syntax.ast import Binary, Expression, Formula, Unary, nodes

NEGATIVE_POWERS = "negative integer powers"
"""What NumPy says of integers to such powers."""


def run_fault(fault: Exception, compiled: Compilation[Any], operands: Sequence[Any]) -> Exception:
    """Return the error to raise for what NumPy raised while a program ran."""
    if isinstance(compiled.tree, Expression):
        return _expression_fault(fault, compiled, operands)
    return _formula_fault(fault, compiled, operands)


def _expression_fault(
    fault: Exception, compiled: Compilation[Expression], operands: Sequence[Any]
) -> Exception:
    text = compiled.tree.text
    if isinstance(fault, ReducerFault) and not isinstance(fault.original, MemoryError):
        return fault.original
    if isinstance(fault, ReducerMisuse):
        wrong, given = fault.args
        hint = f"reduce=f is called as f(array, axis) and returns the array without that axis: {given[:-1]}"
        return error(Diagnostic("NE606", f"reduce= {wrong}", text, hint=hint))
    infos = tuple(
        OperandInfo(position, tuple(operand.shape), names_of(operand), (str(operand.dtype),))
        for position, operand in enumerate(operands)
    )
    if isinstance(fault, MemoryError | ReducerFault):
        return error(_memory_is_short(compiled, "expression", text, infos))
    dtypes = " and ".join(dict.fromkeys(str(operand.dtype) for operand in operands))
    combined = f"combined by {compiled.reducer}" if compiled.reducer else "multiplied or added"
    message = f"elements of dtype {dtypes} cannot be {combined}"
    reason = str(fault).splitlines()[0][:160] if str(fault) else type(fault).__name__
    are_numbers = all(operand.dtype.kind in "biufc" for operand in operands)
    hint = reason if are_numbers else f"convert the operands to numbers first ({reason})"
    return error(Diagnostic("NE505", message, text, operands=infos, hint=hint))


def _formula_fault(fault: Exception, compiled: Compilation[Scope], operands: Sequence[Any]) -> Exception:
    tree = compiled.tree.tree
    infos = tuple(
        OperandInfo(position, np.shape(array_of(operand)), names_of(operand), (), name)
        for position, (name, operand) in enumerate(zip(compiled.tree.operands, operands, strict=True))
    )
    if isinstance(fault, MemoryError):
        return error(_memory_is_short(compiled, "formula", tree.text, infos))
    reason = str(fault).splitlines()[0][:160].rstrip(".") if str(fault) else type(fault).__name__
    hint, spans = "", list[Span]()
    if isinstance(fault, OverflowError):
        unheld, spans = find_unheld(compiled, operands) or (fault, [])
        reason, hint = str(unheld), unheld.hint if isinstance(unheld, NotHeldError) else ""
    elif NEGATIVE_POWERS in reason:
        spans, hint = _negative_powers(tree), "write x ** -1.0, or 1 / x"
    message = f"the formula cannot be computed: {reason}"
    return error(Diagnostic("NE526", message, tree.text, tuple(map(Mark, spans)), infos, hint))


def _memory_is_short(
    compiled: Compilation[Any], what: str, text: str, infos: tuple[OperandInfo, ...]
) -> Diagnostic:
    needed = peak_bytes(compiled.program, compiled.shapes, compiled.given)
    message = f"there is not enough memory: this {what} needs {needed:,} bytes beside its operands"
    return Diagnostic("NE707", message, text, operands=infos)


def _negative_powers(tree: Formula) -> list[Span]:
    """Return where powers stand that no integer has."""
    every = [node for statement in tree.statements for node in nodes(statement.value)]
    powers = [node for node in every if isinstance(node, Binary) and node.operator == "**"]
    signed = [node for node in powers if isinstance(node.right, Unary)]
    return [node.operator_span for node in signed or powers]
