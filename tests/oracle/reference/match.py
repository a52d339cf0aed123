"""Terms meet operands in the reference evaluator: every dim becomes plain labels, every label gets one size.

Packs, `...`, `_` and literals are replaced by labels of their own. Those hold a colon (``"...:0"``), which no
written label can, so that afterwards a term is nothing but labels and groups of labels, one item for a dim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from oracle.reference.rules import labels_of, live_labels, live_part
from oracle.reference.sizes import solve
from oracle.reference.text import (
    At,
    Blank,
    Group,
    Item,
    Label,
    Literal,
    Pack,
    Parts,
    Refused,
    Term,
    Text,
    parts,
)


@dataclass(frozen=True)
class Named:
    """An array with a name or None for each dim: the reference's NamedTensor."""

    array: Any
    names: tuple[str | None, ...]

    def __post_init__(self) -> None:
        """Reject names that cannot be a tensor's."""
        written = [name for name in self.names if name is not None]
        if len(self.names) != np.ndim(self.array) or len(set(written)) < len(written):
            raise Refused("name", f"{self.names} for {np.ndim(self.array)} dims")


@dataclass(frozen=True)
class Operand:
    """Shape and names of one operand."""

    shape: tuple[int, ...]
    names: tuple[str | None, ...]


@dataclass
class Bound:
    """Terms of labels alone, and all that is known of the labels."""

    inputs: list[Term] = field(default_factory=list)
    output: Term | None = None
    names: tuple[str | None, ...] = ()
    order: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    packs: dict[str, tuple[int, ...]] = field(default_factory=dict)
    kept_names: dict[str, str | None] = field(default_factory=dict)


def describe(operand: Any) -> Operand:
    """Shape and names of what was passed."""
    if isinstance(operand, Named):
        return Operand(np.shape(operand.array), operand.names)
    return Operand(np.shape(operand), (None,) * np.ndim(operand))


def bind(text: Text, operands: Sequence[Operand], left_out: bool, sizes: Mapping[str, int]) -> Bound:
    """Match each operand with its term and solve the sizes.

    Raises
    ------
    Refused
        Where a number of dims, a name or a size does not fit.
    """
    bound = Bound()
    if left_out:
        bind_own_names(bound, text.output or (), operands)
    else:
        bind_inputs(bound, text, operands)
    if text.output is not None:
        bind_output(bound, text.output)
    terms = [*bound.inputs, bound.output or ()]
    if left_out:
        sizes = without_hidden(operands, labels_of(tuple(item for term in terms for item in term)), sizes)
    solve(bound.sizes, terms, [operand.shape for operand in operands], sizes)
    return bound


def without_hidden(
    operands: Sequence[Operand], labels: Sequence[str], sizes: Mapping[str, int]
) -> Mapping[str, int]:
    """The sizes but for those of names under `...`, which are what the operands say."""
    pairs = [pair for one in operands for pair in zip(one.names, one.shape, strict=True)]
    hidden = {name: size for name, size in pairs if name is not None and name not in labels}
    for name in hidden.keys() & sizes.keys():
        if hidden[name] != sizes[name]:
            raise Refused("size", f"{name} is {hidden[name]}")
    return {name: size for name, size in sizes.items() if name not in hidden}


def bind_own_names(bound: Bound, output: Term, operands: Sequence[Operand]) -> None:
    """Left-out inputs: names are the terms, `...` of the output the dims it does not mention."""
    mentioned, rest = set(labels_of(output)), [part for part in parts(output) if isinstance(part, Pack)]
    if rest and len(operands) > 1:
        raise Refused("pack", "... with several left-out inputs")
    for operand in operands:
        term: list[Item] = []
        for name, size in zip(operand.names, operand.shape, strict=True):
            if name in mentioned or not rest:
                if name is None:
                    raise Refused("name", "an unnamed dim of a left-out input")
                term.append(Label(name))
            else:
                term.append(inner(bound, f"...:{len(bound.kept_names)}", size, name))
                bound.packs["..."] = (*bound.packs.get("...", ()), size)
        bound.packs.setdefault("...", ())
        bound.inputs.append(tuple(term))
        bound.order += labels_of(tuple(term))


def inner(bound: Bound, label: str, size: int, name: str | None = None) -> Label:
    """A label of our own making, with its size and the name that its dim keeps."""
    bound.sizes[label], bound.kept_names[label] = size, name
    return Label(label)


def bind_inputs(bound: Bound, text: Text, operands: Sequence[Operand]) -> None:
    """Written inputs: one term for each operand."""
    if len(text.inputs) != len(operands):
        raise Refused("operands", f"{len(text.inputs)} terms, {len(operands)} operands")
    spans = [pack_span(term, operand) for term, operand in zip(text.inputs, operands, strict=True)]
    for word in dict.fromkeys(word for word, _, _ in spans if word):
        shapes = [op.shape[a:b] for (w, a, b), op in zip(spans, operands, strict=True) if w == word]
        names = [op.names[a:b] for (w, a, b), op in zip(spans, operands, strict=True) if w == word]
        join_pack(bound, word, shapes, names)
    for term, operand, (word, start, stop) in zip(text.inputs, operands, spans, strict=True):
        bind_input(bound, term, operand, word, range(start, stop))


def pack_span(term: Term, operand: Operand) -> tuple[str, int, int]:
    """The pack of a term and the dims of the operand that it stands for."""
    ndim = len(operand.shape)
    for at, item in enumerate(term):
        if isinstance(item, Pack) and ndim >= len(term) - 1:
            return item.word, at, at + ndim - len(term) + 1
    if ndim != len(term):
        raise Refused("operands", f"{ndim} dims for a term of {len(term)}")
    return "", 0, 0


def join_pack(
    bound: Bound, word: str, shapes: list[tuple[int, ...]], names: list[tuple[str | None, ...]]
) -> None:
    """Give a pack its dims: equal ones, or broadcast ones for `...`, with unified names."""
    if word != "..." and len(set(shapes)) > 1:
        raise Refused("pack", f"{word} is {shapes}")
    rank = max(map(len, shapes))
    shape = (1,) * rank
    joined: tuple[str | None, ...] = (None,) * rank
    for other, other_names in zip(shapes, names, strict=True):
        shape = broadcast(shape, (1,) * (rank - len(other)) + other)
        joined = unify(joined, other_names, word == "...")
    bound.packs[word] = shape
    for at, (size, name) in enumerate(zip(shape, joined, strict=True)):
        inner(bound, f"{word}:{at}", size, name)


def broadcast(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    """NumPy's broadcasting of two shapes of one length."""
    for a, b in zip(left, right, strict=True):
        if a != b and 1 not in (a, b):
            raise Refused("size", f"... is {a} here and {b} there")
    return tuple(b if a == 1 else a for a, b in zip(left, right, strict=True))


def unify(
    joined: tuple[str | None, ...], other: tuple[str | None, ...], check_alignment: bool
) -> tuple[str | None, ...]:
    """Names from the right: equal, or one of them None and then not elsewhere in the other's names."""
    padded = (None,) * (len(joined) - len(other)) + other
    for mine, theirs in zip(joined, padded, strict=True):
        if mine is not None and theirs is not None and mine != theirs:
            raise Refused("name", f"{mine} meets {theirs}")
        misaligned = (theirs is None and mine in other) or (mine is None and theirs in joined)
        if check_alignment and mine != theirs and misaligned:
            raise Refused("name", f"{mine or theirs} is misaligned")
    return tuple(mine or theirs for mine, theirs in zip(joined, padded, strict=True))


def bind_input(bound: Bound, term: Term, operand: Operand, word: str, span: range) -> None:
    """Replace what is not a label in one input term, and match the names."""
    out: list[Item] = []
    at = 0
    for item in term:
        if isinstance(item, Pack):
            own = pack_labels(bound, word, [operand.shape[at] for at in span])
            out += own
            bound.order += [*(f"{word}:{k}" for k in range(len(bound.packs[word]))), *labels_of(tuple(own))]
            at = span.stop
            continue
        match_name(item, operand.names[at])
        if isinstance(item, Blank):
            count = sum(label.startswith("_:") for label in bound.sizes)
            out.append(inner(bound, f"_:{count}", operand.shape[at], operand.names[at]))
        else:
            out.append(without_literals(bound, item))
        bound.order += live_labels((out[-1],))
        at += 1
    bound.inputs.append(tuple(out))


def pack_labels(bound: Bound, word: str, shape: list[int]) -> list[Item]:
    """The labels of a pack's dims in one input; a dim of size 1 that is broadcast is a dim of its own."""
    rank = len(bound.packs[word])
    found: list[Item] = []
    for at, size in enumerate(shape, start=rank - len(shape)):
        alone = size != bound.packs[word][at]
        found.append(inner(bound, f"one:{len(bound.sizes)}", 1) if alone else Label(f"{word}:{at}"))
    return found


def without_literals(bound: Bound, item: Item) -> Item:
    """The item with each literal made a label of its own."""
    if isinstance(item, Literal):
        return inner(bound, f"literal:{len(bound.sizes)}", item.size)
    if isinstance(item, Group):
        return replace(item, items=tuple(without_literals(bound, part) for part in item.items))
    if isinstance(item, Parts):
        live = live_part(item)
        found = [*item.parts]
        found[live] = tuple(without_literals(bound, part) for part in found[live])
        return replace(item, parts=tuple(found))
    return item


def match_name(item: Item, name: str | None) -> None:
    """Reject a dim whose name is not the one that the term gives it."""
    if isinstance(item, At):
        item = item.base
    wanted = item.name if isinstance(item, Label | Group | Parts) else None
    if isinstance(item, Label) and item.alias:
        wanted = item.alias
    if name is not None and wanted is not None and name != wanted:
        raise Refused("name", f"{name} where the term says {wanted}")


def bind_output(bound: Bound, output: Term) -> None:
    """Replace what is not a label in the output, and name its dims."""
    blanks = iter(range(len(output) + sum(1 for _ in parts(output))))

    def expand(term: Term) -> Term:
        out: list[Item] = []
        for item in term:
            if isinstance(item, Pack):
                out += [Label(f"{item.word}:{k}") for k in range(len(bound.packs[item.word]))]
            elif isinstance(item, Blank):
                out.append(Label(f"_:{next(blanks)}"))
            elif isinstance(item, Group):
                out.append(replace(item, items=expand(item.items)))
            else:
                out.append(without_literals(bound, item))
        return tuple(out)

    bound.output = expand(output)
    bound.names = tuple(result_name(bound, item) for item in bound.output)


def result_name(bound: Bound, item: Item) -> str | None:
    """The name of a dim of the result."""
    if isinstance(item, Label):
        return item.alias or (bound.kept_names.get(item.name) if ":" in item.name else item.name)
    return item.name if isinstance(item, Group | Parts) else None
