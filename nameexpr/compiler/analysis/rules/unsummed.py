"""Rule 2 of the language: a label summed without being asked must occur at least twice in the inputs.

This is the rule that turns the commonest silent mistake of every einsum, a misspelt contracted name, into an
error. So it says which other label was probably meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nameexpr.errors import Diagnostic, Mark, nearest
from nameexpr.syntax.ast import LABELLED, Alias, Expression, Label, Sized, Term, atoms
from nameexpr.syntax.unparse import unparse, unparse_term

Named = Label | Sized | Alias
SHOWN = 80
"""The longest text that a hint repeats."""
LISTED = 8
"""How many labels one message names."""
SEARCHED = 16
"""For how many labels a near one is looked for: comparing words is slow, and a text may hold thousands."""


def lone_labels(tree: Expression, kept: set[str]) -> Iterator[Diagnostic]:
    """Yield one diagnostic for each misspelling, and one for all other labels that are summed unasked."""
    inside = _occurrences(tree.inputs)
    everywhere = _occurrences(tree.terms)
    lone = {name: places[0] for name, places in inside.items() if len(places) == 1 and name not in kept}
    plain: list[str] = []
    explained: set[str] = set()
    is_run_together = _is_run_together(tree)
    for number, name in enumerate(lone):
        if name in explained:
            continue
        is_searched = number < SEARCHED and not is_run_together
        near = _nearest(name, [other for other in everywhere if other != name]) if is_searched else ""
        if near:
            explained |= {name, near} & lone.keys()
            yield _misspelt(tree, (name, near), lone, everywhere)
        else:
            plain.append(name)
    if plain:
        yield _unasked(tree, plain, [lone[name] for name in plain])


def listed(names: Sequence[str]) -> str:
    """Return the names as a list to read: "'a', 'b' and 'c'"."""
    quoted = [f"'{name}'" for name in names[:LISTED]]
    if len(names) > LISTED:
        quoted.append(f"{len(names) - LISTED:,} more")
    return " and ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))


def reduced_by_sum(tree: Expression) -> str:
    """Return the text as it reads with `: sum`, for a hint; of a long one only the end."""
    text = unparse(tree)
    return f"{text} : sum" if len(text) <= SHOWN else "... : sum, at the end of the text"


def _occurrences(terms: tuple[Term, ...]) -> dict[str, list[Named]]:
    places: dict[str, list[Named]] = {}
    for term in terms:
        for atom in atoms(term.items):
            if isinstance(atom, LABELLED):
                places.setdefault(atom.name, []).append(atom)
    return places


def _nearest(name: str, others: list[str]) -> str:
    """Return the label that `name` was probably meant to be; single letters are near only in another case."""
    if len(name) == 1:
        return name.swapcase() if name.swapcase() in others else ""
    return nearest(name, [other for other in others if len(other) > 1])


def _is_run_together(tree: Expression) -> bool:
    """Whether each input is one word, and the result is written in the letters of these: "ij, jk -> ik"."""
    words = [item.name for term in tree.inputs for item in term.items if isinstance(item, Label)]
    letters = [item.name for term in tree.outputs or () for item in term.items if isinstance(item, Label)]
    return (
        all(len(term.items) <= 1 for term in tree.inputs)
        and len(words) == sum(len(term.items) for term in tree.inputs)
        and len(letters) == sum(len(term.items) for term in tree.outputs or ())
        and set("".join(letters)) <= set("".join(words))
        and "".join(words).isalpha()
    )


def _spaced(tree: Expression) -> str:
    """Return a text that is run together with a space between all letters."""
    inputs = [" ".join(unparse_term(term)) for term in tree.inputs]
    result = "".join(unparse_term(term) for term in tree.outputs or ())
    return f"{', '.join(inputs)} -> {' '.join(result.replace(' ', ''))}".strip()


def _misspelt(
    tree: Expression,
    names: tuple[str, str],
    lone: dict[str, Named],
    everywhere: dict[str, list[Named]],
) -> Diagnostic:
    """Say that the second name is what the first was meant to be, or that they are probably one."""
    name, near = names
    marks = tuple(Mark(place.span) for one in names for place in everywhere[one])
    case = " (upper and lower case differ)" if name.casefold() == near.casefold() else ""
    hint = f"spell both alike{case}; to sum over '{name}' all the same, end the text with : sum"
    if near in lone:
        message = f"'{name}' and '{near}' occur once in the inputs and not in the result: are they one label?"
    elif near not in _occurrences(tree.inputs):
        message = f"'{name}' is not in the result, and '{near}' is in no input: are they one label?"
    else:
        message = f"'{name}' occurs once in the inputs and not in the result: it would be summed in silence"
        hint = f"did you mean '{near}'?{case} to sum over '{name}' all the same, end the text with : sum"
    return Diagnostic("NE217", message, tree.text, marks, hint=hint)


def _unasked(tree: Expression, names: list[str], places: list[Named]) -> Diagnostic:
    where = "and in one input only" if len(names) == 1 else "and each once in the inputs"
    message = f"{listed(names)} would be summed without being asked: not in the result, {where}"
    hint = f"to sum, say so: {reduced_by_sum(tree)} (or mean, max, ...); else keep the label in the result"
    if any(len(name) > 1 for name in names) and _is_run_together(tree):
        hint = f"if each letter is a dim, separate them by spaces: {_spaced(tree)}"
    return Diagnostic("NE217", message, tree.text, tuple(Mark(place.span) for place in places), hint=hint)
