"""The operands and results of an expression or a formula, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nameexpr.records import record
from nameexpr.syntax.ast import Expression
from nameexpr.syntax.items import label_of
from nameexpr.syntax.unparse import unparse, unparse_formula, unparse_term
from nameexpr.syntax.walk import atoms

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.scope import Scope


@record
class Signature:
    """What an expression takes and gives, as text. Its str is the canonical spelling of the expression.

    Attributes
    ----------
    inputs : tuple of str
        The term of each operand.
    result : str
        The term of the result.
    labels : tuple of str
        Every label, in the order of the text.
    reducer : str or None
        The reducer that the text names.
    """

    text: str
    inputs: tuple[str, ...]
    result: str
    labels: tuple[str, ...]
    reducer: str | None

    def __str__(self) -> str:
        """Return the expression in its canonical spelling."""
        return self.text


@record
class FormulaSignature:
    """What a formula takes and gives, as text. Its str is the canonical spelling of the formula.

    Attributes
    ----------
    inputs : tuple of str
        The operands, with the terms of their uses: "x[N C]".
    outputs : tuple of str
        The statements whose values are returned.
    """

    text: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __str__(self) -> str:
        """Return the formula in its canonical spelling."""
        return self.text


def signature_of(tree: Expression, free: Sequence[int]) -> Signature:
    """Return the signature of an expression; `free` are the operands that it takes."""
    outputs = tree.outputs or ()
    every = [atom for term in (*tree.inputs, *outputs) for atom in atoms(term.items)]
    return Signature(
        text=unparse(tree),
        inputs=tuple(unparse_term(tree.inputs[position]) for position in free),
        result=", ".join(map(unparse_term, outputs)),
        labels=tuple(dict.fromkeys(label for atom in every if (label := label_of(atom)) is not None)),
        reducer=None if tree.reducer is None else tree.reducer.name,
    )


def formula_signature(scope: Scope, free: Sequence[int], outputs: tuple[str, ...] | None) -> FormulaSignature:
    """Return the signature of a formula; `free` are the operands that it takes, `outputs` those it
    returns.
    """
    from nameexpr.compiler.analysis.scope import terms_of

    inputs = []
    for name in (scope.operands[position] for position in free):
        terms = terms_of(scope.uses[name])
        inputs.append(", ".join(f"{name}[{unparse_term(term)}]" for term in terms) or name)
    outputs = outputs or (scope.tree.statements[-1].name or "",)
    return FormulaSignature(unparse_formula(scope.tree), tuple(inputs), outputs)
