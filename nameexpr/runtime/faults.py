"""Errors while a program runs: lack of memory, elements that cannot be multiplied, numbers that no dtype
holds, errors of a caller's reducer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from nameexpr.backends.numpy.kernels import ReducerFault, ReducerMisuse
from nameexpr.backends.numpy.numbers import as_array, fold
from nameexpr.backends.numpy.promotion import function_of
from nameexpr.backends.numpy.reading import PositionError
from nameexpr.compiler.analysis.faults.values import not_held
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.compilation import Compilation
from nameexpr.compiler.ir.dtypes import WeakDtype
from nameexpr.compiler.ir.graph import Graph, use_counts
from nameexpr.compiler.ir.nodes import CAST, Arrange, Map, Scalar, View, number_of, sources_of
from nameexpr.compiler.memory.program import peak_bytes
from nameexpr.errors import Diagnostic, Mark, NotHeldError, OperandInfo, Span, error
from nameexpr.ops import FUNCTIONS
from nameexpr.runtime.operands import array_of, names_of
from nameexpr.syntax.ast import Binary, Number, Unary, Use
from nameexpr.syntax.walk import nodes_of

NEGATIVE_POWERS = "negative integer powers"
"""NumPy's message for integers to negative powers."""


def run_fault(fault: Exception, compiled: Compilation[Any], operands: Sequence[Any]) -> Exception:
    """Return the error to raise for an exception of NumPy while a program ran."""
    tree, text = compiled.tree, compiled.tree.text
    if isinstance(fault, ReducerFault) and not isinstance(fault.original, MemoryError):
        _raise_again(fault.original)
    if isinstance(fault, ReducerMisuse):
        wrong, given = fault.args
        hint = f"reduce=f is called as f(array, axis) and returns the array without that axis: {given[:-1]}"
        return error(Diagnostic("NE606", f"reduce= {wrong}", text, hint=hint))
    if isinstance(fault, PositionError):
        from nameexpr.runtime.position_faults import position_fault

        return error(position_fault(fault, compiled, operands))
    titles = tree.operands if isinstance(tree, Scope) else [""] * len(operands)
    infos = tuple(
        OperandInfo(
            position,
            np.shape(array_of(operand)),
            names_of(operand),
            () if title else (str(operand.dtype),),
            title,
        )
        for position, (title, operand) in enumerate(zip(titles, operands, strict=True))
    )
    if isinstance(fault, MemoryError | ReducerFault):
        what = "formula" if isinstance(tree, Scope) else "expression"
        needed = peak_bytes(compiled.program, compiled.shapes, compiled.given)
        message = (
            f"there is not enough memory: this {what} needs {needed:,} bytes in addition to its operands"
        )
        return error(Diagnostic("NE707", message, text, operands=infos))
    reason = str(fault).splitlines()[0][:160] if str(fault) else type(fault).__name__
    if isinstance(tree, Scope):
        reason, spans, hint = _formula_fault(fault, reason.rstrip("."), compiled, operands)
        message = f"the formula cannot be computed: {reason}"
        return error(Diagnostic("NE526", message, text, tuple(map(Mark, spans)), infos, hint))
    dtypes = " and ".join(dict.fromkeys(str(operand.dtype) for operand in operands))
    combined = f"combined by {compiled.reducer}" if compiled.reducer else "multiplied or added"
    combined = combined if compiled.plans else "moved"
    message = f"elements of dtype {dtypes} cannot be {combined}"
    are_numbers = all(operand.dtype.kind in "biufc" for operand in operands)
    hint = reason if are_numbers else f"convert the operands to numbers first ({reason})"
    return error(Diagnostic("NE505", message, text, operands=infos, hint=hint))


def _raise_again(error: BaseException) -> NoReturn:
    """Raise the caller's own exception with its cause and context, without ours."""
    own = error.__cause__, error.__context__, error.__suppress_context__
    try:
        raise error
    finally:
        error.__cause__, error.__context__, error.__suppress_context__ = own


def _formula_fault(
    fault: Exception, reason: str, compiled: Compilation[Scope], operands: Sequence[Any]
) -> tuple[str, list[Span], str]:
    """Return the message, the position in the text, and a hint."""
    if isinstance(fault, OverflowError):
        unheld, spans = _unheld_number(compiled, operands) or (fault, [])
        return str(unheld), spans, unheld.hint if isinstance(unheld, NotHeldError) else ""
    if NEGATIVE_POWERS not in reason:
        return reason, [], ""
    every = list(nodes_of(compiled.tree.tree.statements))
    powers = [node for node in every if isinstance(node, Binary) and node.operator == "**"]
    signed = [node for node in powers if isinstance(node.right, Unary)]
    return reason, [node.operator_span for node in signed or powers], "write x ** -1.0, or 1 / x"


def _unheld_number(
    compiled: Compilation[Scope], operands: Sequence[Any]
) -> tuple[OverflowError, list[Span]] | None:
    """Return the error about a number, and its position in the text; None if all numbers fit.

    NumPy, or Python, reported that some dtype cannot hold a number: to find it, the numbers are computed
    again, and each is tried on one element of the value that it is combined with.
    """
    graph = compiled.graph
    numbers: dict[int, Any] = {}
    for value in sorted(use_counts(graph, compiled.outputs)):
        try:
            numbers[value] = _number(graph, value, operands, numbers)
        except OverflowError as fault:
            dtype, number = _unheld_in(graph, value, numbers)
            reason = fault if number is None else not_held(number, dtype)
            return reason, _spans(compiled, value, number, operands)
    return None


def _number(graph: Graph, value: int, operands: Sequence[Any], numbers: dict[int, Any]) -> Any:
    """Return a value if it is a number, else None; OverflowError if a number does not fit into it."""
    node, dtype = graph.nodes[value], graph.dtypes[value]
    given: list[Any] = [numbers.get(source) for source in sources_of(node)]
    match node:
        case Scalar():
            return number_of(node)
        case View(position) if position >= 0:
            return operands[position] if isinstance(dtype, WeakDtype) else None
        case Arrange() if type(given[0]) is int:
            as_array(given[0])
        case Map(function) if isinstance(dtype, WeakDtype):
            return fold(function_of(FUNCTIONS[function].kernel), *given)
        case Map(function) if function == CAST and type(given[0]) is int:
            np.dtype(dtype).type(given[0])
        case Map(function) if int in map(type, given):
            cells = [_cell(graph, source) for source in sources_of(node)]
            arguments = [
                cell if number is None else number for cell, number in zip(cells, given, strict=True)
            ]
            with np.errstate(all="ignore"):
                function_of(FUNCTIONS[function].kernel)(*arguments)
    return given[0] if isinstance(node, View | Arrange) else None


def _cell(graph: Graph, value: int) -> Any:
    dtype = graph.dtypes[value]
    return None if isinstance(dtype, WeakDtype) else np.ones(1, dtype)


def _unheld_in(graph: Graph, value: int, numbers: dict[int, Any]) -> tuple[str, int | None]:
    """Return the dtype of a function of arrays, and the number in it that this dtype cannot hold."""
    node = graph.nodes[value]
    if isinstance(node, Arrange):
        return "float64", numbers[node.value]
    if not isinstance(node, Map) or isinstance(graph.dtypes[value], WeakDtype):
        return "", None
    strong = [graph.dtypes[one] for one in node.arguments if numbers.get(one) is None]
    dtype = np.result_type(*(strong or [graph.dtypes[value]]), *([np.int64] if strong == ["bool"] else ()))
    for number in (numbers.get(one) for one in node.arguments):
        if type(number) is int and not _is_held(number, dtype):
            return dtype.name, number
    return "", None


def _is_held(number: int, dtype: np.dtype[Any]) -> bool:
    if dtype.kind in "iu":
        return bool(np.iinfo(dtype).min <= number <= np.iinfo(dtype).max)
    return number.bit_length() <= np.finfo(np.float64).maxexp


def _spans(
    compiled: Compilation[Scope], value: int, number: int | None, operands: Sequence[Any]
) -> list[Span]:
    """Return where a number is written, as a literal or an operand; else the function that takes it."""
    tree, names = compiled.tree.tree, compiled.tree.operands
    same = [name for name, one in zip(names, operands, strict=True) if type(one) is int and one == number]
    every = list(nodes_of(tree.statements))
    found = [node.span for node in every if isinstance(node, Number) and node.value == number]
    found += [node.span for node in every if isinstance(node, Use) and node.name in same]
    span = compiled.graph.spans.get(value)
    return found or ([] if span is None else [span])
