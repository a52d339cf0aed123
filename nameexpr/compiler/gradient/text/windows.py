"""Values that are read at positions, or are a part of zeros, as syntax."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from nameexpr.compiler.gradient.text import arithmetic as write
from nameexpr.compiler.gradient.text.labels import LabelNames, NotWritableError
from nameexpr.compiler.gradient.text.offsets import NEAR, offset
from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.nodes import Read, Segment, Window
from nameexpr.ops import INDEX, SIZE
from nameexpr.syntax import ast

PAIR = 2


def read_term(node: Window, labels: Labels, names: LabelNames) -> ast.Term:
    """Return the term under which a statement with some labels is read as a window of it is."""
    places = {read.label: _place(read, names) for read in node.reads}
    items: list[ast.Item] = []
    for label in labels:
        item = ast.Label(names.name(label))
        items.append(ast.At(ast.Anonymous(), places[label]) if label in places else item)
    return ast.Term(tuple(items))


def _place(read: Read, names: LabelNames) -> ast.Node:
    """Return the position that a window reads: a number, plus multiples of labels."""
    place = offset(read.offset, names)
    for label, stride in read.strides:
        index: ast.Node = ast.Use(INDEX, names.term((label,)))
        if abs(stride) != 1:
            index = ast.Binary("*", offset(abs(stride), names), index)
        place = write.subtracted(place, index) if stride < 0 else write.added(place, index)
    return place


def padded_term(places: tuple[Segment, ...], labels: Labels, names: LabelNames) -> ast.Term | None:
    """Return the term of a statement that is 0 except for a part; None if the rest depends on sizes."""
    parts = {place.label: place for place in places}
    items: list[ast.Item] = []
    for label in labels:
        if label not in parts:
            items.append(ast.Label(names.name(label)))
            continue
        inside = names.term(parts[label].labels).items
        before = parts[label].offset
        after = names.sizes[label] - before - _cells(parts[label].labels, names)
        if before >= NEAR or after >= NEAR or not inside:
            return None
        rest = [ast.Group((ast.Literal(number),)) if number else None for number in (before, after)]
        groups = [one for one in (rest[0], ast.Group(inside), rest[1]) if one is not None]
        whole = inside[0] if len(inside) == 1 else ast.Group(inside)
        items.append(ast.Parts(tuple(groups)) if len(groups) >= PAIR else whole)
    return ast.Term(tuple(items))


def chosen(name: str, places: tuple[Segment, ...], labels: Labels, names: LabelNames) -> ast.Node:
    """Return a statement where the index is inside of a part, and 0 elsewhere."""
    conditions, read = list[ast.Node](), dict[str, ast.Node]()
    for place in places:
        if len(place.labels) > 1:
            raise NotWritableError("a part of a dim is a product")
        index: ast.Node = ast.Use(INDEX, names.term((place.label,)))
        first, at = offset(place.offset, names), index
        if not place.labels:
            conditions.append(ast.Binary("==", index, first))
            continue
        if place.offset:
            conditions.append(ast.Binary(">=", index, first))
            at = write.subtracted(index, first)
        size = ast.Use(SIZE, names.term(place.labels))
        conditions.append(ast.Binary("<", at, size))
        last = write.subtracted(size, ast.Number(1))
        for label in place.labels:
            read[label] = ast.Call("clip", (at, ast.Number(0), last))
    plain = [ast.Label(names.name(one)) for one in labels]
    items = [ast.At(one, read[own]) if own in read else one for own, one in zip(labels, plain, strict=True)]
    inside = reduce(lambda left, right: ast.Binary("&", left, right), conditions)
    value = ast.Use(name, ast.Term(tuple(items)) if items else None)
    return ast.Call("where", (inside, value, ast.Number(0)))


def _cells(labels: Labels, names: LabelNames) -> int:
    sizes: Mapping[str, int] = names.sizes
    return reduce(lambda cells, label: cells * sizes[label], labels, 1)
