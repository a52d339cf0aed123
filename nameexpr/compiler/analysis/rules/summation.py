"""The rules on labels that the result lacks (docs/language.md, section 3): each must be a contraction, a 1,
or explicitly reduced, and a reducer must have something to reduce.

A label that is implicitly summed must occur at least twice in the inputs: this turns the most common silent
error of any einsum, a misspelt contracted name, into an exception that shows the probable meaning. The rules
run on texts that follow those of `nameexpr.compiler.analysis.rules.check`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nameexpr.errors import Diagnostic, Mark, Proposal, nearest
from nameexpr.syntax import ast
from nameexpr.syntax.items import group_of, parts_in
from nameexpr.syntax.unparse import unparse, unparse_item, unparse_term
from nameexpr.syntax.walk import value_atoms_of


def _nothing_unsaid_is_dropped(tree: ast.Expression, has_reduce: bool) -> Iterator[Diagnostic]:
    """Check rules 2 and 3: what is dropped without a reducer must be a contraction, or a literal 1."""
    if tree.reducer is not None or has_reduce:
        return
    kept = _kept(tree)
    for word, items in _dropped_words(tree, kept).items():
        hint = f"add it to the result, or reduce it: {reduced_by_sum(tree)}"
        message = f"{word} would be implicitly dropped"
        yield Diagnostic("NE213", message, tree.text, tuple(Mark(item.span) for item in items), hint=hint)
    for atom in value_atoms_of(ast.Literal, tree.inputs):
        if atom.size != 1:
            message = (
                f"{atom.size} is a dim without a name: the result cannot keep it, so it would be dropped"
            )
            hint = f"name the dim on both sides, such as d={atom.size}, or reduce it, such as with : sum"
            hint += f"; one position is written _@{atom.size}"
            yield Diagnostic("NE214", message, tree.text, (Mark(atom.span),), hint=hint)
    yield from lone_labels(tree, kept)


def _labels(terms: tuple[ast.Term, ...]) -> set[str]:
    return {atom.name for atom in value_atoms_of(ast.LABELLED, terms)}


def _kept(tree: ast.Expression) -> set[str]:
    assert tree.outputs is not None
    return _labels(tree.outputs) | {atom.word for atom in value_atoms_of(ast.STRETCHED, tree.outputs)}


def _dropped_words(tree: ast.Expression, kept: set[str]) -> dict[str, list[ast.Atom]]:
    """Return the packs, ellipses and anonymous dims that the result lacks, with all their positions."""
    dropped: dict[str, list[ast.Atom]] = {}
    count = len(value_atoms_of(ast.Anonymous, tree.outputs or ()))
    for anonymous in value_atoms_of(ast.Anonymous, tree.inputs)[count:]:
        dropped.setdefault("_", []).append(anonymous)
    for item in value_atoms_of(ast.STRETCHED, tree.inputs):
        if item.word not in kept:
            dropped.setdefault(f"'{item.word}'", []).append(item)
    return dropped


def _something_is_dropped(tree: ast.Expression, has_reduce: bool) -> Iterator[Diagnostic]:
    if tree.reducer is None and not has_reduce:
        return
    kept = _kept(tree)
    names = _labels(tree.inputs)
    literals = any(_has_literal(term.items) for term in tree.inputs)
    has_parts = any(True for term in tree.outputs or () for _ in parts_in(term.items))
    if names - kept or (literals and not has_parts) or _dropped_words(tree, kept):
        return
    marks = (Mark(tree.reducer.span),) if tree.reducer is not None else ()
    which = f"': {tree.reducer.name}'" if tree.reducer is not None else "reduce="
    hint = "leave the reducer out" + ("" if literals else ", or leave a label out of the result")
    why = "a result that consists of parts has no sums" if literals else "every dim is kept"
    message = f"{which} has nothing to reduce: {why}"
    yield Diagnostic("NE215", message, tree.text, marks, hint=hint)


def _has_literal(items: tuple[ast.Item, ...]) -> bool:
    """Return whether an item is a dim without a label: a literal, or `()`, which is the same as 1."""
    groups = [group for item in items if (group := group_of(item)) is not None]
    return any(isinstance(item, ast.Literal) for item in items) or any(
        not group.items or _has_literal(group.items) for group in groups
    )


DROPPING_RULES = (_nothing_unsaid_is_dropped, _something_is_dropped)


SHOWN = 80
"""The length of the longest text that a hint repeats."""
NETWORK = 3
"""The number of operands from which labels that occur once are likely to be open ends of a network."""
DIGITS = "0123456789₀₁₂₃₄₅₆₇₈₉'"
"""The characters that distinguish the labels of a series: r1 and r2, k and k'."""
LISTED = 8
"""How many labels one message names."""
SEARCHED = 16
"""The number of labels for which a similar one is searched: comparing words is slow, and a text may contain
thousands.
"""


def lone_labels(tree: ast.Expression, kept: set[str]) -> Iterator[Diagnostic]:
    """Yield one diagnostic for each misspelling, and one for all other labels that are implicitly summed."""
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
    """Return the names as a readable list: "'a', 'b' and 'c'"."""
    quoted = [f"'{name}'" for name in names[:LISTED]]
    if len(names) > LISTED:
        quoted.append(f"{len(names) - LISTED:,} more")
    return " and ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))


def reduced_by_sum(tree: ast.Expression) -> str:
    """Return the text with `: sum`, for a hint; of a long text only the end."""
    text = unparse(tree)
    return f"{text} : sum" if len(text) <= SHOWN else "... : sum, at the end of the text"


def _occurrences(terms: tuple[ast.Term, ...]) -> dict[str, list[ast.Labelled]]:
    places: dict[str, list[ast.Labelled]] = {}
    for atom in value_atoms_of(ast.LABELLED, terms):
        places.setdefault(atom.name, []).append(atom)
    return places


def _nearest(name: str, others: list[str]) -> str:
    """Return the label that `name` was probably meant to be.

    Single letters are similar only to their other case; those of a series, `r1` and `r2`, never are.
    """
    if len(name) == 1:
        return name.swapcase() if name.swapcase() in others else ""
    stem = name.rstrip(DIGITS)
    is_numbered = stem != name
    words = (other for other in others if len(other) > 1)
    return nearest(name, [word for word in words if not (is_numbered and word.rstrip(DIGITS) == stem)])


def _is_run_together(tree: ast.Expression) -> bool:
    """Return whether each input is one word, whose letters make up the result: "ij, jk -> ik"."""
    words = [item.name for term in tree.inputs for item in term.items if isinstance(item, ast.Label)]
    letters = [item.name for term in tree.outputs or () for item in term.items if isinstance(item, ast.Label)]
    return (
        all(len(term.items) <= 1 for term in tree.inputs)
        and len(words) == sum(len(term.items) for term in tree.inputs)
        and len(letters) == sum(len(term.items) for term in tree.outputs or ())
        and set("".join(letters)) <= set("".join(words))
        and "".join(words).isalpha()
    )


def _misspelt(
    tree: ast.Expression,
    names: tuple[str, str],
    lone: dict[str, ast.Labelled],
    everywhere: dict[str, list[ast.Labelled]],
) -> Diagnostic:
    """Report that the second name was meant to be the first, or that they are probably the same."""
    name, near = names
    marks = tuple(Mark(item.span) for word in names for item in everywhere[word])
    case = " (upper and lower case differ)" if name.casefold() == near.casefold() else ""
    hint = f"spell both alike{case}; to sum over '{name}' anyway, end the text with : sum"
    if near in lone:
        message = (
            f"'{name}' and '{near}' occur once in the inputs and not in the result: are they the same label?"
        )
    elif near not in _occurrences(tree.inputs):
        message = f"'{name}' is not in the result, and '{near}' is not in any input: are they the same label?"
    else:
        message = f"'{name}' would be implicitly summed: it occurs once in the inputs and not in the result"
        hint = Proposal(near, f"{case} to sum over '{name}' anyway, end the text with : sum")
    return Diagnostic("NE217", message, tree.text, marks, hint=hint)


def _unasked(tree: ast.Expression, names: list[str], items: list[ast.Labelled]) -> Diagnostic:
    which = "it occurs" if len(names) == 1 else "each occurs"
    message = f"{listed(names)} would be implicitly summed: {which} once in the inputs and not in the result"
    hint = f"to sum, write {reduced_by_sum(tree)} (or mean, max, ...); to keep a dim, add it to the result"
    if len(tree.inputs) >= NETWORK:
        hint = "write 1 for an open end of size 1, or add it to the result; to sum, end the text with : sum"
    if any(len(name) > 1 for name in names) and _is_run_together(tree):
        inputs = ", ".join([" ".join(unparse_term(term)) for term in tree.inputs])
        result = " ".join([letter for item in (tree.outputs or ())[0].items for letter in unparse_item(item)])
        hint = f"if each letter is a dim, separate them by spaces: {f'{inputs} -> {result}'.strip()}"
    return Diagnostic("NE217", message, tree.text, tuple(Mark(item.span) for item in items), hint=hint)
