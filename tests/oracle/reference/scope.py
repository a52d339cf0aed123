"""Terms meet operands in the formula reference: every use of a name becomes dims made of plain labels.

Packs become labels such as ``batch:0``, counted from the left, and ``...`` such as ``...:2``, counted from
the right: those are local to a value and broadcast, all other labels have one size in the whole formula.
"""

from __future__ import annotations

import operator
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from oracle.reference.affine import affine, is_at
from oracle.reference.match import match_name, pack_span, unify
from oracle.reference.recurrences import groups_of, reads_itself, start_of
from oracle.reference.rules import (
    inner_items,
    labels_of,
    live_literals,
    packs_of,
    refuse_bad_input,
    refuse_repeated_names,
)
from oracle.reference.sizes import Positions, learn, settle
from oracle.reference.statements import Index, Size, Statement, Use
from oracle.reference.text import (
    Blank,
    Group,
    Item,
    Label,
    Literal,
    Pack,
    Parts,
    Refused,
    Term,
    parts,
)
from oracle.reference.walks import nodes_of, walk

DOTS = "..."


@dataclass(frozen=True)
class Held:
    """What a name stands for: an array, the names of its dims, and the term of a bare use if it has one."""

    array: np.ndarray[Any, Any]
    names: tuple[str | None, ...]
    term: Term | None
    is_statement: bool = False


@dataclass(frozen=True)
class View:
    """One use of a name: what the term says of each dim, and the names that dims of ``...`` bear."""

    dims: tuple[Item, ...]
    names: dict[str, str | None]
    sizes: dict[str, int]


@dataclass
class Scope:
    """All that is known of the labels of a formula."""

    sizes: dict[str, int] = field(default_factory=dict)
    packs: dict[str, tuple[int, ...]] = field(default_factory=dict)
    pack_names: dict[str, tuple[str | None, ...]] = field(default_factory=dict)
    equations: list[tuple[int, Item]] = field(default_factory=list)
    plain: set[str] = field(default_factory=set)
    in_places: set[str] = field(default_factory=set)

    def solve(self) -> None:
        """Find sizes until nothing changes."""
        before = -1
        while before != len(self.sizes):
            before = len(self.sizes)
            pairs = [(whole, affine(item.place, self.sizes)) for whole, item in self.equations if is_at(item)]
            found = [Positions(place, whole) for whole, place in pairs if place is not None]
            settle(self.sizes, self.equations, found, self.plain)

    def size(self, label: str) -> int:
        """The size of a label."""
        if label not in self.sizes:
            only_there = label in self.in_places - self.plain
            raise Refused("NE316" if only_there else "size", f"{label} is free")
        return self.sizes[label]


def units_of(term: Term) -> list[str]:
    """The labels of a term on the left, and its packs as a word with ``:*`` after it, once each."""
    found = [
        f"{part.word}:*" if isinstance(part, Pack) else part.name
        for part in parts(term)
        if isinstance(part, Pack | Label)
    ]
    return list(dict.fromkeys(found))


def without_sizes(term: Term) -> Term:
    """The term as it is compared with another one."""
    return tuple(
        replace(item, size=None)
        if isinstance(item, Label)
        else replace(item, items=without_sizes(item.items))
        if isinstance(item, Group)
        else replace(item, parts=tuple(map(without_sizes, item.parts)))
        if isinstance(item, Parts)
        else replace(item, base=without_sizes((item.base,))[0])
        if is_at(item)
        else item
        for item in term
    )


def uses_of(statements: Sequence[Statement]) -> dict[str, list[Term | None]]:
    """The terms of each operand's uses, in the order of the text."""
    made: set[str] = set()
    uses: dict[str, list[Term | None]] = {}
    for group in groups_of(statements):
        names = {statement.name for statement in group}
        own = names if any(start_of(statement) for statement in group) else set()
        for node in nodes_of(group):
            if isinstance(node, Use) and node.name not in made | own:
                uses.setdefault(node.name, []).append(node.term)
        for name in (statement.name for statement in group):
            if name in made or name in uses:
                is_meant = reads_itself(group) and group[0].term is not None
                raise Refused("NE243" if is_meant else "name", f"{name} is not new")
            made.add(name)
    return uses


def own_term(name: str, operand: Any, terms: Sequence[Term | None]) -> Term:
    """The term of a bare use of an operand.

    Raises
    ------
    Refused
        Where a bare use might be either of two views, or there is no term to take.
    """
    written = [term for term in terms if term is not None]
    first = written[0] if written else ()
    if terms[0] is None:
        own = tuple(Label(str(word)) for word in getattr(operand, "names", ()))
        if np.ndim(getattr(operand, "array", operand)) != len(own):
            raise Refused("term", f"the first use of {name} carries no term")
        if None in getattr(operand, "names", ()):
            raise Refused("term", f"{name} has a dim without a name")
        written, first = [own, *written], own
    if None in terms and len({without_sizes(term) for term in written}) > 1:
        raise Refused("term", f"{name} has two views and a bare use")
    return first


def refuse_bad_texts(statements: Sequence[Statement]) -> None:
    """What is decided from the terms alone: words of two kinds, blanks, output names."""
    terms = [node.term or () for node in nodes_of(statements) if isinstance(node, Use)]
    for term in terms:
        refuse_bad_input(term)
        if any(size != 1 for size in live_literals(term)):
            raise Refused("literal", "a literal dim in a use")
    outputs = [one.term or () for one in statements]
    for output in outputs:
        refuse_repeated_names(output)
        if any(is_at(item) for item in inner_items(output)):
            raise Refused("NE224", "the left side has no positions")
    terms += outputs
    if any(isinstance(item, Blank) for term in terms for item in term):
        raise Refused("blank", "_ in a formula")
    labels = {label for term in terms for label in labels_of(term)}
    if both := labels & {word for term in terms for word in packs_of(term)}:
        raise Refused("pack", f"{both} are packs and labels")


def learn_written(
    scope: Scope, statements: Sequence[Statement], sizes: Mapping[str, int], own: Sequence[Term]
) -> None:
    """Note the sizes given by the caller and those in the text."""
    uses = [node.term or () for node in nodes_of(statements) if isinstance(node, Use)]
    terms = [*uses, *own, *(one.term or () for one in statements)]
    known = {label for term in terms for label in labels_of(term)}
    known |= {node.label for node in nodes_of(statements) if isinstance(node, Size | Index)}
    scope.plain = {label for term in [*uses, *own] for label in labels_of(term)}
    places = [item.place for term in [*uses, *own] for item in term if is_at(item)]
    scope.in_places = {node.label for place in places for node in walk(place) if isinstance(node, Index)}
    for word, size in sizes.items():
        name = unicodedata.normalize("NFKC", word)
        if name not in known:
            raise Refused("size", f"{word} is not a label")
        learn(scope.sizes, name, operator.index(size))
    for part in (part for term in terms for part in parts(term)):
        if isinstance(part, Label) and part.size is not None:
            learn(scope.sizes, part.name, part.size)


def view(scope: Scope, held: Held, term: Term) -> View:
    """Match one use with what it names; sizes are noted as equations."""
    described = Described(held.array.shape, held.names)
    word, start, stop = pack_span(term, described)
    dims: list[Item] = []
    names: dict[str, str | None] = {}
    sizes: dict[str, int] = {}
    at = 0
    for item in term:
        if isinstance(item, Pack):
            shape = held.array.shape[start:stop]
            labels = pack_labels(scope, word, shape, held.names[start:stop])
            if word == DOTS:
                names |= dict(zip(labels, held.names[start:stop], strict=True))
                sizes |= dict(zip(labels, shape, strict=True))
            dims += [Label(label) for label in labels]
            at = stop
            continue
        match_name(named_item(item, held), held.names[at])
        dims.append(item)
        scope.equations.append((held.array.shape[at], item))
        at += 1
    return View(tuple(dims), names, sizes)


@dataclass(frozen=True)
class Described:
    """Shape and names, as `pack_span` wants them."""

    shape: tuple[int, ...]
    names: tuple[str | None, ...]


def named_item(item: Item, held: Held) -> Item:
    """The item as it is compared with a name: relabelling a statement is free but for an alias."""
    item = item.base if is_at(item) else item
    explicit = (isinstance(item, Label) and item.alias) or (isinstance(item, Group | Parts) and item.name)
    return item if explicit or not held.is_statement else Literal(1)


def pack_labels(scope: Scope, word: str, shape: tuple[int, ...], names: tuple[str | None, ...]) -> list[str]:
    """The labels of the dims under a pack."""
    rank = len(shape)
    if word == DOTS:
        return [f"{word}:{rank - at}" for at in range(rank)]
    if scope.packs.setdefault(word, shape) != shape:
        raise Refused("pack", f"{word} is {scope.packs[word]} and {shape}")
    scope.pack_names[word] = unify(scope.pack_names.get(word, (None,) * rank), names, False)
    for at, size in enumerate(shape):
        scope.sizes[f"{word}:{at}"] = size
    return [f"{word}:{at}" for at in range(rank)]


def expand(scope: Scope, units: Sequence[str], labels: Sequence[str]) -> list[str]:
    """The labels that units stand for in a value with these labels."""
    found: list[str] = []
    for unit in units:
        if unit == f"{DOTS}:*":
            own = [label for label in labels if label.startswith(f"{DOTS}:")]
            found += sorted(own, key=lambda label: -int(label.partition(":")[2]))
        elif unit.endswith(":*"):
            word = unit.removesuffix(":*")
            found += [f"{word}:{at}" for at in range(len(scope.packs[word]))]
        else:
            found.append(unit)
    return found


def is_number(operand: Any) -> bool:
    """Whether this is a Python scalar, which adapts to the dtypes of arrays."""
    return type(operand) in (bool, int, float, complex)
