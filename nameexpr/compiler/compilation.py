"""The options of a compilation, its result with all intermediate ones, and the graph of a formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from nameexpr.compiler.ir.axes import Axes, Names
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Arrange, Reduction
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.lowering.builder import Operands
from nameexpr.compiler.planning.path import Optimize, is_our_own
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.records import field, record
from nameexpr.syntax.ast import Expression, Term

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.build.values import Arithmetic
    from nameexpr.compiler.analysis.operands import Views
    from nameexpr.compiler.analysis.scope import Scope
    from nameexpr.compiler.ir.layouts import OperandLayout


@record
class Options:
    """How to compile any text.

    `target` is provided by the backend; `optimize` is as for `find_path`; `is_row_major` and `ranks` as for
    `lower`; `same`, if some operands are the same array, as for `share`; `memory_limit` is in bytes, not
    counting operands. `constants` are operands that do not change between calls: contractions among them are
    free. `dtype`, if not "", is the dtype that a formula is computed in; for expressions, `Dtypes` determines
    it.
    """

    target: Target
    optimize: Optimize = None
    memory_limit: int | None = None
    is_row_major: bool = False
    ranks: tuple[int, ...] = ()
    same: tuple[int, ...] = ()
    constants: tuple[int, ...] = ()
    dtype: str = ""

    @property
    def is_free(self) -> bool:
        """Whether a search under a memory limit may change the order of contractions."""
        return is_our_own(self.optimize) and not self.constants


Tree = TypeVar("Tree", bound="Expression | Scope")


@record
class Compilation(Generic[Tree]):
    """The results of all stages for a text and one set of operands.

    `names` are those of each result; `outputs` are the values of the graph that are returned, and
    `statements` those of all statements. `plans` contains one plan for every reduction that is planned.
    `views` are the labels of the dims of operands, as each use sees them. `same` lists the operands that must
    be one array, as for `nameexpr.compiler.schedule.cse`, if the program relies on it. `default` are the
    terms of a formula's operands that are used without one.
    """

    tree: Tree
    graph: Graph
    plans: tuple[ContractionPlan, ...]
    program: Program
    shapes: tuple[tuple[int, ...], ...]
    names: tuple[Names, ...]
    operands: Operands
    outputs: tuple[int, ...]
    statements: tuple[int, ...]
    views: tuple[Axes, ...]
    same: tuple[int, ...] = ()
    default: Mapping[str, Term] = field(default_factory=dict)

    @property
    def given(self) -> tuple[OperandLayout, ...]:
        """What is known about the memory of the operands: dtypes, and strides in elements."""
        return self.operands.given

    @property
    def reducer(self) -> str | None:
        """The reducer of an expression."""
        return next((node.reducer for node in self.graph.nodes if isinstance(node, Reduction)), None)

    @property
    def result_axes(self) -> Axes:
        """The labels of each dim of the last result."""
        node = self.graph.nodes[self.outputs[-1]]
        assert isinstance(node, Arrange)
        return node.axes

    @property
    def result_shape(self) -> tuple[int, ...]:
        """The shape of the last result, groups merged."""
        return tuple(map(self.graph.cells, self.result_axes))


def with_deviations(
    graph: Graph, statements: tuple[int, ...], results: tuple[int, ...], target: Target
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the statements and results of a graph with variances of deviations that are computed anyway."""
    if "over" not in target.native:
        return statements, results
    from nameexpr.compiler.lowering.deviations import share_deviations

    numbers = share_deviations(graph)
    return tuple([numbers[one] for one in statements]), tuple([numbers[one] for one in results])


def build_graph(
    scope: Scope,
    dtypes: Mapping[str, str],
    views: Views,
    arithmetic: Arithmetic,
    outputs: Sequence[str] | None = None,
    dtype: str = "",
    optimize: Optimize = None,
) -> tuple[Graph, tuple[int, ...], tuple[int, ...], tuple[Names, ...]]:
    """Return what `build_formula` does; derivatives in the formula become values like any other."""
    from nameexpr.compiler.analysis.build.formula import build_formula

    if not scope.gradients:
        return build_formula(scope, dtypes, views, arithmetic, outputs, dtype)
    from nameexpr.compiler.gradient.derivative import Derivatives

    gradients = Derivatives(scope, optimize)
    return gradients.finished(*build_formula(scope, dtypes, views, arithmetic, outputs, dtype, gradients))
