"""`nameexpr eval` on expressions: arrays from files in, a report or a file out."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np

from nameexpr.cli.operands import read_operands
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.ir.axes import Names
from nameexpr.compiler.pipeline import read, type_expression
from nameexpr.errors import NameExprError
from nameexpr.runtime.einsum import find_entry
from nameexpr.runtime.options import CallOptions, read_options
from nameexpr.syntax.ast import Expression
from nameexpr.terminal import preview, report, writing
from nameexpr.terminal.faults import UsageError

FOR_RESULTS = ("output", "dtype", "optimize", "order", "memory_limit")
"""Options that say how to compute, which a text without an arrow has no use for."""


def evaluate_expression(options: Namespace) -> report.Report | None:
    """Compute an expression, or check shapes if it has no arrow; None if there is nothing to say.

    Raises
    ------
    NameExprError
        If the expression is wrong, or does not fit the operands.
    CommandError
        If the arguments or the files are of no use.
    """
    # Mistakes in the text are told before any file is read or judged.
    has_reduce = options.reduce is not None
    if read(options.expression, has_reduce=has_reduce).outputs is None and not has_reduce:
        return _check(options)
    chosen = read_options(
        options.sizes,
        {},
        options.dtype,
        options.optimize,
        options.reduce,
        order=options.order,
        memory_limit=options.memory_limit,
    )
    entry = find_entry(options.expression, chosen.or_none)
    target = None if options.output is None else writing.find_target(options.output, as_json=options.json)
    operands = read_operands(options.operands, options.memory_limit)
    result = np.asarray(entry.call(*operands))
    names = _names(entry.tree, chosen, operands) or (None,) * result.ndim
    if target is None:
        return preview.of_array(result, names)
    writing.write(result, target)
    return preview.of_file(result, names, target.text) if options.json else None


def _check(options: Namespace) -> report.Report:
    for option in FOR_RESULTS:
        if getattr(options, option) is not None:
            message = (
                f"--{option.replace('_', '-')} is for expressions with an arrow; "
                "without one, shapes are checked and no more"
            )
            raise UsageError(message, "say what results: inputs -> result", usage=options.usage)
    from nameexpr.runtime.check import check

    return report.of_sizes(check(options.expression, *read_operands(options.operands), sizes=options.sizes))


def _names(tree: Expression, chosen: CallOptions, operands: Sequence[Any]) -> Names:
    """Return the names that the result would have, were the operands tensors; () if it could have none."""
    shapes = [np.shape(operand) for operand in operands]
    unnamed = [Operand(shape, (None,) * len(shape)) for shape in shapes]
    try:
        return type_expression(tree, unnamed, dict(chosen.sizes), reducer=chosen.reducer).names
    except NameExprError:  # a label may be what no dim of a tensor can be called
        return ()
