"""Evaluate and plan expressions and formulas for the commands, with operands from files or shapes.

Operands of an expression are given in the order of its terms, those of a formula by name: `x=file.npy`.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from nameexpr.cli.operands import read_operands, read_shapes
from nameexpr.compiler.analysis.infer import type_expression
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.ir.axes import Names
from nameexpr.compiler.pipeline import read
from nameexpr.errors import NameExprError
from nameexpr.runtime.compile import compile  # noqa: A004  the package's name for it
from nameexpr.runtime.compiled import Compiled
from nameexpr.runtime.compiled_formula import CompiledFormula
from nameexpr.runtime.grad import value_and_grad
from nameexpr.runtime.options import checked_sizes
from nameexpr.runtime.plan.plan import Plan
from nameexpr.syntax.lexer.tokens import looks_like_formula
from nameexpr.terminal import screen
from nameexpr.terminal.faults import UsageError, harmless, quoted
from nameexpr.terminal.writing import find_target, of_array, write

OPTIONS = ("dtype", "optimize", "reduce", "order", "memory_limit")
"""Options of `nameexpr.compile` other than the sizes."""


def evaluate(options: Namespace) -> screen.Report | None:
    """Compute an expression or a formula over arrays in files; without an arrow, only check the shapes.
    None if there is nothing to report.

    A NameExprError is raised for a text that is wrong or does not fit the operands, a CommandError for
    unusable arguments or files.
    """
    # Errors in the text are reported before any file is read.
    is_expression = not looks_like_formula(options.expression)
    if is_expression and options.reduce is None and read(options.expression).outputs is None:
        return _check(options)
    compiled = _compiled(options)
    target = None if options.output is None else find_target(options.output, as_json=options.json)
    read_files = partial(read_operands, limit=options.memory_limit)
    operands, named = _arguments(compiled, options, read_files)
    value = compiled(*operands, **named)
    results = [np.asarray(one) for one in (value if isinstance(value, tuple) else (value,))]
    if isinstance(compiled, CompiledFormula):
        found = [compiled.result_names({name: np.shape(one) for name, one in named["operands"].items()})]
    else:
        found = _names(options, operands)
    names = [
        own or (None,) * one.ndim for own, one in zip(found or [()] * len(results), results, strict=True)
    ]
    if len(results) > 1:
        return _several(options, results, names)
    if target is None:
        return of_array(results[0], names[0])
    write(results[0], target)
    return of_array(results[0], names[0], target.text) if options.json else None


def _several(options: Namespace, results: Sequence[Any], names: Sequence[Names]) -> screen.Report:
    """Return the report of several results, one after the other."""
    if options.output is not None:
        hint = "write one expression for each file, with _ for the other parts"
        raise UsageError("--output is for a single result", hint, usage=options.usage)
    reports = list(map(of_array, results, names))
    text = "\n\n".join([report.text for report in reports])
    return screen.Report(text, {"results": [report.data for report in reports]})


def _check(options: Namespace) -> screen.Report:
    for option in ("output", *OPTIONS):
        if getattr(options, option) is not None:
            message = f"--{option.replace('_', '-')} is for expressions with an arrow"
            message += "; without one, shapes are checked and no more"
            raise UsageError(message, "say what results: inputs -> result", usage=options.usage)
    from nameexpr.runtime.check import check

    return screen.of_sizes(check(options.expression, *read_operands(options.operands), sizes=options.sizes))


def _names(options: Namespace, operands: Sequence[Any]) -> list[Names]:
    """Infer the names of each result as if the operands were tensors; nothing if they can have none."""
    tree = read(options.expression, has_reduce=options.reduce is not None)
    shapes = [np.shape(operand) for operand in operands]
    unnamed = [Operand(shape, (None,) * len(shape)) for shape in shapes]
    sizes = dict(checked_sizes(options.sizes))
    try:
        typed = type_expression(tree, unnamed, sizes, reducer=options.reduce)
    except NameExprError:  # a label may not be a valid name for a tensor's dim
        return []
    return [typed.names, *(() if typed.blocks is None else typed.blocks.names)]


def plan(options: Namespace) -> Plan:
    """Plan a text for the operands that the options name; raises the same errors as `evaluate`."""
    compiled = _compiled(options)
    operands, named = _arguments(compiled, options, read_shapes)
    return compiled.plan(*operands, **named)


def code(options: Namespace) -> str:
    """Generate the NumPy code; for an expression without shapes, sizes are assumed."""
    compiled = _compiled(options)
    if not isinstance(compiled, CompiledFormula) and not options.operands:
        return compiled.code
    return plan(options).code


def gradient(options: Namespace) -> tuple[str, dict[str, str]]:
    """Write the gradients of a formula out, and return the text with the names of its gradients by operand;
    of a formula that has derivatives, these.
    """
    sizes, text = options.sizes or None, options.expression
    if options.wrt is not None or not looks_like_formula(text):
        function = value_and_grad(
            text, (options.wrt or "").replace(",", " "), sizes=sizes, dtype=options.dtype
        )
        given = _arguments(function.formula, options, read_shapes)[1]
        return function.expanded(**given), dict(function._made.gradients)
    compiled = compile(text, sizes=sizes, dtype=options.dtype)
    assert isinstance(compiled, CompiledFormula)
    if not any(call.function == "grad" for call in compiled._entry.tree.gradients):
        hint = f"name them, such as --wrt {quoted(' '.join(compiled.operands))}"
        raise UsageError("by which operands are the gradients?", hint, usage=options.usage)
    return compiled.expanded(**_arguments(compiled, options, read_shapes)[1]), {}


def _compiled(options: Namespace) -> Compiled:
    chosen: dict[str, Any] = {name: getattr(options, name) for name in OPTIONS}
    if looks_like_formula(options.expression) and options.reduce is not None:
        hint = "a reduction is written in the formula: sum[C](x)"
        raise UsageError("--reduce is for expressions, and this is a formula", hint, usage=options.usage)
    return compile(options.expression, sizes=options.sizes or None, **chosen)


def _arguments(
    compiled: Compiled,
    options: Namespace,
    read: Callable[[Sequence[str]], Sequence[Any]],
) -> tuple[Sequence[Any], dict[str, Any]]:
    """Read the arguments for a compiled text: operands by position, those of a formula by name."""
    if not isinstance(compiled, CompiledFormula):
        return read(options.operands), {}
    values: dict[str, str] = {}
    for argument in options.operands:
        name, equals, value = argument.partition("=")
        if not equals or not name.isidentifier():
            message = f"which operand of the formula is {quoted(argument)}?"
            hint = f"write the operand's name before it: x={harmless(argument)}"
            raise UsageError(message, hint, usage=options.usage)
        if name in values:
            message = f"the operand {quoted(name)} is given twice"
            raise UsageError(message, "give it once", usage=options.usage)
        values[name] = value
    return (), {"operands": dict(zip(values, read([*values.values()]), strict=True))}
