"""A formula with stand-ins for its operands, to find the dims that it drops or lacks whatever they hold.

The compiler's own builder is run on shapes that fit the terms. Only mistakes that follow from the labels are
kept: what is said of sizes and dtypes is about the stand-ins.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.placeholders import assumed_shapes
from nameexpr.compiler.analysis.scope import Scope, terms_of
from nameexpr.compiler.analysis.term_queries import terms_in
from nameexpr.errors import Diagnostic, NameExprError
from nameexpr.syntax.ast import STRETCHED, Anonymous, Expression, Term, atoms

_DROPPED, _FOREIGN = "NE240", "NE241"


class _AnyArithmetic:
    """Stands for the arrays' library: every function takes everything, and numbers stay numbers."""

    def dtype_of(self, call: str, dtypes: Sequence[str]) -> str:
        """Return one dtype for all arrays, and one for numbers."""
        return "weak:float" if all(dtype.startswith("weak:") for dtype in dtypes) else "float64"

    def fold(self, call: str, numbers: Sequence[int | float | complex]) -> int | float | complex:
        """Return a number."""
        return 1.0

    def reduced(self, reducer: str, dtypes: Sequence[str]) -> str:
        """Return one dtype for all arrays."""
        return "float64"

    def promoted(self, dtypes: Sequence[str]) -> str:
        """Return one dtype for all arrays."""
        return "float64"


def dims_faults(scope: Scope) -> list[Diagnostic]:
    """Return the dims that a statement drops (NE240), and those that a value lacks (NE241).

    An operand without a term may have dims of its own names: then it is not known what a value lacks. How
    many dims a pack or an ellipsis has is never known.
    """
    if any(_is_open(term) for term in terms_in(scope.tree)):
        return []
    terms = [terms_of(uses) for uses in scope.uses.values()]
    certain = (_DROPPED, _FOREIGN) if all(terms) else (_DROPPED,)
    try:
        _build(scope, dict(zip(scope.uses, map(_operand, terms), strict=True)))
    except NameExprError as fault:
        return [one for one in fault.diagnostics if one.code in certain]
    return []


def _is_open(term: Term) -> bool:
    return any(isinstance(atom, (Anonymous, *STRETCHED)) for atom in atoms(term.items))


def _operand(terms: Sequence[Term]) -> Operand:
    """Return an operand that fits a term; a number if there is none."""
    shapes = assumed_shapes(Expression(tuple(terms[:1]), None, None, ""), {})
    return Operand(next(iter(shapes), ()))


def _build(scope: Scope, operands: dict[str, Operand]) -> None:
    from nameexpr.compiler.analysis.build.formula import build_formula
    from nameexpr.compiler.analysis.views import read_views
    from nameexpr.compiler.ir.graph import Graph

    views = read_views(scope, operands, {})
    dtypes = dict.fromkeys(operands, "float64")
    build_formula(scope, dtypes, views, _AnyArithmetic(), Graph(views.sizes))
