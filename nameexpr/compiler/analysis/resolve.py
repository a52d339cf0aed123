"""Match terms with operands: every dim of every operand and of the result becomes a product of labels.

The numbers of operands and dims are checked here, packs and ellipses take their dims, and groups are
flattened (row-major products nest freely). Names are matched in `nameexpr.compiler.analysis.names`, sizes are
solved in `nameexpr.compiler.analysis.sizes`.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.analysis.operands import Operand, describe, fits, numbers, stretch, title, titles
from nameexpr.compiler.analysis.readings import Reading
from nameexpr.compiler.ir.axes import (
    DOTS,
    Axes,
    Labels,
    Unnamed,
    anonymous,
    flat,
    literal,
    shown,
    under_word,
    whole_dim,
)
from nameexpr.errors import TOLD, Diagnostic, Mark, error
from nameexpr.records import field, record
from nameexpr.syntax import ast
from nameexpr.syntax.items import parts_of
from nameexpr.syntax.limits import limits
from nameexpr.syntax.unparse import unparse_item, unparse_term
from nameexpr.syntax.walk import is_live


@record
class Resolved:
    """The labels of every dim, the labels whose size is in the text, and the number of dims of each pack and
    "...".

    `sized` are the items that write sizes, where the text has more terms than these. `readings` tell how dims
    are read that no label of the value stands for, and `joined` which parts dims of results have. `others`
    are the labels of the results after the first.
    """

    operands: tuple[Axes, ...]
    result: Axes
    written: dict[str, int]
    packs: dict[str, int]
    sized: tuple[ast.Sized, ...] = ()
    readings: dict[str, Reading] = field(default_factory=dict)
    joined: dict[str, Reading] = field(default_factory=dict)
    others: tuple[Axes, ...] = ()

    @property
    def made(self) -> Labels:
        """The labels of results, with those of parts in place of the dims that consist of them."""
        found: list[str] = []
        for axes in (self.result, *self.others):
            for label in flat(axes):
                found += flat(self.joined[label].parts) if label in self.joined else (label,)
        return tuple(dict.fromkeys(found))


def resolve(tree: ast.Expression, operands: Sequence[Operand], *, is_reduced: bool = False) -> Resolved:
    """Return the labels of every dim; a 1 of an input has a label only if a reducer (`is_reduced`)
    takes it.
    """
    _check_count(tree, operands)
    misfits = [
        position
        for position, (term, operand) in enumerate(zip(tree.inputs, operands, strict=True))
        if not fits(term, len(operand.shape))
    ]
    if misfits:
        raise error(*(_wrong_ndim(tree, position, operands) for position in misfits[:TOLD]))
    packs = _pack_lengths(tree, operands)
    reader = _Reader(packs, {}, drops_ones=not is_reduced)
    axes = tuple(
        reader.axes(stretch(term, len(operand.shape)), position, _where(operand, term, position))
        for position, (term, operand) in enumerate(zip(tree.inputs, operands, strict=True))
    )
    for position, (term, own) in enumerate(zip(tree.inputs, axes, strict=True)):
        _check_dims(tree.text, title(operands[position], position), term, own)
    joined: dict[str, Reading] = {}
    results = [
        resolve_result(term, packs, reader.written, tree.text, joined)
        for term in tree.outputs or (ast.Term(()),)
    ]
    rest = reader.readings, joined, tuple(results[1:])
    return Resolved(axes, results[0], reader.written, packs, (), *rest)


def _where(operand: Operand, term: ast.Term, position: int) -> str:
    """Return a key that distinguishes the dims of an operand that are read: a formula sees it through many
    terms.
    """
    return f"{operand.name}[{unparse_term(term)}]" if operand.name else str(position)


def resolve_result(
    term: ast.Term,
    packs: dict[str, int],
    written: dict[str, int],
    text: str,
    joined: dict[str, Reading],
) -> Axes:
    """Return the labels of every dim of a result, and record the sizes in its term and its dims that consist
    of parts.
    """
    dims: list[tuple[ast.Item, int]] = []
    for item in term.items:
        inside = numbers(item, packs[item.word]) if isinstance(item, ast.STRETCHED) else (0,)
        dims += [(item, number) for number in inside]
    axes = _Reader(packs, written, readings=joined).axes(dims, None)
    _check_dims(text, "the result", term, axes)
    return axes


@record(frozen=False)
class _Reader:
    """The conversion of items into labels, which collects the sizes in the text."""

    packs: dict[str, int]
    written: dict[str, int]
    anonymous: int = 0
    drops_ones: bool = False
    readings: dict[str, Reading] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)

    def axes(self, dims: Sequence[tuple[ast.Item, int]], operand: int | None, where: str = "") -> Axes:
        """Return the labels of each dim; most dims have a single label."""
        return tuple(
            (item.name,) if isinstance(item, ast.Label) else self.dim(item, number, operand, f".{dim}", where)
            for dim, (item, number) in enumerate(dims)
        )

    def dim(self, item: ast.Item, number: int, operand: int | None, path: str, where: str) -> Labels:
        """Return the labels of a dim; of one that is read in parts or at positions, a label of its own."""
        parts = parts_of(item)
        if parts is None and not isinstance(item, ast.At):
            return self.labels(item, number, operand, path, where)
        label = whole_dim(unparse_item(item), f"{where}{path}")
        if isinstance(item, ast.At):
            base = item.base
            own = () if isinstance(base, ast.Anonymous) else (self.labels(base, 0, operand, path, where),)
            self.readings[label] = Reading(label, own, (), item.place, item.span)
        else:
            assert parts is not None
            inside = [self.part(part, operand, f"{path}+{at}", where) for at, part in enumerate(parts.parts)]
            live = tuple([at for at, part in enumerate(parts.parts) if is_live(part)])
            label = label if where else self.joined(inside)
            self.readings[label] = Reading(label, tuple(inside), live, None, item.span)
        return (label,)

    def joined(self, parts: Sequence[Labels]) -> Unnamed:
        """Return the label of a dim of a result: the same parts are the same dim, except within one
        term.
        """
        word = f"({' + '.join([' '.join(map(shown, part)) for part in parts])})"
        number = 0
        while (label := whole_dim(word, f"={number}")) in self.seen:
            number += 1
        self.seen.add(label)
        return label

    def part(self, part: ast.Group, operand: int | None, path: str, where: str) -> Labels:
        """Return the labels of one part; what `_` skips has a label that nothing else has."""
        if part.items and isinstance(part.items[0], ast.Anonymous):
            return (whole_dim("_", f"{where}{path}"),)
        return self.product(part.items, operand, path, where)

    def labels(self, item: ast.Item, number: int, operand: int | None, path: str, where: str) -> Labels:
        match item:
            case ast.Label(name) | ast.Alias(_, name):
                return (name,)
            case ast.Sized(name, size):
                self.written[name] = size
                return (name,)
            case ast.Literal(1) if self.drops_ones:
                return ()
            case ast.Literal(size):
                label = literal(size, operand, path)
                self.written[label] = size
                return (label,)
            case ast.Anonymous():
                self.anonymous += 1
                return (anonymous(self.anonymous - 1),)
            case ast.Dots() | ast.Pack():
                return (under_word(item.word, number),)
            case ast.Group(items) | ast.NamedGroup(_, ast.Group(items)):
                return self.product(items, operand, path, where)
            case ast.At() | ast.Parts() | ast.NamedGroup(_, ast.Parts()):
                return self.dim(item, number, operand, path, where)
            case _:
                raise AssertionError(f"{item} is a whole dim")

    def product(self, items: tuple[ast.Item, ...], operand: int | None, path: str, where: str) -> Labels:
        """Return the labels of a group's items, in order; packs in a group (of a result) contribute all their
        dims.
        """
        labels: list[str] = []
        for position, item in enumerate(items):
            if isinstance(item, ast.Label):
                labels.append(item.name)
            elif isinstance(item, ast.STRETCHED):
                labels += [under_word(item.word, number) for number in numbers(item, self.packs[item.word])]
            else:
                labels += self.labels(item, 0, operand, f"{path}.{position}", where)
        return tuple(labels)


def _check_count(tree: ast.Expression, operands: Sequence[Operand]) -> None:
    terms, count = tree.inputs, len(operands)
    if len(terms) == count:
        return
    infos = describe(terms, operands)
    wants = f"the text has {len(terms)} input {'term' if len(terms) == 1 else 'terms'}"
    got = f"{count or 'no'} {'operands were' if count > 1 else 'operand was'} given"
    if count < len(terms):
        note = "no operand" if len(terms) == count + 1 else ""
        marks = tuple(Mark(term.span, note) for term in terms[count:])
        hint = "give one array for each term"
        if count == 1 and len(operands[0].shape) == len(terms) and all(len(t.items) == 1 for t in terms):
            spaced = " ".join(tree.text[t.span.start : t.span.end] for t in terms)
            hint = f"commas separate operands, dims are separated by spaces: {spaced}"
        raise error(Diagnostic("NE501", f"{wants}, but {got}", tree.text, marks, infos, hint))
    last = Mark(terms[-1].span, "the last term")
    hint = f"add a term for operand {count - 1}, or leave it out"
    if count > len(terms) + 1:
        between = "and" if count == len(terms) + 2 else "to"
        hint = f"add terms for operands {len(terms)} {between} {count - 1}, or leave them out"
    raise error(Diagnostic("NE502", f"{wants}, but {got}", tree.text, (last,), infos, hint))


def _wrong_ndim(tree: ast.Expression, position: int, operands: Sequence[Operand]) -> Diagnostic:
    term, operand = tree.inputs[position], operands[position]
    ndim, fixed, called = len(operand.shape), len(term.items), title(operand, position)
    has_pack = any(isinstance(item, ast.STRETCHED) for item in term.items)
    needs = f"at least {fixed - 1}" if has_pack else str(fixed)
    has = "no dims" if operand.name and not ndim else _dims(ndim)
    message = f"{called} has {has}, and its term has {needs}"
    mark = Mark(term.span, f"{needs} here, {ndim} in {operand.name or 'the operand'}")
    first = term.items[0] if fixed == 1 else None
    side = "left of '='" if operand.name else "right of the arrow"
    hint = f"remove from the term what the array does not have; new dims are written {side}"
    if operand.name and not ndim:
        hint = f"write {called}"
    elif isinstance(first, ast.Label) and len(first.name) == ndim and ndim > 1:
        hint = f"dims are separated by spaces: write {' '.join(first.name)}"
    elif ndim > fixed:
        hint = f"name the other dims of {called}, or let ... stand for them"
    infos = describe(tree.inputs, operands, (position,))
    return Diagnostic("NE310", message, tree.text, (mark,), infos, hint)


def _dims(count: int) -> str:
    return f"{count} dim" if count == 1 else f"{count} dims"


def _pack_lengths(tree: ast.Expression, operands: Sequence[Operand]) -> dict[str, int]:
    """Return the number of dims of each pack; for an ellipsis, the largest number of any operand."""
    lengths: dict[str, int] = {}
    first: dict[str, tuple[int, ast.Pack]] = {}
    for position, (term, operand) in enumerate(zip(tree.inputs, operands, strict=True)):
        length = len(operand.shape) - (len(term.items) - 1)
        for item in term.items:
            if isinstance(item, ast.Dots):
                lengths[DOTS] = max(length, lengths.get(DOTS, 0))
            elif isinstance(item, ast.Pack):
                earlier, pack = first.setdefault(item.word, (position, item))
                before = lengths.setdefault(item.word, length)
                if before != length:
                    marks = (Mark(pack.span, _dims(before)), Mark(item.span, _dims(length)))
                    about = earlier, position
                    there, here = titles(tree.inputs, operands, about)
                    message = f"'{item.word}' is {_dims(before)} in {there} and {_dims(length)} in {here}"
                    hint = "a pack stands for the same dims everywhere; to broadcast as NumPy does, write ..."
                    infos = describe(tree.inputs, operands, about)
                    raise error(Diagnostic("NE305", message, tree.text, marks, infos, hint))
    return lengths


def _check_dims(text: str, which: str, term: ast.Term, axes: Axes) -> None:
    count, limit = max(sum(map(len, axes)), len(axes)), limits().dims
    if count > limit:
        apart = " with its groups split" if count > len(axes) else ""
        message = f"{which} has {count} dims{apart}, and the limit is {limit}"
        raise error(Diagnostic("NE705", message, text, (Mark(term.span),)))
