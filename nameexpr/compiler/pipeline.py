"""The pipeline: text -> syntax -> names and sizes -> plan -> program. Each line is a pass, each pass a
module.

Reading and checking a text needs no operands and happens once per text; the rest once per shapes, dtypes and
names. Nothing here runs anything: programs are executed by `nameexpr.runtime`, through the source that
`nameexpr.compiler.codegen.program` writes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nameexpr.compiler.analysis.faults.sizes import check_keywords
from nameexpr.compiler.analysis.infer import infer
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.rules.check import check_text
from nameexpr.compiler.ir.dtypes import Dtypes, as_sums
from nameexpr.compiler.ir.program import Dot, Program, Transpose
from nameexpr.compiler.ir.typed import Typed
from nameexpr.compiler.ir.verify import shapes_of
from nameexpr.compiler.lowering.builder import Strides
from nameexpr.compiler.lowering.expression import lower
from nameexpr.compiler.planning.path import Optimize
from nameexpr.compiler.planning.plan import Plan, TooManyDimsError, plan_contractions, plan_repeated
from nameexpr.compiler.schedule.simplify import simplify
from nameexpr.errors import Diagnostic, Mark, error
from nameexpr.syntax.ast import Expression, Label
from nameexpr.syntax.lexer.limits import MOST_DIMS
from nameexpr.syntax.parser.expression import parse

if TYPE_CHECKING:
    from nameexpr.compiler.ir.strides import Given

MARKED = 8
"""Terms that are marked, at most, of those whose product would have too many dims."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression for one set of shapes, through all stages.

    `same` says which operands must be one array, as for `nameexpr.compiler.schedule.cse`, if the program
    counts on it.
    """

    tree: Expression
    typed: Typed
    plan: Plan
    program: Program
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...] = ()
    layouts: tuple[Strides | None, ...] = ()
    same: tuple[int, ...] = ()

    @property
    def given(self) -> tuple[Given, ...]:
        """What is known of the operands' memory: dtypes, and strides in cells."""
        from nameexpr.compiler.ir.strides import given_of

        return given_of(self.dtypes, self.layouts)

    @property
    def fits_all_sizes(self) -> bool:
        """Whether the program is right for all shapes of the same ranks: nothing in it depends on a size.

        NumPy then finds sizes that do not fit together by itself, which only a product of matrices does: a
        broadcast product would take a size 1 for any other.
        """
        terms = (*self.tree.inputs, *(self.tree.outputs or ()))
        return (
            len(self.tree.inputs) <= 2  # noqa: PLR2004  of more, sizes tell the order
            and all(isinstance(item, Label) for term in terms for item in term.items)
            and all(isinstance(one, Transpose | Dot) for one in self.program.instructions)
        )


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
    *,
    memory_limit: int | None = None,
    is_row_major: bool = False,
    ranks: tuple[int, ...] = (),
    same: tuple[int, ...] = (),
) -> Compiled:
    """Return plan and program of a typed expression; `is_row_major` and `ranks` as for `lower`.

    `same`, if some operands are the same array, is as for `share`; what comes back lacks it if nothing is
    shared.

    Raises
    ------
    LimitError
        If it needs more than `memory_limit` bytes however it is computed, or arrays of too many dims.
    """
    adding, dtypes = as_sums(typed, dtypes)

    def lowered(plan: Plan) -> Program:
        return simplify(lower(plan, dtypes, layouts, is_row_major=is_row_major, ranks=ranks))

    plan = _planned(tree, adding, optimize)
    program = lowered(plan)
    shared = None
    if same:
        from nameexpr.compiler.ir.strides import given_of
        from nameexpr.compiler.schedule.cse import best_shared

        other = _repeated(plan, same, optimize)
        tried = [(plan, program)] if other is None else [(plan, program), (other, lowered(other))]
        shared = best_shared(tried, same, memory_limit, given_of(dtypes.operands, layouts))
    if shared is not None:
        plan, program = shared
    elif memory_limit is not None:
        program = _limited(tree, plan, dtypes, layouts, program, memory_limit, is_row_major=is_row_major)
    if memory_limit is not None:
        program = replace(program, depends_on_layout=True, is_limited=True)
    shapes = _verified(program, typed)
    return Compiled(
        tree, typed, plan, program, shapes, dtypes.operands, tuple(layouts), same if shared else ()
    )


def _planned(tree: Expression, typed: Typed, optimize: Optimize) -> Plan:
    try:
        return plan_contractions(typed, optimize)
    except TooManyDimsError as wide:
        marks = tuple(Mark(tree.inputs[position].span) for position in sorted(wide.operands)[:MARKED])
        message = f"a value on the way would have {wide.dims} dims, and the limit is {MOST_DIMS}"
        hint = "reduce some of them earlier, in an expression of their own"
        raise error(Diagnostic("NE705", message, tree.text, marks, hint=hint)) from None


def _repeated(plan: Plan, same: tuple[int, ...], optimize: Optimize) -> Plan | None:
    """Return a plan that may compute more values once than the usual one, if the order is ours to choose."""
    is_ours = optimize is None or optimize is True or optimize == "auto"
    if not is_ours or len(same) <= 3:  # noqa: PLR2004  two pairs have four operands
        return None
    return plan_repeated(plan.typed, same, plan.flops)


def _limited(
    tree: Expression,
    plan: Plan,
    dtypes: Dtypes,
    layouts: Sequence[Strides | None],
    program: Program,
    limit: int,
    *,
    is_row_major: bool,
) -> Program:
    """Return the program, or one with loops that fits the limit; what that takes is only loaded for it."""
    from nameexpr.compiler.ir.strides import given_of
    from nameexpr.compiler.schedule.limit.fitting import fitted
    from nameexpr.compiler.schedule.limit.refusal import over_limit

    fit, needed = fitted(plan, dtypes, layouts, program, limit, is_row_major=is_row_major)
    if needed > limit:
        given = given_of(dtypes.operands, layouts)
        raise error(over_limit(tree.text, plan, dtypes, program, given, limit, needed))
    return fit


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
