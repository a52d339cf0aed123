"""What the commands on expressions do, from options to a `Report`; only files are read and written."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np

from nameexpr.api.check import check
from nameexpr.api.compiled import Compiled, compile  # noqa: A004  the package's name for it
from nameexpr.api.options import read_options
from nameexpr.cli import formulas, report, writing
from nameexpr.cli.faults import UsageError
from nameexpr.cli.operands import read_operands, read_shapes
from nameexpr.compiler.operands import Operand
from nameexpr.compiler.pipeline import read, type_expression
from nameexpr.compiler.typed import Names
from nameexpr.errors import NameExprError
from nameexpr.syntax.formula_unparse import looks_like_formula


def run(options: Namespace) -> report.Report | None:
    """Do what the options ask for; None if there is nothing to say.

    Raises
    ------
    NameExprError
        If the expression is wrong, or does not fit the operands.
    CommandError
        If the arguments or the files are of no use.
    """
    if looks_like_formula(options.expression):
        return _FORMULAS[options.command](options)
    return _COMMANDS[options.command](options)


def _eval(options: Namespace) -> report.Report | None:
    # Mistakes in the text are told before any file is read or judged.
    has_reduce = options.reduce is not None
    tree = read(options.expression, has_reduce=has_reduce)
    if tree.outputs is None and not has_reduce:
        return _check(options)
    compiled = _compiled(options)
    target = None if options.output is None else writing.find_target(options.output, as_json=options.json)
    operands = read_operands(options.operands)
    result = np.asarray(compiled(*operands))
    names = _names(options, operands) or (None,) * result.ndim
    if target is None:
        return report.of_array(result, names)
    writing.write(result, target)
    return report.of_file(result, names, target.text) if options.json else None


def _check(options: Namespace) -> report.Report:
    for option in ("output", "dtype", "optimize"):
        if getattr(options, option) is not None:
            message = (
                f"--{option} is for expressions with an arrow; without one, shapes are checked and no more"
            )
            raise UsageError(message, "say what results: inputs -> result", usage=options.usage)
    return report.of_sizes(check(options.expression, *read_operands(options.operands), sizes=options.sizes))


def _plan(options: Namespace) -> report.Report:
    compiled = _compiled(options)
    return report.of_plan(compiled.plan(*read_shapes(options.operands)))


def _code(options: Namespace) -> report.Report:
    compiled = _compiled(options)
    if not options.operands:
        return report.of_code(compiled.code)
    return report.of_code(compiled.plan(*read_shapes(options.operands)).code)


def _compiled(options: Namespace) -> Compiled:
    compiled = compile(
        options.expression,
        dtype=options.dtype,
        optimize=options.optimize,
        sizes=options.sizes,
        reduce=options.reduce,
    )
    assert isinstance(compiled, Compiled), "formulas have commands of their own"
    return compiled


def _names(options: Namespace, operands: Sequence[Any]) -> Names:
    """Return the names that the result would have, were the operands tensors; () if it could have none."""
    shapes = [np.shape(operand) for operand in operands]
    unnamed = [Operand(shape, (None,) * len(shape)) for shape in shapes]
    sizes = dict(read_options(options.sizes, {}, None, None, options.reduce).sizes)
    tree = read(options.expression, has_reduce=options.reduce is not None)
    try:
        return type_expression(tree, unnamed, sizes, reducer=options.reduce).names
    except NameExprError:  # a label may be what no dim of a tensor can be called
        return ()


_COMMANDS = {"eval": _eval, "plan": _plan, "code": _code}
_FORMULAS = {
    "eval": formulas.evaluate_formula,
    "plan": formulas.plan_formula,
    "code": formulas.code_formula,
}
