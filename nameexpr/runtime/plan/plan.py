"""Plans, outlines and code of texts, with bound operands and without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nameexpr.backends.numpy.arrays import number_name
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.runtime.plan.bound import plan_of_formula, plan_of_rest
from nameexpr.runtime.plan.expression import Plan, make_plan
from nameexpr.runtime.plan.expression import source as expression_source
from nameexpr.runtime.plan.formula import formula_source, make_formula_plan
from nameexpr.runtime.plan.outline import Outline, expression_outline, formula_outline
from nameexpr.syntax.ast import Expression

if TYPE_CHECKING:
    from nameexpr.compiler.pipeline import Compilation
    from nameexpr.runtime.entry import Entry
    from nameexpr.runtime.operands import OperandSpec


def plan_of(entry: Entry, compiled: Compilation[Any], specs: Sequence[OperandSpec]) -> Plan:
    """Return the plan of a compiled text."""
    limit, operands = entry.options.memory_limit, [Operand(spec.shape, spec.names) for spec in specs]
    if isinstance(compiled.tree, Expression):
        dtypes = [spec.dtype for spec in specs]
        if entry.is_bound:
            return plan_of_rest((compiled, entry.fold(compiled)), operands, dtypes, entry.free, limit)
        return make_plan(compiled, operands, dtypes, limit)
    names = compiled.tree.operands
    kinds = [
        f"weak:{spec.dtype.__name__}" if isinstance(spec.dtype, type) else number_name(spec.dtype)
        for spec in specs
    ]
    shapes, named = dict(zip(names, operands, strict=True)), dict(zip(names, kinds, strict=True))
    if entry.is_bound:
        free = [names[position] for position in entry.free]
        return plan_of_formula((compiled, entry.fold(compiled)), shapes, named, free, limit)
    return make_formula_plan(compiled, shapes, named, limit)


def outline_of(compiled: Compilation[Any], specs: Sequence[OperandSpec]) -> Outline:
    """Return the outline of a compiled text."""
    operands = [Operand(spec.shape, spec.names) for spec in specs]
    if isinstance(compiled.tree, Expression):
        return expression_outline(compiled, operands)
    return formula_outline(compiled, dict(zip(compiled.tree.operands, operands, strict=True)))


def source(entry: Entry, compiled: Compilation[Any], specs: Sequence[OperandSpec]) -> str:
    """Return the NumPy that runs, as a function to paste."""
    if entry.is_bound:
        return plan_of(entry, compiled, specs).code
    operands = [Operand(spec.shape, spec.names) for spec in specs]
    if isinstance(compiled.tree, Expression):
        return expression_source(compiled, operands)
    return formula_source(compiled, dict(zip(compiled.tree.operands, operands, strict=True)))
