"""Shapes and dtypes for operands that are not known; dims of different labels have different sizes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import isqrt, prod

from nameexpr.compiler.analysis.scope import Scope, terms_of, uses_with_terms
from nameexpr.compiler.ir.axes import Names
from nameexpr.syntax import ast, walk
from nameexpr.syntax.items import group_of, is_read, label_of, parts_of

Shape = tuple[int, ...]
LARGER = 4
"""How many times as large as all others dims are that are read at positions."""
LOGICAL = frozenset({"&", "|", "~"})


def guessed_dtypes(scope: Scope, dtype: str) -> dict[str, str]:
    """Return dtypes for operands that are not known: `dtype`, except for positions and conditions."""
    found = dict.fromkeys(scope.uses, dtype)
    for term in walk.terms_in(scope.tree):
        for place in walk.places(term):
            found.update({use.name: "int64" for use in walk.nodes(place) if isinstance(use, ast.Use)})
    for node in walk.nodes_of(scope.tree.statements):
        if isinstance(node, ast.Unary | ast.Binary) and node.operator in LOGICAL:
            found.update({use.name: "bool" for use in walk.children(node) if isinstance(use, ast.Use)})
    return {name: found[name] for name in scope.uses}


def example_shapes(
    scope: Scope, names: Mapping[str, Names | None], sizes: Mapping[str, int], start: int, apart: int = 1
) -> dict[str, Shape]:
    """Return shapes of operands that fit the terms, in which labels that may have different sizes have; sizes
    that nothing determines are primes from `start`, each at least `apart` times as large as the one before.
    """
    terms = {
        name: (*(_own(names.get(name)) if any(use.term is None for use in uses) else ()), *terms_of(uses))
        for name, uses in scope.uses.items()
    }
    found = {one.name: one.size for one in walk.atoms_of(ast.Sized, walk.terms_in(scope.tree))} | dict(sizes)
    primes = _primes(start, {*found.values()}, apart)
    whole, read = _products(terms), _read_dims(terms)
    classes = sorted(
        _classes(scope, terms), key=lambda labels: (bool(labels & whole.keys()), bool(labels & read))
    )

    def rest() -> int:
        """Return a size for a dim without a label, which positions of all others are inside of."""
        least = LARGER * max(found.values(), default=1)
        found[""] = next(prime for prime in primes if prime >= least)
        return found[""]

    for labels in classes:
        known = next((found[label] for label in sorted(labels) if label in found), None)
        item = next((whole[label] for label in sorted(labels) if label in whole), None)
        if item is None:
            size = known or (rest() if labels & read else next(primes))
        else:
            size = known or size_of(item, found, rest)
        found.update({label: found.get(label, size) for label in labels})
    return {
        name: tuple([size_of(_dim(one), found, rest) for one in _dims(own)]) for name, own in terms.items()
    }


def _dims(terms: Sequence[ast.Term]) -> list[tuple[ast.Item, ...]]:
    """Return the items by which uses see each dim."""
    return list(zip(*[term.items for term in terms], strict=False))


def _dim(items: Sequence[ast.Item]) -> ast.Item:
    """Return an item that is all of a dim, if there is one."""
    return next((item for item in items if label_of(item)), items[0])


def _read_dims(terms: Mapping[str, Sequence[ast.Term]]) -> set[str]:
    """Return the labels of dims of which other uses read parts, or what is at positions."""
    dims = [items for own in terms.values() for items in _dims(own)]
    read = [items for items in dims if any(map(is_read, items))]
    return {label for items in read for item in items if (label := label_of(item))}


def _own(names: Names | None) -> tuple[ast.Term, ...]:
    """Return the term of a tensor whose uses have none."""
    if not names or None in names:
        return ()
    return (ast.Term(tuple([ast.Label(str(name)) for name in names])),)


def _products(terms: Mapping[str, Sequence[ast.Term]]) -> dict[str, ast.Item]:
    """Return the labels of dims that another use sees as numbers, products or parts, with these."""
    found: dict[str, ast.Item] = {}
    for own in terms.values():
        for items in _dims(own):
            products = [one for one in items if group_of(one) is not None or _is_fixed(one)]
            if products:
                found.update({label: products[0] for one in items if (label := label_of(one))})
    return found


def _is_fixed(item: ast.Item) -> bool:
    """Return whether a dim is a number, or consists of parts all of which have sizes."""
    if isinstance(item, ast.Literal):
        return True
    parts = parts_of(item)
    return parts is not None and not walk.atoms_of(ast.Anonymous, [ast.Term((item,))])


def _classes(scope: Scope, terms: Mapping[str, Sequence[ast.Term]]) -> list[set[str]]:
    """Return the labels in sets that must be equally large, since they are labels of one dim."""
    seen = [(name, term) for name, own in terms.items() for term in own]
    seen += [(one.name, one.term) for one in scope.tree.statements if one.name and one.term is not None]
    seen += uses_with_terms(scope.tree.statements)
    every = [*[term for _, term in seen], *walk.terms_in(scope.tree)]
    classes = [{one.name} for one in walk.atoms_of(ast.LABELLED, every)]
    by_dim: dict[tuple[str, int], set[str]] = {}
    for name, term in seen:
        for dim, label in enumerate(map(label_of, term.items)):
            by_dim.setdefault((name, dim), set()).update({label} if label else ())
    for labels in [*classes, *by_dim.values()]:
        together = [one for one in classes if not one.isdisjoint(labels)]
        classes = [one for one in classes if one not in together]
        classes += [set().union(*together)] if together else []
    return classes


def size_of(item: ast.Item, sizes: Mapping[str, int], rest: Callable[[], int]) -> int:
    """Return the size of a dim, given those of labels; `rest` is that of `_`."""
    parts, group = parts_of(item), group_of(item)
    if parts is not None:
        return sum([size_of(part, sizes, rest) for part in parts.parts])
    if group is not None:
        return prod([size_of(one, sizes, rest) for one in group.items])
    match item:
        case ast.Literal(size) | ast.Sized(_, size):
            return size
        case ast.At(base):
            return size_of(base, sizes, rest)
        case ast.Anonymous():
            return rest()
    return sizes[label_of(item) or ""] if label_of(item) else 1


def _primes(start: int, taken: Collection[int], apart: int) -> Iterator[int]:
    number = start
    while True:
        if number not in taken and all(number % divisor for divisor in range(2, isqrt(number) + 1)):
            yield number
            number *= apart
        number += 1
