"""The pipeline: text -> syntax -> names and sizes -> plan -> program. Each line is a pass, each pass a
module.

Reading and checking a text needs no operands and happens once per text; the rest once per shapes, dtypes and
names. Nothing here runs anything: programs are executed by `nameexpr.api`, through the source that
`nameexpr.compiler.render` writes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nameexpr.compiler.builder import Strides
from nameexpr.compiler.check import check_text
from nameexpr.compiler.dtypes import Dtypes
from nameexpr.compiler.infer import infer
from nameexpr.compiler.lower import lower
from nameexpr.compiler.operands import Operand
from nameexpr.compiler.path import Optimize
from nameexpr.compiler.plan import Plan, plan_contractions
from nameexpr.compiler.program import Program
from nameexpr.compiler.simplify import simplify
from nameexpr.compiler.size_faults import check_keywords
from nameexpr.compiler.typed import Typed
from nameexpr.compiler.verify import shapes_of
from nameexpr.syntax.ast import Expression
from nameexpr.syntax.parser import parse


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression for one set of shapes, through all stages."""

    tree: Expression
    typed: Typed
    plan: Plan
    program: Program
    shapes: tuple[tuple[int, ...], ...]


def read(text: str, sizes: Mapping[str, int] | None = None, *, has_reduce: bool = False) -> Expression:
    """Return the syntax tree of a text that keeps all the rules which need no operands.

    Raises
    ------
    ParseError, RuleError, SizeError, LimitError
        If the text is no expression, or breaks a rule.
    OptionError
        If a size is given for what is no label of the text.
    """
    tree = parse(text)
    check_text(tree, has_reduce=has_reduce)
    if not tree.leaves_inputs_out:  # there the operands' names are labels, too
        check_keywords(tree, sizes or {})
    return tree


def type_expression(
    tree: Expression, operands: Sequence[Operand], sizes: Mapping[str, int], *, reducer: str | None = None
) -> Typed:
    """Return the expression with its names matched and its sizes solved."""
    return infer(tree, operands, sizes, reducer=reducer)


def compile_typed(
    tree: Expression,
    typed: Typed,
    dtypes: Dtypes,
    layouts: Sequence[Strides | None],
    optimize: Optimize = None,
) -> Compiled:
    """Return plan and program of a typed expression."""
    plan = plan_contractions(typed, optimize)
    program = simplify(lower(plan, dtypes, layouts))
    shapes = _verified(program, typed)
    return Compiled(tree, typed, plan, program, shapes)


def _verified(program: Program, typed: Typed) -> tuple[tuple[int, ...], ...]:
    """Return the shape of every value, derived anew; under NAMEEXPR_VERIFY=1 the result is held against its
    type.
    """
    shapes = shapes_of(program)
    if os.environ.get("NAMEEXPR_VERIFY") == "1":
        assert shapes[program.result] == typed.result_shape, (
            f"{shapes[program.result]} is not {typed.result_shape}"
        )
    return shapes
