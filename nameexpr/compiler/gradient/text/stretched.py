"""`...` and packs as one label each, and back: a text for one dim under them is one for any number of dims.

A pack is the same dims wherever it is used, so a label can take its place. Dims under `...` are the same if
only one operand has them; those of several broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.gradient.text.labels import NotWritableError, fresh
from nameexpr.ops import INDEX, SIZE
from nameexpr.records import replace
from nameexpr.syntax import ast, walk
from nameexpr.syntax.items import rewritten

Change = Callable[[ast.Item], list[ast.Item] | None]
Exchange = Callable[[ast.Node], ast.Node]
DIMS = "dims"
"""The label in place of `...`, if nothing else is called so."""


def labels_instead(scope: Scope) -> dict[str, ast.Dots | ast.Pack]:
    """Return labels to write in place of what stretches in a formula.

    Raises `NotWritableError` if dims under `...` may broadcast, or if other terms of the same operand give
    them labels.
    """
    atoms = walk.atoms_of(ast.STRETCHED, walk.terms_in(scope.tree))
    found = {atom.word: atom for atom in atoms if isinstance(atom, ast.STRETCHED)}
    taken = walk.labels_in(*walk.terms_in(scope.tree))
    if "..." in found and len([name for name in scope.uses if _has_dots(scope, name)]) > 1:
        raise NotWritableError("the dims under '...' of several operands broadcast")
    for name in scope.uses:
        stretched = [bool(walk.atoms_of(ast.STRETCHED, [term])) for term in _terms(scope, name)]
        if any(stretched) and not all(stretched):
            raise NotWritableError(f"'{name}' has labels in one term where another term has none")
    labels: dict[str, ast.Dots | ast.Pack] = {}
    for atom in found.values():
        label = fresh(DIMS if isinstance(atom, ast.Dots) else atom.name, {*taken, *labels})
        labels[label] = atom
    return labels


def _terms(scope: Scope, name: str) -> list[ast.Term]:
    return [use.term for use in scope.uses[name] if use.term is not None]


def _has_dots(scope: Scope, name: str) -> bool:
    return bool(walk.atoms_of(ast.Dots, _terms(scope, name)))


def with_labels(tree: ast.Formula, labels: Mapping[str, ast.Dots | ast.Pack]) -> ast.Formula:
    """Return a formula with labels in place of what stretches."""
    names = {atom.word: label for label, atom in labels.items()}

    def change(item: ast.Item) -> list[ast.Item] | None:
        return [ast.Label(names[item.word])] if isinstance(item, ast.STRETCHED) else None

    made = _changed(tree, change)
    if walk.atoms_of(ast.STRETCHED, walk.terms_in(made)):
        raise NotWritableError("dims without names are a part of others")
    return made


def without_labels(tree: ast.Formula, labels: Mapping[str, ast.Dots | ast.Pack], scope: Scope) -> ast.Formula:
    """Return a formula with what stretches in place of labels; where it needs the sizes of their dims, these
    are counted in an operand of `scope`.

    Raises `NotWritableError` if such a label is used as only that of one dim can be.
    """

    def change(item: ast.Item) -> list[ast.Item] | None:
        return [labels[item.name]] if isinstance(item, ast.Label) and item.name in labels else None

    taken = {*scope.uses, *[one.name or "" for one in tree.statements], *labels}
    counts: dict[str, ast.Statement] = {}

    def counted(node: ast.Node) -> ast.Node:
        match node:
            case ast.Use(name, ast.Term((ast.Label(label),))) if label in labels and name in {SIZE, INDEX}:
                if name == INDEX:
                    raise NotWritableError(f"it needs an index under '{labels[label].word}'")
                if label not in counts:
                    counts[label] = _count(scope, labels[label], fresh("n", taken))
                    taken.add(counts[label].name or "")
                return ast.Use(counts[label].name or "", None)
        return node

    made = _changed(tree, change, counted)
    left = {label.rstrip("'") for label in walk.labels_in(*walk.terms_in(made))} & labels.keys()
    if left:
        raise NotWritableError(f"it needs the dims of '{labels[min(left)].word}' twice")
    return replace(made, statements=(*counts.values(), *made.statements))


def _count(scope: Scope, atom: ast.Dots | ast.Pack, name: str) -> ast.Statement:
    """Return the statement that counts the elements under `...` or a pack, in an operand that has them."""
    uses = [use for every in scope.uses.values() for use in every if use.term is not None]
    for use in uses:
        items = () if use.term is None else use.term.items
        if atom in items and all(isinstance(item, ast.Label) or item == atom for item in items):
            read = [item if item == atom else ast.At(item, ast.Number(0)) for item in items]
            ones = ast.Binary(
                "**", ast.Call("abs", (replace(use, term=ast.Term(tuple(read))),)), ast.Number(0)
            )
            return ast.Statement(name, None, ast.CallAlong("sum", ast.Term((atom,)), (ones,)))
    raise NotWritableError(f"it needs the number of elements under '{atom.word}'")


def _changed(tree: ast.Formula, change: Change, counted: Exchange = lambda node: node) -> ast.Formula:
    """Return a formula whose items are changed, and some of its uses exchanged before."""

    def term_of(term: ast.Term | None) -> ast.Term | None:
        if term is None:
            return None
        items = rewritten(term.items, change)
        read = [replace(one, place=value_of(one.place)) if isinstance(one, ast.At) else one for one in items]
        return replace(term, items=tuple(read))

    def value_of(node: ast.Node) -> ast.Node:
        match node := counted(node):
            case ast.Use(_, term):
                return replace(node, term=term_of(term))
            case ast.Unary(_, value):
                return replace(node, value=value_of(value))
            case ast.Binary(_, left, right):
                return replace(node, left=value_of(left), right=value_of(right))
            case ast.Call(_, arguments):
                return replace(node, arguments=tuple(map(value_of, arguments)))
            case ast.CallAlong(_, term, arguments):
                return replace(node, term=term_of(term), arguments=tuple(map(value_of, arguments)))
        return node

    statements = [
        replace(
            one,
            term=term_of(one.term),
            value=value_of(one.value),
            others=tuple(map(value_of, one.others)),
        )
        for one in tree.statements
    ]
    return replace(tree, statements=tuple(statements))
