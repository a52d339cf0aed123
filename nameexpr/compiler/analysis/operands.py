"""Operands as the compiler knows them: shape and names, how a diagnostic shows them, and example shapes for a
text whose operands are not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from nameexpr.compiler.ir.axes import Axes, Names
from nameexpr.dims import match
from nameexpr.errors import OperandInfo
from nameexpr.records import field, record
from nameexpr.syntax import ast

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.readings import Reading

View = tuple[str, ast.Term]
"""An operand or a statement of a formula, and the term through which it is seen."""


@record
class Operand:
    """The shape of one operand; `names` is None for a plain array, `name` is its name in a formula."""

    shape: tuple[int, ...]
    names: Names | None = None
    name: str = ""


@record
class Views:
    """How a formula sees its operands.

    `axes` gives for each operand and term through which it is seen the labels of its dims, `default` the term
    of a use that has none. `left` are the axes of every statement's own term. `packs` are the packs that
    operands have, `under` the names there. `readings` tell how dims are read that have a label of their own,
    `joined` of which parts such dims of statements are made. With `has_unknown`, sizes of labels of operands
    become known with those of statements.
    """

    operands: Mapping[str, Operand]
    axes: dict[View, Axes]
    default: Mapping[str, ast.Term]
    left: tuple[Axes | None, ...]
    sizes: dict[str, int]
    packs: Mapping[str, int]
    under: Mapping[str, Names]
    readings: dict[str, Reading] = field(default_factory=dict)
    joined: Mapping[str, Reading] = field(default_factory=dict)
    has_unknown: bool = False


def stretch(term: ast.Term, ndim: int) -> list[tuple[ast.Item, int]]:
    """Return the item of each dim of an operand with `ndim` dims, which fits the term, and its number inside
    a pack or ellipsis, else 0.
    """
    spare = ndim - (len(term.items) - 1)
    dims: list[tuple[ast.Item, int]] = []
    for item in term.items:
        if isinstance(item, ast.STRETCHED):
            dims += [(item, number) for number in numbers(item, spare)]
        else:
            dims.append((item, 0))
    return dims


def numbers(item: ast.Dots | ast.Pack, count: int) -> range:
    """Return the numbers of the dims of a pack, from the left, or of an ellipsis, from the right: this is how
    each is aligned.
    """
    return range(count, 0, -1) if isinstance(item, ast.Dots) else range(1, count + 1)


def fits(term: ast.Term, ndim: int) -> bool:
    """Return whether an operand with this number of dims can have this term."""
    if any(isinstance(item, ast.STRETCHED) for item in term.items):
        return ndim >= len(term.items) - 1
    return ndim == len(term.items)


def title(operand: Operand, position: int) -> str:
    """Return how messages refer to an operand: by its name in a formula, by its number in an expression."""
    return operand.name or f"operand {position}"


def titles(terms: Sequence[ast.Term], operands: Sequence[Operand], about: Sequence[int]) -> list[str]:
    """Return how messages refer to the operands at some positions: views of one operand by their terms."""
    called = [title(operands[position], position) for position in about]
    if not is_one_operand(operands, about):
        return called
    from nameexpr.syntax.unparse import unparse_term

    return [f"{name}[{unparse_term(terms[at])}]" for name, at in zip(called, about, strict=True)]


def is_one_operand(operands: Sequence[Operand], about: Sequence[int]) -> bool:
    """Return whether several positions are views of one operand of a formula."""
    return len({*about}) > 1 and len({title(operands[position], position) for position in about}) == 1


def describe(
    terms: Sequence[ast.Term], operands: Sequence[Operand], about: Sequence[int] = ()
) -> tuple[OperandInfo, ...]:
    """Return every operand with its dims labelled as far as the terms fit; operands of a formula once each.

    `about` are the operands of the message: several views of one operand are distinguished.
    """
    apart = dict(zip(about, titles(terms, operands, about), strict=True))
    views = operands[about[0]].name if is_one_operand(operands, about) else None
    infos: dict[str | int, OperandInfo] = {}
    for position, operand in enumerate(operands):
        if operand.name != views or position in apart:
            called = apart.get(position, operand.name) if operand.name else ""
            labels = _sizes(terms[position], operand.shape) if position < len(terms) else ()
            is_told = position in apart
            info = OperandInfo(position, operand.shape, operand.names, labels, called, is_told)
            infos.setdefault(called or position, info)
    return tuple(infos.values())


def _sizes(term: ast.Term, shape: tuple[int, ...]) -> tuple[str, ...]:
    if not fits(term, len(shape)):
        return ()
    dims = stretch(term, len(shape))
    return tuple(_with_size(item, size) for (item, _), size in zip(dims, shape, strict=True))


def _with_size(item: ast.Item, size: int) -> str:
    match item:
        case ast.Literal(written):
            return f"{written}={size}" if written != size else str(size)
        case _:
            from nameexpr.syntax.items import dim_name_of, label_of
            from nameexpr.syntax.unparse import unparse_item

            return f"{label_of(item) or dim_name_of(item) or unparse_item(item)}={size}"


def labelled(terms: Iterable[ast.Term], name: str) -> list[ast.Labelled]:
    """Return the items that have a label."""
    from nameexpr.syntax import walk

    return [atom for atom in walk.atoms_of(ast.LABELLED, terms) if atom.name == name]


ASSUMED_SIZE = 8
ASSUMED_DIMS = 2
"""The number of dims that a pack or an ellipsis is assumed to have."""


def assumed_shapes(tree: ast.Expression, sizes: Mapping[str, int]) -> list[tuple[int, ...]]:
    """Return one shape per input term, consistent with the sizes that the text and the keywords give."""
    from nameexpr.syntax import walk

    known = dict(sizes)
    known |= {atom.name: atom.size for atom in walk.atoms_of(ast.Sized, tree.terms)}
    return [tuple(size for item in term.items for size in _assumed(item, known)) for term in tree.inputs]


def _assumed(item: ast.Item, known: Mapping[str, int]) -> tuple[int, ...]:
    from nameexpr.syntax.items import group_of, label_of

    if isinstance(item, ast.STRETCHED):
        return (ASSUMED_SIZE,) * ASSUMED_DIMS
    group = group_of(item)
    if group is not None:
        return (prod(size for inner in group.items for size in _assumed(inner, known)),)
    return (item.size if isinstance(item, ast.Literal) else known.get(label_of(item) or "", ASSUMED_SIZE),)


def measured(term: ast.Term, operand: Operand, sizes: dict[str, int], most: int) -> Axes | None:
    """Return the labels of an operand's dims, at most `most` of them, and record their sizes; None if the
    term contains anything but labels, or does not fit.
    """
    items, shape = term.items, operand.shape
    if len(items) != len(shape) or len(shape) > most:
        return None
    labels = []
    for item, size in zip(items, shape, strict=True):
        if not isinstance(item, ast.Label) or sizes.setdefault(item.name, size) != size:
            return None
        labels.append((item.name,))
    if operand.names is not None:
        for (label,), name in zip(labels, operand.names, strict=True):
            if not match(label, name):
                return None
    return tuple(labels)
