"""One evaluation of a formula in the reference: names, sizes, and the value of every tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oracle.reference.ahead import learn_ahead
from oracle.reference.gather import cells, gather, join, position
from oracle.reference.held import NOTHING, hold, join_dots
from oracle.reference.match import Named
from oracle.reference.place import Placed, place
from oracle.reference.reductions import KEEPING, SUMMING, along
from oracle.reference.rules import inner_items, labels_of, live_labels
from oracle.reference.scope import (
    DOTS,
    Held,
    Scope,
    View,
    expand,
    is_number,
    learn_written,
    nodes_of,
    refuse_bad_texts,
    units_of,
    uses_of,
    view,
    walk,
)
from oracle.reference.statements import Along, Call, Index, Number, Size, Statement, Tree, Use
from oracle.reference.text import At, Item, Pack, Parts, Refused, Term
from oracle.reference.values import Value, from_array, from_number, inexact, pointwise

MULTIPLYING = {"*", "/", "u-", "u+", "square"}


@dataclass(frozen=True)
class Answer:
    """One output: the array in its dtype, its names if an operand has any, how far each cell may be off."""

    array: np.ndarray[Any, Any]
    names: tuple[str | None, ...] | None
    error: np.ndarray[Any, Any]

    def plain(self) -> np.ndarray[Any, Any] | Named:
        """The array, named if it has names."""
        return self.array if self.names is None else Named(self.array, self.names)


class Run:
    """One evaluation: the operands, and the statements so far."""

    def __init__(
        self, statements: Sequence[Statement], sizes: Mapping[str, int], operands: Mapping[str, Any]
    ) -> None:
        refuse_bad_texts(statements)
        self.scope = Scope()
        self.named = any(isinstance(operand, Named) for operand in operands.values())
        self.numbers = {name: operand for name, operand in operands.items() if is_number(operand)}
        uses = uses_of(statements)
        if set(uses) != set(operands):
            raise Refused("operands", f"{sorted(uses)} are used, {sorted(operands)} are given")
        self.held = {name: hold(name, operands[name], terms) for name, terms in uses.items()}
        self.values: dict[str, Value] = {}
        self.units: dict[str, list[str]] = {}
        self.dots: dict[str, dict[str, str | None]] = {}
        self.placed: dict[str, Placed] = {}
        learn_written(self.scope, statements, sizes, [one.term or () for one in self.held.values()])
        self.views: dict[tuple[str, Term], View] = {}
        self.steps: dict[str, Any] = {}
        self.weak: dict[str, Any] = {}
        for node in nodes_of(statements):
            if isinstance(node, Use) and node.name in self.held:
                self.seen(node)
        learn_ahead(self.scope, statements, [term for _, term in self.views])

    def see(self, nodes: Iterable[Tree]) -> None:
        """Match the uses in trees with what they name, as far as that is known."""
        for node in nodes:
            if isinstance(node, Use) and node.name in self.held:
                self.seen(node)
        self.scope.solve()

    def seen(self, use: Use) -> View:
        """How one use sees its array."""
        held = self.held.get(use.name, NOTHING)
        term = held.term if use.term is None else use.term
        if term is None:
            raise Refused("term", f"{use.name} must be relabelled")
        if held is NOTHING:
            raise Refused("term", f"{use.name} has no term on its left and cannot be relabelled")
        if (use.name, term) not in self.views:
            self.views[use.name, term] = view(self.scope, held, term)
        return self.views[use.name, term]

    def execute(self, statement: Statement) -> None:
        """Evaluate a statement and keep its value."""
        self.see(nodes_of([statement]))
        mentions = [self.mentions(value) for value in statement.values]
        units = list(dict.fromkeys(unit for mention in mentions for unit in mention))
        name, term = statement.name, statement.term
        if term is not None:
            self.refuse_bad_left(statement, units)
        values = [self.value(value) for value in statement.values]
        dots: dict[str, str | None] = {}
        for value in statement.values:
            dots = join_dots(dots, self.names_of_dots(value))
        self.values[name], self.units[name], self.dots[name] = values[0], units, dots
        if term is None:
            if len(values) > 1:
                raise Refused("NE222", f"{len(values)} values of {name}")
            labels = expand(self.scope, units, values[0].labels)
            self.placed[name] = place(self.scope, values[0], [(label,) for label in labels], dots)
            return
        self.placed[name] = join(self.scope, values, term, dots)
        self.units[name] = units_of(term)
        self.held[name] = self.hold_statement(term, self.placed[name])

    def refuse_bad_left(self, statement: Statement, units: list[str]) -> None:
        """What is on the right is on the left too, and the packs of the left are on the right."""
        left = units_of(statement.term or ())
        if missing := set(units) - set(left):
            raise Refused("summation", f"{sorted(missing)} are not on the left of {statement.name}")
        if new := {unit for unit in set(left) - set(units) if unit.endswith(":*")}:
            raise Refused("pack", f"{sorted(new)} are not on the right of {statement.name}")

    def hold_statement(self, term: Term, placed: Placed) -> Held:
        """A statement as later ones use it."""
        labels = labels_of(term)
        literal = any(size != 1 for dim in placed.dims for size in dim if isinstance(size, int))
        parted = any(isinstance(item, Parts) for item in inner_items(term))
        bare = None if literal or parted or len(set(labels)) < len(labels) else term
        names = placed.names if self.named else (None,) * placed.array.ndim
        return Held(placed.array, names, bare, is_statement=True)

    def mentions(self, tree: Tree) -> list[str]:
        """The free labels and packs of a tree, in the order of the text."""
        if isinstance(tree, Index):
            return [tree.label]
        if isinstance(tree, Use):
            if tree.term is None and tree.name in self.units:
                return self.units[tree.name]
            return self.units_in((self.held[tree.name].term or ()) if tree.term is None else tree.term)
        if isinstance(tree, Call):
            return list(dict.fromkeys(unit for arg in tree.args for unit in self.mentions(arg)))
        if not isinstance(tree, Along):
            return []
        found, bound = self.mentions(tree.body), units_of(tree.dims)
        if missing := set(bound) - set(found):
            raise Refused("dims", f"{sorted(missing)} are not in the body of {tree.name}")
        return found if tree.name in KEEPING else [unit for unit in found if unit not in bound]

    def units_in(self, term: Term) -> list[str]:
        """The labels and packs of a value that is read by a term."""
        found: list[str] = []
        for item in term:
            packs = [f"{item.word}:*"] if isinstance(item, Pack) else []
            found += packs or live_labels((item,), self.mentions)
        return list(dict.fromkeys(found))

    def names_of_dots(self, tree: Tree) -> dict[str, str | None]:
        """The names that the dims of `...` have in a value."""
        if isinstance(tree, Use):
            if tree.term is None and self.held.get(tree.name, NOTHING).term is None:
                return self.dots[tree.name]
            return self.seen(tree).names
        if isinstance(tree, Along):
            gone = tree.name not in KEEPING and Pack(DOTS) in tree.dims
            return {} if gone else self.names_of_dots(tree.body)
        found: dict[str, str | None] = {}
        for arg in tree.args if isinstance(tree, Call) else ():
            found = join_dots(found, self.names_of_dots(arg))
        return found

    def value(self, tree: Tree) -> Value:
        """Evaluate a tree."""
        if isinstance(tree, Number):
            return from_number(tree.value)
        if isinstance(tree, Size):
            return from_number(self.scope.size(tree.label))
        if isinstance(tree, Index):
            return self.indices(tree.label)
        if isinstance(tree, Call):
            return pointwise(tree.name, [self.value(arg) for arg in tree.args])
        if isinstance(tree, Use):
            return self.used(tree)
        body = self.product(tree.body) if tree.name in SUMMING else self.value(tree.body)
        dims = expand(self.scope, units_of(tree.dims), body.labels)
        if self.weak:  # rows whose dtype is not known have no labels either
            dims = [label for label in dims if label in body.labels]
        return along(tree.name, body, dims)

    def product(self, tree: Tree) -> Value:
        """Evaluate what is summed: its factors are widened before they are multiplied."""
        if isinstance(tree, Call) and tree.name in MULTIPLYING:
            return pointwise(tree.name, [self.product(arg) for arg in tree.args], widening=True)
        if isinstance(tree, Call) and tree.name in ("**", "pow"):
            power = self.value(tree.args[1])
            if type(power.number) is int and power.number >= 1:
                return pointwise(tree.name, [self.product(tree.args[0]), power], widening=True)
        return self.value(tree)

    def used(self, use: Use) -> Value:
        """The array of one use, cut into its labels."""
        if use.term is None and use.name not in self.held:
            return self.at_step(self.values[use.name])
        if use.name in self.weak:
            return from_number(self.weak[use.name])
        cut, placed = self.cut(use), self.placed.get(use.name)
        if placed and placed.value.number is not None and not placed.dims:
            return from_number(placed.value.number)
        return from_number(self.numbers[use.name]) if use.name in self.numbers else cut

    def at_step(self, value: Value) -> Value:
        """A value as a step sees it."""
        if not self.steps.keys() & set(value.labels):
            return value
        every = zip(value.labels, value.array.shape, strict=True)
        return gather(
            value, [from_array(self.steps.get(label, np.arange(size)), (label,)) for label, size in every]
        )

    def cut(self, use: Use) -> Value:
        """Read the cells of an array, each where its term says."""
        seen, placed = self.seen(use), self.placed.get(use.name)
        value = placed.value if placed else from_array(self.held[use.name].array, self.axes(use))
        dims = zip(seen.dims, value.array.shape, strict=True)
        return gather(value, [self.cells(item, whole, seen) for item, whole in dims])

    def cells(self, item: Item, whole: int, seen: View) -> Value:
        """Where along a dim of this size a use reads, for each index of its labels."""

        def indices(label: str) -> Value:
            return (
                from_array(np.arange(seen.sizes[label]), (label,))
                if label in seen.sizes
                else self.indices(label)
            )

        for label in set(labels_of((item,))) - set(seen.sizes):
            self.scope.size(label)
        return cells(item, indices, self.scope.sizes, whole, None, self.positions)

    def positions(self, item: At, whole: int) -> Value:
        """The positions of an item in a dim of this size."""
        is_data = any(isinstance(node, Use) for node in walk(item.place))
        return position(self.value(item.place), whole, is_data)

    def indices(self, label: str) -> Value:
        """The indices of a label: in a recurrence that of the step alone."""
        if label in self.steps:
            return from_array(self.steps[label], (label,))
        return from_array(np.arange(self.scope.size(label), dtype="int64"), (label,))

    def axes(self, use: Use) -> tuple[str, ...]:
        """Stand-ins for the labels of an array that is not cut yet."""
        return tuple(f"axis:{at}" for at in range(self.held[use.name].array.ndim))

    def answer(self, name: str) -> Answer:
        """One output."""
        placed = self.placed[name]
        array = placed.array.astype(placed.value.dtype) if inexact(placed.value.dtype) else placed.array
        if not self.named:
            return Answer(array, None, placed.value.error)
        return Answer(array, Named(array, placed.names).names, placed.value.error)
