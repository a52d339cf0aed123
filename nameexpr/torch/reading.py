"""The operands of the text of a layer, and which of them are its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

from nameexpr.compiler.analysis.faults.misuse import kind_of
from nameexpr.dims import normalised
from nameexpr.errors import did_you_mean
from nameexpr.ops import REDUCTIONS
from nameexpr.syntax.ast import Binary, CallAlong, Expression, Formula, Node, Term, Use
from nameexpr.syntax.walk import children, labels_in, nodes_of, terms_in
from nameexpr.torch.parameters import OperandRole, ParameterSpec, fault, parameters_of, unknown

NO_DIMS = Term(())


def expression_roles(
    compiled: Any, sizes: Mapping[str, int], requested: Mapping[str, int] | None
) -> tuple[ParameterSpec, ...]:
    """Return the parameters of the layer of an expression."""
    tree: Expression = compiled._entry.tree
    summed = frozenset(labels_in(*tree.inputs) - labels_in(*(tree.outputs or ())))
    roles = [OperandRole(None, place, term, summed) for place, term in enumerate(tree.inputs)]
    chosen = None if requested is None else _positions(tree, requested)
    return parameters_of(tree.text, roles, sizes, chosen)


def _positions(tree: Expression, requested: Any) -> dict[str, int]:
    """Return the operands that are requested by name (NE691 for anything but names and positions)."""
    count = len(tree.inputs)
    if not isinstance(requested, Mapping):
        hint = "give names with positions of operands: parameters={'weight': 1}"
        raise fault(tree.text, f"parameters= is {kind_of(requested)}, not a mapping", hint)
    found: dict[str, int] = {}
    for name, place in requested.items():
        if isinstance(place, bool) or not hasattr(place, "__index__") or not -count <= index(place) < count:
            hint = f"the positions of operands are 0 to {count - 1}"
            raise fault(tree.text, f"parameters= has {place!r} for '{name}', which is not an operand", hint)
        if index(place) % count in found.values():
            raise fault(
                tree.text, f"parameters= has operand {index(place) % count} twice", "give it one name"
            )
        found[name] = index(place) % count
    return found


def formula_roles(
    compiled: Any, sizes: Mapping[str, int], requested: Sequence[str] | None
) -> tuple[ParameterSpec, ...]:
    """Return the parameters of the layer of a formula."""
    uses: Mapping[str, tuple[Use, ...]] = compiled._entry.tree.uses
    tree: Formula = compiled._entry.tree.tree
    _check_labels(tree, sizes)
    added, summed = _added(tree), _summed(tree)
    roles = []
    for place, (name, every) in enumerate(uses.items()):
        term = next((use.term for use in every if use.term is not None), NO_DIMS)
        over = frozenset[str]().union(*[summed[id(use)] for use in every])
        roles.append(OperandRole(name, place, term, over, all(id(use) in added for use in every)))
    chosen = None if requested is None else _named(tree, requested, list(uses))
    return parameters_of(tree.text, roles, sizes, chosen)


def _named(tree: Formula, requested: Any, known: list[str]) -> dict[str, int]:
    if isinstance(requested, str) or not all(isinstance(name, str) for name in requested):
        hint = "give the names of operands: parameters=('weight', 'bias')"
        raise fault(tree.text, f"parameters= is {kind_of(requested)}, not a list of names", hint)
    names = list(map(normalised, requested))
    for name in names:
        if name not in known:
            raise unknown(tree.text, name, known)
    return {name: known.index(name) for name in names}


def _check_labels(tree: Formula, sizes: Mapping[str, int]) -> None:
    """Raise NE691 for sizes of labels that the formula does not have: they are often misspelt."""
    labels = labels_in(*terms_in(tree))
    for name in sizes:
        if name not in labels:
            listed = f"the labels are {', '.join(sorted(labels))}" if labels else "the text has no labels"
            hint = did_you_mean(name, sorted(labels)) or listed
            raise fault(tree.text, f"{name}= is not a label of the text", hint)


def _summed(tree: Formula) -> dict[int, frozenset[str]]:
    """Return the labels over which each use is reduced, by its identity: where it is, or in a later statement
    that reduces what the result does not have.
    """
    found: dict[int, frozenset[str]] = {}
    for statement in tree.statements:
        for value in statement.values:
            _collect(value, frozenset(), found)
    last = tree.statements[-1].term
    if last is not None:
        calls = [node for node in nodes_of(tree.statements) if isinstance(node, CallAlong)]
        reduced = labels_in(*[call.term for call in calls if call.function in REDUCTIONS])
        later = frozenset(reduced - labels_in(last))
        found = {use: labels or later for use, labels in found.items()}
    return found


def _collect(node: Node, over: frozenset[str], found: dict[int, frozenset[str]]) -> None:
    if isinstance(node, Use):
        found[id(node)] = over
    if isinstance(node, CallAlong) and node.function in REDUCTIONS:
        over |= labels_in(node.term)
    for child in children(node):
        _collect(child, over, found)


def _added(tree: Formula) -> set[int]:
    """Return the identities of nodes that are added to others, or subtracted."""
    nodes = [node for node in nodes_of(tree.statements) if isinstance(node, Binary)]
    return {id(child) for node in nodes if node.operator in {"+", "-"} for child in children(node)}
