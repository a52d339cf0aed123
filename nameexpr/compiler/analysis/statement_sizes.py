"""Sizes that positions in statements determine, once the shapes of earlier statements are known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import prod
from types import MappingProxyType

from nameexpr.compiler.analysis.operands import Operand, View, Views
from nameexpr.compiler.analysis.readings import labels_of, placed
from nameexpr.compiler.analysis.resolve import resolve
from nameexpr.compiler.analysis.scope import uses_with_terms
from nameexpr.compiler.analysis.sizes import local_dots, solve
from nameexpr.compiler.ir.axes import Labels
from nameexpr.syntax import ast, walk
from nameexpr.syntax.items import is_read


def read_statement(
    tree: ast.Formula,
    statement: ast.Statement,
    shapes: Mapping[str, tuple[int, ...]],
    views: Views,
    rows: Collection[str] = (),
) -> None:
    """Learn the sizes that positions in a statement determine; `shapes` are those of earlier statements, and
    `rows` those that are computed in the same recurrence.
    """
    read = [
        name for name, term in uses_with_terms([statement]) if name in rows or any(map(is_read, term.items))
    ]
    own = tuple(
        dict.fromkeys(
            pair for pair in uses_with_terms([statement]) if pair[0] in shapes or pair[0] in views.operands
        )
    )
    terms = [term for name, term in own if name in views.operands]
    unknown = walk.labels_in(*terms, statement.term or ast.Term(())) - views.sizes.keys()
    undetermined = unknown or placed(views.readings) - views.sizes.keys()
    if not any(name in shapes for name in read) and not undetermined:
        return
    settle(tree, views, shapes)
    _learn(tree, own, shapes, views)


def _learn(
    tree: ast.Formula,
    pairs: Sequence[View],
    shapes: Mapping[str, tuple[int, ...]],
    views: Views,
    held: Collection[str] | None = None,
) -> None:
    """Learn the sizes that uses of operands and of statements determine; `held` are labels that no position
    determines yet, and None means that every size must become known.
    """
    expression = ast.Expression(tuple([term for _, term in pairs]), None, None, tree.text)
    operands = [
        Operand(shapes[name] if name in shapes else views.operands[name].shape, None, name)
        for name, _ in pairs
    ]
    resolved = resolve(expression, operands)
    inside = walk.labels_in(*expression.inputs) | placed(resolved.readings)
    hints = {label: size for label, size in views.sizes.items() if label in inside}
    later = () if held is None else inside - hints.keys()
    resolved = local_dots(resolved, operands)
    resolved, sizes = solve(expression, operands, resolved, hints, held or (), later)
    views.readings.update(resolved.readings)
    views.axes.update(zip(pairs, resolved.operands, strict=True))
    views.sizes.update(sizes)


def settle(
    tree: ast.Formula, views: Views, known: Mapping[str, tuple[int, ...]] = MappingProxyType({})
) -> None:
    """Learn the sizes that all uses of operands and statements determine together, in any order of the
    statements; `known` are shapes of statements.
    """
    uses = tuple(dict.fromkeys(uses_with_terms(tree.statements)))
    labels = walk.labels_in(*[term for _, term in uses])
    is_learning = any(name not in views.operands for name, _ in uses)
    while is_learning and not labels <= views.sizes.keys():
        is_learning = _settled(tree, uses, views, known)


def _settled(
    tree: ast.Formula, uses: Sequence[View], views: Views, known: Mapping[str, tuple[int, ...]]
) -> bool:
    """Learn sizes from the uses of operands, and of statements whose shape is known; return whether there
    were any. Positions of other statements have the first say about their labels.
    """
    shapes, before = {**dict(_shapes(tree, views)), **known}, len(views.sizes)
    pairs = [pair for pair in uses if pair[0] in shapes or pair[0] in views.operands]
    rest = [pair for pair in uses if pair not in pairs]
    _learn(tree, pairs, shapes, views, _undetermined_by(tree, rest, with_places=True))
    if len(views.sizes) == before:
        _learn(tree, pairs, shapes, views, _undetermined_by(tree, rest, with_places=False))
    return len(views.sizes) > before


def _shapes(tree: ast.Formula, views: Views) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the statements whose shapes follow from known sizes."""
    for statement, axes in zip(tree.statements, views.left, strict=True):
        dims = [[_parts_of(label, views) for label in labels] for labels in axes or ()]
        every = {label for dim in dims for parts in dim for part in parts for label in part}
        if statement.name is not None and axes is not None and every <= views.sizes.keys():
            factors = [[sum([_cells(part, views.sizes) for part in parts]) for parts in dim] for dim in dims]
            yield statement.name, tuple(map(prod, factors))


def _parts_of(label: str, views: Views) -> tuple[Labels, ...]:
    return views.joined[label].parts if label in views.joined else ((label,),)


def _cells(labels: Labels, sizes: Mapping[str, int]) -> int:
    return prod([sizes[label] for label in labels])


def _undetermined_by(tree: ast.Formula, uses: Iterable[View], *, with_places: bool) -> set[str]:
    """Return the labels whose sizes follow from statements and operands without a shape yet: labels of their
    dims, and those in positions. A label on the left of a statement does not follow from its uses.
    """
    left = {one.name: walk.labels_in(one.term) if one.term else set() for one in tree.statements}
    found: set[str] = set()
    for name, term in uses:
        own = {atom.name for atom in walk.atoms_of(ast.LABELLED, [term])}
        for place in walk.places(term) if with_places else ():
            own |= set(labels_of(place))
        found |= own - left.get(name, set())
    return found
