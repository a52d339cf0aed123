"""`nameexpr eval` on formulas: operands come by name, `x=file.npy`; the last statement is the value."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from nameexpr.cli.operands import read_operands
from nameexpr.runtime.compile import compile_formula
from nameexpr.runtime.compiled_formula import CompiledFormula
from nameexpr.syntax.lexer.language import looks_like_formula
from nameexpr.terminal import preview, report, writing
from nameexpr.terminal.faults import UsageError, harmless, quoted

T = TypeVar("T")


def evaluate_formula(options: Namespace) -> report.Report | None:
    """Compute a formula over arrays in files.

    Raises
    ------
    NameExprError, CommandError
        If the formula is wrong or does not fit, or the arguments or files are of no use.
    """
    check_options(options)
    formula = compile_formula(
        options.expression,
        sizes=options.sizes,
        dtype=options.dtype,
        optimize=options.optimize,
        order=options.order,
        memory_limit=options.memory_limit,
    )
    target = None if options.output is None else writing.find_target(options.output, as_json=options.json)
    operands = by_name(options, partial(read_operands, limit=options.memory_limit))
    result = np.asarray(formula(operands=operands))
    names = _names(formula, operands) or (None,) * result.ndim
    if target is None:
        return preview.of_array(result, names)
    writing.write(result, target)
    return preview.of_file(result, names, target.text) if options.json else None


def check_options(options: Namespace) -> None:
    """Refuse the options that formulas do not have, if the text is a formula.

    Raises
    ------
    UsageError
        If one of them is given.
    """
    if not looks_like_formula(options.expression):
        return
    if options.reduce is not None:
        hint = "a reduction is written in the formula: sum[C](x)"
        raise UsageError("--reduce is for expressions, and this is a formula", hint, usage=options.usage)


def by_name(options: Namespace, read: Callable[[Sequence[str]], list[T]]) -> dict[str, T]:
    """Return what is read of the arguments `name=...`, by name.

    Raises
    ------
    UsageError
        If an argument has no name, or a name comes twice.
    """
    pairs = [argument.partition("=") for argument in options.operands]
    for argument, (name, equals, _) in zip(options.operands, pairs, strict=True):
        if not equals or not name.isidentifier():
            hint = f"write the operand's name before it: x={harmless(argument)}"
            raise UsageError(
                f"which operand of the formula is {quoted(argument)}?", hint, usage=options.usage
            )
    names = [name for name, _, _ in pairs]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise UsageError(f"the operand {quoted(twice)} is given twice", "give it once", usage=options.usage)
    return dict(zip(names, read([value for _, _, value in pairs]), strict=True))


def _names(formula: CompiledFormula, operands: dict[str, Any]) -> tuple[str | None, ...]:
    """Return the names that the result would have, were its operands tensors."""
    return formula.result_names({name: np.shape(operand) for name, operand in operands.items()})
