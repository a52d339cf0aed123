"""Plans for the commands `plan`, `code` and `explain`, of expressions and formulas, from shapes or files."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from nameexpr.cli.formulas import by_name, check_options
from nameexpr.cli.operands import read_shapes
from nameexpr.runtime.compile import compile  # noqa: A004  the package's name for it
from nameexpr.runtime.compiled import Compiled
from nameexpr.runtime.compiled_formula import CompiledFormula
from nameexpr.runtime.plan.plan import Plan


def plan(options: Namespace) -> Plan:
    """Return the plan for the operands that the options name.

    Raises
    ------
    NameExprError
        If the text is wrong, or does not fit the operands.
    CommandError
        If the arguments or the files are of no use.
    """
    compiled = _compiled(options)
    if isinstance(compiled, CompiledFormula):
        return compiled.plan(operands=by_name(options, read_shapes))
    return compiled.plan(*read_shapes(options.operands))


def code(options: Namespace) -> str:
    """Return the NumPy that runs; for an expression without shapes, sizes are assumed.

    Raises
    ------
    NameExprError, CommandError
        As `plan` does.
    """
    compiled = _compiled(options)
    if isinstance(compiled, Compiled) and not options.operands:
        return compiled.code
    return plan(options).code


def _compiled(options: Namespace) -> Compiled | CompiledFormula:
    check_options(options)
    chosen: dict[str, Any] = {
        name: getattr(options, name) for name in ("dtype", "optimize", "reduce", "order", "memory_limit")
    }
    return compile(options.expression, sizes=options.sizes or None, **chosen)
