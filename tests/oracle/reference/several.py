"""Expressions with parts in the result, or with several results: each block by an expression of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from oracle.reference.match import Named
from oracle.reference.rules import inner_items, labels_of
from oracle.reference.sizes import size_of, solve
from oracle.reference.text import Blank, Group, Item, Label, Literal, Pack, Parts, Refused, Term, Text

Einsum = Callable[..., Any]


def is_parted(text: Text) -> bool:
    """Whether an expression joins or splits."""
    return bool(text.others) or any(isinstance(item, Parts) for item in inner_items(text.output or ()))


def several(text: Text, operands: Sequence[Any], sizes: Mapping[str, int], einsum: Einsum) -> Any:
    """Join operands into one result, or split one operand."""
    outputs = (text.output or (), *text.others)
    if text.others and not any(isinstance(item, Parts) for term in text.inputs for item in term):
        raise Refused("output", "several results need parts")
    every = inner_items(tuple(item for term in (*text.inputs, *outputs) for item in term))
    if text.reducer or any(isinstance(item, Pack) for item in every):
        raise Refused("unspecified", "a reducer or a pack with parts")
    if len(text.inputs) != len(operands):
        raise Refused("operands", f"{len(text.inputs)} terms, {len(operands)} operands")
    shapes = [np.shape(one.array if isinstance(one, Named) else one) for one in operands]
    if any(len(term) != len(shape) for term, shape in zip(text.inputs, shapes, strict=True)):
        raise Refused("operands", "other numbers of dims")
    known: dict[str, int] = {}
    solve(known, [*text.inputs, *outputs], shapes, sizes)
    if text.others:
        return tuple(split(text, term, operands, known, einsum) for term in outputs)
    return join(text, operands, known, einsum)


def split(text: Text, output: Term, operands: Sequence[Any], sizes: Mapping[str, int], einsum: Einsum) -> Any:
    """One result: of each dim of parts the one that has labels of this result."""
    if len(text.inputs) > 1:
        raise Refused("NE221", "several operands")
    results = {label for term in (text.output or (), *text.others) for label in labels_of(term)}
    items: list[Item] = []
    for item in text.inputs[0]:
        if isinstance(item, Parts):
            if lost := set(labels_of((item,))) - results:
                raise Refused("NE221", f"{lost} are in no result")
            wanted = [part for part in item.parts if set(labels_of(part)) & set(labels_of(output))]
            if len(wanted) != 1:
                raise Refused("NE220", f"{len(wanted)} parts in one result")
            item = Parts(tuple(part if part == wanted[0] else skipped(part, sizes) for part in item.parts))
        items.append(item)
    return einsum(Text((tuple(items),), output, None), *operands, sizes=sizes_in(tuple(items), output, sizes))


def skipped(part: Term, sizes: Mapping[str, int]) -> Term:
    """A part that is passed over."""
    return part if part == (Blank(),) else (Literal(size_of(Group(part), sizes)),)


def sizes_in(term: Term, output: Term, sizes: Mapping[str, int]) -> dict[str, int]:
    """The sizes of the labels of two terms."""
    return {label: sizes[label] for label in (*labels_of(term), *labels_of(output))}


def join(text: Text, operands: Sequence[Any], sizes: Mapping[str, int], einsum: Einsum) -> Any:
    """Zeros, and each operand where its block is."""
    output = text.output or ()
    choices = [item.parts if isinstance(item, Parts) else ((item,),) for item in output]
    starts = [[0, *itertools.accumulate(size_of(Group(part), sizes) for part in parts)] for parts in choices]
    blocks = list(itertools.product(*(range(len(parts)) for parts in choices)))
    filled = [
        block
        for block in blocks
        if all(len(parts) == 1 or labels_of(parts[at]) for parts, at in zip(choices, block, strict=True))
    ]
    if len(operands) not in (len(blocks), len(filled)):
        raise Refused("NE222", f"{len(blocks)} blocks, {len(operands)} operands")
    filled = blocks if len(operands) == len(blocks) else filled
    arrays = [one.array if isinstance(one, Named) else one for one in operands]
    result = np.zeros([size_of(item, sizes) for item in output], np.result_type(*arrays))
    for term, operand, block in zip(text.inputs, operands, filled, strict=True):
        dims = tuple(one_dim(parts[at]) for parts, at in zip(choices, block, strict=True))
        if lost := set(labels_of(term)) - set(labels_of(dims)):
            others = set(labels_of(output))
            raise Refused("NE223" if lost & others else "summation", f"{lost} are not in the block")
        inside = einsum(Text((term,), dims, None), operand, sizes=sizes_in(term, dims, sizes))
        where = tuple(slice(start[at], start[at + 1]) for start, at in zip(starts, block, strict=True))
        result[where] = inside.array if isinstance(inside, Named) else inside
    if not any(isinstance(one, Named) for one in operands):
        return result
    return Named(result, tuple(map(name_of, output)))


def one_dim(part: Term) -> Item:
    """A part as a dim."""
    return part[0] if len(part) == 1 else Group(part)


def name_of(item: Item) -> str | None:
    """The name of a dim of the result."""
    if isinstance(item, Label):
        return item.alias or item.name
    return item.name if isinstance(item, Group | Parts) else None
