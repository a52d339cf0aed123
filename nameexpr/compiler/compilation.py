"""What a compilation is asked for, and all that comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

from nameexpr.compiler.ir.axes import Axes, Names
from nameexpr.compiler.ir.graph import Arrange, Graph, Reduction
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.lowering.builder import Operands
from nameexpr.compiler.planning.path import Optimize
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.records import field, record
from nameexpr.syntax.ast import Expression, Term

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.scope import Scope
    from nameexpr.compiler.ir.layouts import OperandLayout


@record
class Options:
    """How to compile, whatever the text.

    `target` is what the backend hands in; `optimize` is as for `find_path`; `is_row_major` and `ranks` as for
    `lower`; `same`, if some operands are the same array, as for `share`; `memory_limit` is in bytes, operands
    left out. `constants` are operands that stay the same from call to call: what is contracted among them is
    free. In `dtype` a formula is computed, if it is not "": for expressions, that is a matter of `Dtypes`.
    """

    target: Target
    optimize: Optimize = None
    memory_limit: int | None = None
    is_row_major: bool = False
    ranks: tuple[int, ...] = ()
    same: tuple[int, ...] = ()
    constants: tuple[int, ...] = ()
    dtype: str = ""


Tree = TypeVar("Tree", bound="Expression | Scope")


@record
class Compilation(Generic[Tree]):
    """A text for one set of operands, through all stages.

    `names` are those of each result; `outputs` the values of the graph that come out, and `statements` those
    of all statements. `plans` has one plan for every reduction that is planned. `views` are the labels of the
    dims of operands, as each use sees them. `same` says which operands must be one array, as for
    `nameexpr.compiler.schedule.cse`, if the program counts on it. `default` are the terms of a formula's
    operands that are used without one.
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
        """What is known of the operands' memory: dtypes, and strides in cells."""
        return self.operands.given

    @property
    def reducer(self) -> str | None:
        """The reducer of an expression."""
        return next(node.reducer for node in self.graph.nodes if isinstance(node, Reduction))

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
