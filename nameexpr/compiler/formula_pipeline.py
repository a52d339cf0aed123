"""The pipeline of formulas: text -> tree -> scope -> views -> graph -> program. Each line is a pass.

What the text alone decides happens once per text; the rest once per shapes, dtypes and names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nameexpr.compiler.analysis.build.build import Arithmetic, Bound, Builder
from nameexpr.compiler.analysis.build.numbers import check_is_array
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.result_names import result_names
from nameexpr.compiler.analysis.scope import Scope, read_scope
from nameexpr.compiler.analysis.views import Views, read_views
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.ir.strides import Given, given_of
from nameexpr.compiler.ir.typed import Names
from nameexpr.compiler.ir.verify import shapes_of
from nameexpr.compiler.lowering.builder import Strides
from nameexpr.compiler.lowering.formula import lower_formula
from nameexpr.compiler.lowering.order import use_counts
from nameexpr.compiler.planning.path import Optimize
from nameexpr.compiler.planning.plan import Plan, TooManyDimsError
from nameexpr.compiler.schedule.fusion import Fusing
from nameexpr.compiler.schedule.reuse import reuse
from nameexpr.compiler.schedule.simplify import simplify
from nameexpr.compiler.schedule.tiling import slice_by_slice
from nameexpr.errors import Diagnostic, NameExprError, did_you_mean, error
from nameexpr.syntax.lexer.limits import limits
from nameexpr.syntax.parser.formula import parse_formula


@dataclass(frozen=True, slots=True)
class CompiledFormula:
    """A formula for one set of operands, through all stages. `names` are those of each result, `given` says
    what is known of the operands' memory. `statements` are the values of the statements in the graph, and
    `outputs` those that come out.
    """

    scope: Scope
    graph: Graph
    views: Views
    plans: tuple[Plan, ...]
    program: Program
    shapes: tuple[tuple[int, ...], ...]
    names: tuple[Names, ...]
    given: tuple[Given, ...] = ()
    statements: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()


def read_formula(text: str, outputs: Sequence[str] | None = None) -> Scope:
    """Return a formula that keeps all the rules which need no operands.

    Raises
    ------
    ParseError, RuleError, LimitError
        If the text is no formula, or breaks a rule.
    OptionError
        NE620, if an output is no statement's name.
    """
    scope = read_scope(parse_formula(text))
    known = [statement.name for statement in scope.tree.statements if statement.name is not None]
    for name in outputs or ():
        if name not in known:
            listed = f"the {'statements are' if len(known) > 1 else 'only statement is'} {', '.join(known)}"
            hint = did_you_mean(name, known) or (listed if known else "no statement has a name: y = ...")
            raise error(Diagnostic("NE620", f"outputs: no statement is called {name!r}", text, hint=hint))
    return scope


def compile_formula(
    scope: Scope,
    operands: Mapping[str, Operand],
    dtypes: Mapping[str, str],
    layouts: Sequence[Strides | None],
    arithmetic: Arithmetic,
    sizes: Mapping[str, int],
    outputs: Sequence[str] | None = None,
    optimize: Optimize = None,
) -> CompiledFormula:
    """Return the program of a formula for operands of these shapes, names, dtypes and strides."""
    views = read_views(scope, operands, sizes)
    graph = Graph(views.sizes)
    builder = Builder(scope, operands, dtypes, views, arithmetic, graph)
    bounds = _statements(builder, scope, views)
    last = len(scope.tree.statements) - 1
    places = [last] if outputs is None else [_place(scope, name) for name in outputs]
    for place in places:
        check_is_array(builder, bounds[place].value, scope.tree.statements[place].value.span)
    values = [bounds[place].arranged for place in places]
    order = scope.operands
    fusing = Fusing(graph, use_counts(graph, values), arithmetic.promoted)
    shapes = [operands[name].shape for name in order]
    own_dtypes = [dtypes[name] for name in order]
    try:
        program, plans = lower_formula(graph, values, shapes, own_dtypes, layouts, fusing, optimize)
    except TooManyDimsError as wide:
        raise _too_many_dims(wide.dims, scope.tree.text) from None
    program = simplify(program)
    all_shapes = shapes_of(program)
    _check_dims(all_shapes, scope.tree.text)
    program = slice_by_slice(program, all_shapes)
    all_shapes = shapes_of(program)
    program = reuse(program, all_shapes)
    names: tuple[Names, ...] = ((),) * len(places)
    if any(operand.names is not None for operand in operands.values()):
        names = tuple(_names(builder, bounds[place], views) for place in places)
    given = given_of(own_dtypes, layouts)
    statements = tuple(bound.value for bound in bounds)
    return CompiledFormula(
        scope, graph, views, tuple(plans), program, all_shapes, names, given, statements, tuple(values)
    )


def _names(builder: Builder, bound: Bound, views: Views) -> Names:
    under = builder.under.get(bound.value, {})
    return result_names(bound.term, bound.order, bound.axes or (), views.under, under, builder.text)


def _statements(builder: Builder, scope: Scope, views: Views) -> list[Bound]:
    bounds = []
    for statement, axes in zip(scope.tree.statements, views.left, strict=True):
        bound = builder.statement(statement, axes)
        bounds.append(bound)
        if statement.name is not None:
            builder.statements[statement.name] = bound
    return bounds


def _check_dims(shapes: Sequence[tuple[int, ...]], text: str) -> None:
    """Raise NE705 if a value would have more dims than an array can have."""
    most = max(map(len, shapes), default=0)
    if most > limits().dims:
        raise _too_many_dims(most, text)


def _too_many_dims(count: int, text: str) -> NameExprError:
    message = f"a value would have {count} dims, and the limit is {limits().dims}"
    return error(Diagnostic("NE705", message, text, hint="reduce some of them earlier"))


def _place(scope: Scope, name: str) -> int:
    return next(place for place, one in enumerate(scope.tree.statements) if one.name == name)
