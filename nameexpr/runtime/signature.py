"""What an expression takes and gives, as text."""

from __future__ import annotations

from dataclasses import dataclass

from nameexpr.syntax.ast import Alias, Expression, Label, Sized, atoms
from nameexpr.syntax.unparse import unparse, unparse_term


@dataclass(frozen=True, slots=True)
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


def signature_of(tree: Expression) -> Signature:
    """Return the signature of an expression that was read."""
    outputs = tree.outputs or ()
    names = (
        a.name
        for t in (*tree.inputs, *outputs)
        for a in atoms(t.items)
        if isinstance(a, Label | Sized | Alias)
    )
    return Signature(
        text=unparse(tree),
        inputs=tuple(map(unparse_term, tree.inputs)),
        result=", ".join(map(unparse_term, outputs)),
        labels=tuple(dict.fromkeys(names)),
        reducer=None if tree.reducer is None else tree.reducer.name,
    )
