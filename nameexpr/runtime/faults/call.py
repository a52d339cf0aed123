"""What can still go wrong when a program runs, in words: memory, elements that cannot be multiplied, a
reducer of the caller's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nameexpr.backends.numpy.kernels import ReducerFault, ReducerMisuse
from nameexpr.compiler.pipeline import Compilation
from nameexpr.errors import Diagnostic, NameExprError, OperandInfo, error
from nameexpr.syntax.ast import Expression


def run_fault(fault: Exception, compiled: Compilation[Expression], operands: Sequence[Any]) -> Exception:
    """Return the error to raise for what NumPy raised while a program ran."""
    text = compiled.tree.text
    if isinstance(fault, NameExprError | Warning | FloatingPointError):
        return fault  # warnings and floating-point errors are raised where the caller has asked for it
    if isinstance(fault, ReducerFault) and not isinstance(fault.original, MemoryError):
        return fault.original
    if isinstance(fault, ReducerMisuse):
        wrong, given = fault.args
        hint = f"reduce=f is called as f(array, axis) and returns the array without that axis: {given[:-1]}"
        return error(Diagnostic("NE606", f"reduce= {wrong}", text, hint=hint))
    if isinstance(fault, MemoryError | ReducerFault):
        from nameexpr.compiler.memory.program import peak_bytes

        needed = peak_bytes(compiled.program, compiled.shapes, compiled.given)
        message = f"there is not enough memory: this expression needs {needed:,} bytes beside its operands"
        return error(Diagnostic("NE707", message, text, operands=_infos(operands)))
    dtypes = " and ".join(dict.fromkeys(str(operand.dtype) for operand in operands))
    combined = f"combined by {compiled.reducer}" if compiled.reducer else "multiplied or added"
    message = f"elements of dtype {dtypes} cannot be {combined}"
    reason = str(fault).splitlines()[0][:160] if str(fault) else type(fault).__name__
    are_numbers = all(operand.dtype.kind in "biufc" for operand in operands)
    hint = reason if are_numbers else f"convert the operands to numbers first ({reason})"
    return error(Diagnostic("NE505", message, text, operands=_infos(operands), hint=hint))


def _infos(operands: Sequence[Any]) -> tuple[OperandInfo, ...]:
    return tuple(
        OperandInfo(position, tuple(operand.shape), getattr(operand, "names", None), (str(operand.dtype),))
        for position, operand in enumerate(operands)
    )
