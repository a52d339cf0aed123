"""`check_gradient`: gradients compared with differences, for each operand and each statement by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.carets import aligned_columns
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.errors import NameExprError
from nameexpr.records import record
from nameexpr.runtime import public
from nameexpr.runtime.check_statements import wrong_statements
from nameexpr.runtime.comparing import GradientRow, Subject, wide
from nameexpr.runtime.differentiated import PREFIX, named_operands, read_value
from nameexpr.runtime.formula import merged
from nameexpr.syntax import ast
from nameexpr.syntax.unparse import unparse_formula

if TYPE_CHECKING:
    from nameexpr.typing import Operand

WITHOUT = frozenset({"NE530", "NE532", "NE533", "NE536", "NE537"})
"""Errors of gradients by operands that have none."""


@record
class GradientCheck:
    """The result of `check_gradient`. Printed, it is a table.

    Attributes
    ----------
    ok : bool
        Whether no gradient is wrong.
    rows : tuple of GradientRow
        What was compared: for each operand the element with the largest error. If that is wrong, or a kink,
        also for each statement by itself, which shows where the error comes from.
    without : tuple of str
        The operands without a gradient, if none were named.
    """

    rows: tuple[GradientRow, ...]
    without: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no gradient is wrong."""
        return not any(row.verdict == "wrong" for row in self.rows)

    def __bool__(self) -> bool:
        """Return `ok`."""
        return self.ok

    def __repr__(self) -> str:
        """Return the table."""
        heads = ["by ", "gradient ", "difference ", "error ", ""]
        lines, rows = list[str](), [row for row in self.rows if not row.statement]
        groups = {"": rows}
        for row in self.rows:
            if row.statement:
                groups.setdefault(row.statement, []).append(row)
        cells = [heads, *[_cells(row) for group in groups.values() for row in group]]
        aligned = iter(aligned_columns(cells))
        lines.append(next(aligned))
        for statement, group in groups.items():
            lines += [f"in {statement}"] if statement else []
            lines += [next(aligned) for _ in group]
        if self.without:
            lines.append(f"without a gradient: {', '.join(self.without)}")
        return "\n".join(line.rstrip() for line in lines)


def _cells(row: GradientRow) -> list[str]:
    return [
        f"{row.by} ", f"{row.gradient:.6g} ", f"{row.difference:.6g} ", f"{row.error:.1e} ", row.verdict
    ]  # fmt: skip


@public
def check_gradient(
    text: str,
    wrt: str | Iterable[str] | None = None,
    /,
    *,
    sizes: Mapping[str, int] | None = None,
    operands: Mapping[str, Operand] | None = None,
    **named: Operand,
) -> GradientCheck:
    """Compare the gradients of a formula with differences of its values.

    The formula is evaluated in float64 for operands near the given ones. If a gradient is wrong, or the value
    has a kink there, each statement is compared by itself, so that the report names the one it comes from.
    A statement `d_w` after the value counts as its gradient by `w`: this checks gradients that were edited.

    Parameters
    ----------
    text : str
        A formula, whose last statement, apart from those of gradients, is a real number without dims.
    wrt : str or iterable of str, optional
        The names of operands: ``"w b"``, or ``["w", "b"]``; by default all that have a gradient.
    sizes : dict, optional
        Sizes of labels that operands do not determine.
    operands : dict, optional
        Operands by name, in addition to those by keyword.

    Returns
    -------
    GradientCheck
        The comparisons; `ok` is whether no gradient is wrong.

    Raises
    ------
    NameExprError
        If the operands do not fit the formula, or there is no gradient by a named operand.

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> x, w = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.1, -0.2])
    >>> ne.check_gradient("sum[N](tanh(sum[C](x[N C] * w[C])))", "w", x=x, w=w)
    by      gradient  difference  error
    w[C=0]  3.27448   3.27448     2.8e-12  right
    """
    scope = read_value(text)
    given = {name: wide(value) for name, value in merged(text, operands, named).items()}
    generator, known = np.random.default_rng(0), dict(sizes or {})
    subject = _subject(scope, given, known)
    names = list(scope.uses) if wrt is None else named_operands(scope, wrt)
    without, rows = list[str](), list[GradientRow]()
    for name in names:
        try:
            rows.append(subject.row(name, generator))
        except NameExprError as fault:
            if wrt is not None or fault.code not in WITHOUT:
                raise
            without.append(name)
    is_off = any(row.verdict in {"wrong", "kink"} for row in rows)
    if is_off and len(scope.tree.statements) > 1:
        rows += wrong_statements(subject, generator)
    return GradientCheck(tuple(rows), tuple(without))


def _subject(scope: Scope, given: Mapping[str, Any], sizes: Mapping[str, int]) -> Subject:
    """Return the value of a formula, and the statements that are its gradients."""
    every = scope.tree.statements
    claimed = {name: PREFIX + name for name in scope.uses if PREFIX + name in {one.name for one in every}}
    last = max(number for number, one in enumerate(every) if not (claimed and _is_of_gradients(one, claimed)))
    text = unparse_formula(ast.Formula(every[: last + 1])) if last + 1 < len(every) else scope.text
    return Subject(text, given, sizes, scope.text, claimed)


def _is_of_gradients(statement: ast.Statement, claimed: Mapping[str, str]) -> bool:
    """Return whether a statement is a gradient, or one that `expanded` adds."""
    name = statement.name or ""
    return name in claimed.values() or (name[:1] == "u" and name[1:].isdigit())
