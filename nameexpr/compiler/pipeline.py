"""The pipeline: text -> tree -> names and sizes -> graph -> program. Each line is a pass, each pass a module.

An expression is a graph of one statement, a formula a graph of several; after that they are treated alike.
Reading and checking a text needs no operands and happens once per text; the other stages once per combination
of shapes, dtypes and names. Nothing is executed here: backends turn programs into functions
(`nameexpr.backends.numpy.codegen`).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from importlib import import_module
from math import prod
from typing import TYPE_CHECKING, Any

from nameexpr.compiler.analysis.fast_path import is_accepted
from nameexpr.compiler.analysis.infer import Typed, build_expression
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.compilation import Compilation, Options, Tree, build_graph, with_deviations
from nameexpr.compiler.ir.axes import Contraction, Names
from nameexpr.compiler.ir.dtypes import Dtypes
from nameexpr.compiler.ir.graph import Graph, constant_values, use_counts
from nameexpr.compiler.ir.nodes import Map, Reduction, View
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.lowering.builder import Operands, Strides
from nameexpr.compiler.lowering.lower import Planner, lower
from nameexpr.compiler.planning.path import is_our_own
from nameexpr.compiler.planning.plan import ContractionPlan, TooManyDimsError, plan_contractions
from nameexpr.compiler.schedule.simplify import simplify
from nameexpr.errors import error
from nameexpr.records import replace
from nameexpr.syntax.ast import Expression, Term
from nameexpr.syntax.limits import limits
from nameexpr.syntax.parser.expression import parse

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.build.values import Arithmetic
    from nameexpr.compiler.analysis.scope import Scope
    from nameexpr.compiler.lowering.fusion import FusionPlan

MOST_CELLS = 2**58
"""The largest number of elements of an array that a machine could hold."""
WIDEST = 16
"""The bytes of the widest numeric dtype."""
Shapes = tuple[tuple[int, ...], ...]


def read(text: str, sizes: Mapping[str, int] | None = None, *, has_reduce: bool = False) -> Expression:
    """Return the syntax tree of an expression that follows all rules that need no operands; OptionError if a
    size is given for something other than a label of the text.
    """
    tree = parse(text)
    if not is_accepted(tree, has_reduce=has_reduce):
        from nameexpr.compiler.analysis.rules.check import check_text

        check_text(tree, has_reduce=has_reduce)
    if sizes and not tree.leaves_inputs_out:  # there the operands' names are labels, too
        from nameexpr.compiler.analysis.faults.misuse import check_keywords

        check_keywords(tree, sizes)
    return tree


def read_formula(text: str, outputs: Sequence[str] | None = None) -> Scope:
    """Return a formula that follows all rules that need no operands; NE620 if an output is not a
    statement.
    """
    from nameexpr.compiler.analysis.scope import check_outputs, read_scope
    from nameexpr.syntax.parser.formula import parse_formula

    scope = read_scope(parse_formula(text))
    check_outputs(scope, outputs or ())
    return scope


def compile_expression(
    tree: Expression,
    typed: Typed,
    dtypes: Dtypes,
    layouts: Sequence[Strides | None],
    options: Options,
) -> Compilation[Expression]:
    """Return the program of an expression whose sizes are solved."""
    graph, results = build_expression(typed, dtypes)
    shapes = [[prod([typed.sizes[one] for one in labels]) for labels in axes] for axes in typed.operands]
    operands = Operands(tuple(map(tuple, shapes)), dtypes.operands, tuple(layouts))
    names = (typed.names, *(() if typed.blocks is None else typed.blocks.names))
    return _compiled(tree, graph, results, range(len(graph.nodes)), operands, names, results, options)


def compile_formula(
    scope: Scope,
    operands: Mapping[str, Operand],
    dtypes: Mapping[str, str],
    layouts: Sequence[Strides | None],
    arithmetic: Arithmetic,
    sizes: Mapping[str, int],
    options: Options,
    outputs: Sequence[str] | None = None,
) -> Compilation[Scope]:
    """Return the program of a formula for operands of these shapes, names, dtypes and strides."""
    from nameexpr.compiler.analysis.build.formula import build_formula
    from nameexpr.compiler.analysis.views import read_views

    views = read_views(scope, operands, sizes)
    build = partial(build_graph, optimize=options.optimize) if scope.gradients else build_formula
    graph, statements, values, names = build(scope, dtypes, views, arithmetic, outputs, options.dtype)
    if any(isinstance(node, Reduction) and node.reducer in {"var", "std"} for node in graph.nodes):
        statements, values = with_deviations(graph, statements, values, options.target)
    shapes = tuple([operands[name].shape for name in scope.uses])
    given = Operands(shapes, tuple([dtypes[name] for name in scope.uses]), tuple(layouts))
    uses, fusing = _fused(graph, values, options)
    return _compiled(scope, graph, values, uses, given, names, statements, options, fusing, views.default)


def compile_graph(
    tree: Tree, graph: Graph, outputs: tuple[int, ...], operands: Operands, options: Options
) -> Compilation[Tree]:
    """Return the program of some values of a graph that was built, or cut out of that of a text, before."""
    uses, fusing = _fused(graph, outputs, options)
    return _compiled(tree, graph, outputs, uses, operands, ((),) * len(outputs), outputs, options, fusing)


def _fused(
    graph: Graph, outputs: Sequence[int], options: Options
) -> tuple[dict[int, int], FusionPlan | None]:
    """Return how often each needed value is used, and which of them are computed block by block."""
    uses, fusing = use_counts(graph, outputs), None
    if any(isinstance(graph.nodes[value], Map) for value in uses):
        from nameexpr.compiler.lowering.fusion import FusionPlan

        fusing = FusionPlan(graph, uses, options.target)
    return uses, fusing


def _compiled(
    tree: Tree,
    graph: Graph,
    outputs: tuple[int, ...],
    needed: Collection[int],
    operands: Operands,
    names: tuple[Names, ...],
    statements: tuple[int, ...],
    options: Options,
    fusing: FusionPlan | None = None,
    default: Mapping[str, Term] | None = None,
) -> Compilation[Tree]:
    """Return the compilation of a graph: the passes that expressions and formulas share."""
    fixed = constant_values(graph, options.constants) if options.constants else ()
    ordered = partial(_ordered, fixed, options)
    search = graph, outputs, operands, ordered, options.target, options.is_row_major
    how = (options.target, fusing, options.is_row_major, options.ranks, needed)

    def lowered(plan: Planner) -> tuple[Program, tuple[ContractionPlan, ...]]:
        program, plans = lower(graph, outputs, operands, plan, *how)
        return program if len(program.instructions) < 2 else _simplified(program, options.target), plans  # noqa: PLR2004

    try:
        program, plans = lowered(ordered)
    except TooManyDimsError as wide:
        from nameexpr.compiler.analysis.faults.misuse import too_many_dims

        raise error(too_many_dims(tree, wide.dims, wide.operands)) from None
    same: tuple[int, ...] = ()
    is_contraction = isinstance(tree, Expression) and len(plans) == 1
    if options.same and (is_contraction or len(outputs) == 1):  # several results must not share memory
        program, plans, same = _shared(graph, operands, options, program, plans, lowered, is_contraction)
    shapes = shapes_of(program)
    if not is_contraction or _is_worth_scheduling(program, shapes, options):
        _check_sizes(tree, program, shapes)
        looped = None if same else _joint(tree, search, program, shapes, needed, fusing, fixed)
        program, shapes, plans = looped or (*_scheduled(program, shapes, options.target), plans)
    if "over" in options.target.native and "concatenate" in [one.primitive for one in program.instructions]:
        from nameexpr.compiler.schedule.place import place_within

        program, shapes = place_within(program, operands.given, options.memory_limit)
    if options.memory_limit is not None:
        if not same:
            program, plans = _limited(tree, (*search, options.memory_limit), program, plans)
        program = replace(program, depends_on_layout=True, is_limited=True)
        shapes = shapes_of(program)
    if os.environ.get("NAMEEXPR_VERIFY") == "1":
        import_module("nameexpr.compiler.ir.check_graph").check_compiled(program, shapes, graph, outputs)
    views = tuple([node.axes for node in graph.nodes if isinstance(node, View) and node.position >= 0])
    rest = (names, operands, outputs, statements, views, same, default or {})
    return Compilation(tree, graph, plans, program, shapes, *rest)


def _ordered(
    constants: Collection[int], options: Options, contraction: Contraction, factors: Sequence[int]
) -> ContractionPlan:
    """Return the plan of a contraction: the cheapest per call, if some factors stay the same."""
    plan = plan_contractions(contraction, options.optimize)
    if len(factors) <= 2 or not is_our_own(options.optimize):  # noqa: PLR2004  there is one order
        return plan
    if not constants:
        return replace(plan, is_open=options.memory_limit is None)
    from nameexpr.compiler.planning.bound import plan_for_calls

    fixed = [position for position, factor in enumerate(factors) if factor in constants]
    return plan_for_calls(plan, fixed, options.target)


def _simplified(program: Program, target: Target) -> Program:
    """Return a shorter program; of several results what they have in common is computed once."""
    program = simplify(program, target)
    if len(program.outputs) < 2 or "over" not in target.native:  # noqa: PLR2004
        return program
    from nameexpr.compiler.schedule.cse import share_small

    return share_small(program, target.tiled_bytes)


def _shared(*given: Any) -> tuple[Program, tuple[ContractionPlan, ...], tuple[int, ...]]:
    """Return what `share_operands` does, which is only loaded if operands are equal."""
    from nameexpr.compiler.schedule.equal_operands import share_operands

    return share_operands(*given)


def _limited(
    tree: Expression | Scope,
    given: tuple[Graph, tuple[int, ...], Operands, Planner, Target, bool, int],
    program: Program,
    plans: tuple[ContractionPlan, ...],
) -> tuple[Program, tuple[ContractionPlan, ...]]:
    """Return the program, or one with loops that fits the limit, whose modules are only loaded then."""
    if not isinstance(tree, Expression) or not plans:
        from nameexpr.compiler.schedule.limit.formula import GraphSearch, fit_formula

        return fit_formula(tree, GraphSearch(*given), program, plans)
    from nameexpr.compiler.schedule.limit.fitting import fit_expression
    from nameexpr.compiler.schedule.limit.network import SingleReduction

    graph, outputs, operands, _, target, is_row_major, limit = given
    single = SingleReduction(graph, outputs[0], operands, plans[0], target, is_row_major=is_row_major)
    fit = fit_expression(tree, single, program, limit)
    return fit.program, (fit.plan,)


def _joint(
    tree: Expression | Scope,
    given: tuple[Graph, tuple[int, ...], Operands, Planner, Target, bool],
    program: Program,
    shapes: Shapes,
    needed: Collection[int],
    fusing: FusionPlan | None,
    fixed: Collection[int],
) -> tuple[Program, Shapes, tuple[ContractionPlan, ...]] | None:
    """Return the program of derivatives with one loop for both directions, if that saves time."""
    if isinstance(tree, Expression) or not tree.gradients or not _has_large_value(shapes, given[4]):
        return None
    from nameexpr.compiler.schedule.limit.jointly import lower_jointly

    return lower_jointly(*given, program, needed, fusing, fixed)


def _is_worth_scheduling(program: Program, shapes: Shapes, options: Options) -> bool:
    """Return whether an expression could gain from slices, or from a mean that is written over its sum."""
    has_mean = "divide" in [instruction.primitive for instruction in program.instructions]
    return has_mean or (not options.constants and _has_large_value(shapes, options.target))


def _has_large_value(shapes: Shapes, target: Target) -> bool:
    """Return whether processing slices could pay off without bound operands, whose values alone are kept."""
    return any(prod(shape) * WIDEST >= target.tiled_bytes for shape in shapes)


def _check_sizes(tree: Expression | Scope, program: Program, shapes: Shapes) -> None:
    """Reject a formula with a value that no machine can hold, or that has too many dims."""
    dims = max(map(len, shapes), default=0)
    large = [shape for shape in shapes if prod(filter(None, shape)) > MOST_CELLS]
    if (large or dims > limits().dims) and not isinstance(tree, Expression):
        from nameexpr.compiler.analysis.faults.misuse import too_many_dims, unfit_array

        if dims > limits().dims:
            raise error(too_many_dims(tree, dims))
        raise error(unfit_array(tree, large[0], is_result=large[0] == shapes[program.result]))


def _scheduled(program: Program, shapes: Shapes, target: Target) -> tuple[Program, Shapes]:
    """Return a program that processes slices of leading axes and reuses memory, and its shapes."""
    if any(instruction.recurrence is not None for instruction in program.instructions):
        from nameexpr.compiler.schedule.steps import schedule_steps

        program = schedule_steps(program, target)
        shapes = shapes_of(program)
    if len(program.instructions) == 1 or "over" not in target.native:  # nothing to share a loop or memory
        return program, shapes
    from nameexpr.compiler.schedule.reuse import reuse
    from nameexpr.compiler.schedule.tiling import tile_leading_axes

    tiled = tile_leading_axes(program, shapes, target)
    shapes = shapes if tiled is program else shapes_of(tiled)
    return reuse(tiled, shapes), shapes
