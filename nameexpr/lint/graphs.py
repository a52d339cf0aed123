"""The graph of a formula whose operands are unknown, and the errors that follow from its labels alone.

The compiler's own builder is run on shapes that fit the terms. An operand without a term is taken for a
number.

>>> from nameexpr.compiler.pipeline import read_formula
>>> dims_of_value(read_formula("y[N] = sum[C](x[N C] * w[C])"))
('N',)
"""

from __future__ import annotations

from nameexpr.compiler.analysis.build.values import Arithmetic
from nameexpr.compiler.analysis.operands import Operand, assumed_shapes
from nameexpr.compiler.analysis.scope import Scope, terms_of
from nameexpr.compiler.analysis.views import read_views
from nameexpr.compiler.compilation import build_graph
from nameexpr.compiler.ir.axes import flat, shown
from nameexpr.compiler.ir.dtypes import WEAK, WeakDtype
from nameexpr.compiler.ir.nodes import Arrange
from nameexpr.errors import Diagnostic, NameExprError
from nameexpr.syntax.ast import STRETCHED, Anonymous, Expression, Sized, Use
from nameexpr.syntax.walk import atoms_of, nodes, places, terms_in, value_atoms_of

CERTAIN = frozenset({"NE223", "NE225", "NE240", "NE530", "NE532", "NE536"})
"""The errors that hold for all operands."""

# A placeholder for the array library: every function accepts everything, and numbers remain numbers.
_ANYTHING = Arithmetic(
    dtype_of=lambda _, given: (
        WEAK[float]
        if all(isinstance(dtype, WeakDtype) for dtype in given)
        else "float64"
        if "float64" in given
        else "int64"
    ),
    fold=lambda *_: 1.0,
    reduced=lambda *_: "float64",
    promoted=lambda _: "float64",
)


def graph_faults(scope: Scope) -> list[Diagnostic]:
    """Return the dims that a statement of a formula drops (NE240), those that a value lacks (NE241), and what
    is wrong with derivatives.

    An operand without a term may have its own dim names: then the dims that a value lacks are unknown. The
    number of dims of a pack or an ellipsis is never known.
    """
    if _is_stretched(scope):
        return []
    certain = {*CERTAIN, "NE241"} if all(map(terms_of, scope.uses.values())) else CERTAIN
    try:
        _last(scope)
    except NameExprError as fault:
        return [diagnostic for diagnostic in fault.diagnostics if diagnostic.code in certain]
    return []


def dims_of_value(scope: Scope) -> tuple[str, ...] | None:
    """Return the labels of the last value of a formula, None if its terms do not determine them."""
    if _is_stretched(scope):
        return None
    try:
        return tuple(map(shown, flat(_last(scope).axes)))
    except NameExprError:
        return None


def _is_stretched(scope: Scope) -> bool:
    return bool(value_atoms_of((Anonymous, *STRETCHED), terms_in(scope.tree)))


def _last(scope: Scope) -> Arrange:
    """Return the last result of the graph of a formula."""
    operands = {}
    sizes = {atom.name: atom.size for atom in atoms_of(Sized, terms_in(scope.tree))}
    for name, uses in scope.uses.items():
        own = terms_of(uses)[:1]
        shapes = assumed_shapes(Expression(tuple(own), None, None, ""), sizes)
        operands[name] = Operand(next(iter(shapes), ()))
    in_places = [node for term in terms_in(scope.tree) for place in places(term) for node in nodes(place)]
    placed = {node.name for node in in_places if isinstance(node, Use)}  # positions are integers
    dtypes = {name: "int64" if name in placed else "float64" for name in operands}
    graph, _, results, _ = build_graph(scope, dtypes, read_views(scope, operands, {}), _ANYTHING)
    node = graph.nodes[results[-1]]
    assert isinstance(node, Arrange)
    return node
