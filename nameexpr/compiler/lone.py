"""Rule 2 of the language: a label summed without being asked must occur at least twice in the inputs.

This is the rule that turns the commonest silent mistake of every einsum, a misspelt contracted name, into an
error. So it says which other label was probably meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from nameexpr.errors import Diagnostic, Mark, did_you_mean
from nameexpr.syntax.ast import Alias, Expression, Label, Sized, Term, atoms

Named = Label | Sized | Alias


def lone_labels(tree: Expression, kept: set[str]) -> Iterator[Diagnostic]:
    """Yield one diagnostic for each misspelling, and one for all other labels that would be summed
    unasked.
    """
    inside = _occurrences(tree.inputs)
    everywhere = _occurrences((*tree.inputs, *(tree.outputs or ())))
    lone = {name: places[0] for name, places in inside.items() if len(places) == 1 and name not in kept}
    plain: list[str] = []
    explained: set[str] = set()
    for name, place in lone.items():
        if name in explained:
            continue
        near = _nearest(name, [other for other in everywhere if other != name])
        if near:
            explained |= {name, near} & lone.keys()
            yield _misspelt(tree, name, near, place, everywhere[near])
        else:
            plain.append(name)
    if plain:
        yield _unasked(tree, plain, [lone[name] for name in plain])


def _occurrences(terms: tuple[Term, ...]) -> dict[str, list[Named]]:
    places: dict[str, list[Named]] = {}
    for term in terms:
        for atom in atoms(term.items):
            if isinstance(atom, Named):
                places.setdefault(atom.name, []).append(atom)
    return places


def _nearest(name: str, others: list[str]) -> str:
    """Return the label that `name` was probably meant to be; single letters are near only in another case."""
    if len(name) == 1:
        return name.swapcase() if name.swapcase() in others else ""
    found = did_you_mean(name, [other for other in others if len(other) > 1])
    return found.removeprefix("did you mean '").removesuffix("'?")


def _misspelt(tree: Expression, name: str, near: str, place: Named, others: list[Named]) -> Diagnostic:
    marks = (Mark(place.span), *(Mark(other.span) for other in others))
    message = f"'{name}' occurs once in the inputs and not in the result, so it would be summed alone"
    hint = f"did you mean '{near}'? to sum over '{name}' all the same, end the text with : sum"
    return Diagnostic("NE217", message, tree.text, marks, hint=hint)


def _unasked(tree: Expression, names: list[str], places: list[Named]) -> Diagnostic:
    listed = " and ".join(f"'{name}'" for name in names)
    message = f"{listed} would be summed without being asked: not in the result, and in one input only"
    if len(names) > 1:
        message = f"{listed} would be summed without being asked: not in the result, and once in the inputs"
    hint = f"to sum, say so: {tree.text.strip()} : sum (or mean, max, ...); else keep the label in the result"
    return Diagnostic("NE217", message, tree.text, tuple(Mark(place.span) for place in places), hint=hint)
