"""The commands on formulas: operands come by name, `x=file.npy`; the value is that of the last statement."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from nameexpr.api.compiled_formula import CompiledFormula, compiled_formula
from nameexpr.cli import report, writing
from nameexpr.cli.faults import UsageError, quoted
from nameexpr.cli.operands import read_operands, read_shapes

T = TypeVar("T")


def evaluate_formula(options: Namespace) -> report.Report | None:
    """Compute a formula over arrays in files.

    Raises
    ------
    NameExprError, CommandError
        If the formula is wrong or does not fit, or the arguments or files are of no use.
    """
    formula = _compiled(options)
    target = None if options.output is None else writing.find_target(options.output, as_json=options.json)
    operands = by_name(options, lambda files: list(read_operands(files)))
    result = np.asarray(formula(operands=operands))
    names = _names(formula, operands) or (None,) * result.ndim
    if target is None:
        return report.of_array(result, names)
    writing.write(result, target)
    return report.of_file(result, names, target.text) if options.json else None


def plan_formula(options: Namespace) -> report.Report:
    """Show how a formula would be computed, for operands given as name=shape or name=file."""
    return report.of_plan(_compiled(options).plan(operands=_shapes(options)))


def code_formula(options: Namespace) -> report.Report:
    """Show the NumPy that computes a formula."""
    return report.of_code(_compiled(options).plan(operands=_shapes(options)).code)


def _shapes(options: Namespace) -> dict[str, Any]:
    return by_name(options, lambda words: list(read_shapes(words)))


def _compiled(options: Namespace) -> CompiledFormula:
    for option in ("dtype", "reduce"):
        if getattr(options, option) is not None:
            hint = "a reduction is written in the formula: sum[C](x)" if option == "reduce" else ""
            raise UsageError(
                f"--{option} is for expressions, and this is a formula", hint, usage=options.usage
            )
    return compiled_formula(options.expression, None, options.sizes or None, options.optimize, None)


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
            hint = f"write the operand's name before it: x={argument}"
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
