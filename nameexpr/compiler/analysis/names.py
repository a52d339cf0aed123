"""Names of operands against terms, and the names of results (docs/language.md, section 4).

The rules are those of `nameexpr.dims`, the book that NamedTensor's methods use too: an unnamed dim takes the
term's name, equal names match, different names are an error. Here they only get their spans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.compiler.analysis.operands import Operand, describe, stretch, title
from nameexpr.compiler.ir.axes import DOTS, Axes, Names, Under, Unnamed, labels_under
from nameexpr.dims import Clash, another_name, duplicate, match, name_fault, unify_from_right
from nameexpr.errors import TOLD, Diagnostic, Mark, did_you_mean, error
from nameexpr.syntax.ast import (
    STRETCHED,
    Alias,
    Anonymous,
    Dots,
    Expression,
    Item,
    Label,
    NamedGroup,
    Pack,
    Sized,
    Term,
    atoms,
)
from nameexpr.syntax.unparse import unparse_item


def match_names(tree: Expression, operands: Sequence[Operand], packs: dict[str, int]) -> Names:
    """Return the names of the result, or `()` where no operand has names.

    Raises
    ------
    DimNameError
        If a tensor's names are not those of its term, if the names under a pack or ellipsis do not unify, or
        if the result would carry a name twice or one that no tensor can carry.
    """
    if all(operand.names is None for operand in operands):
        return ()
    wrong = [
        position
        for position, (term, operand) in enumerate(zip(tree.inputs, operands, strict=True))
        if operand.names is not None and not _matches(term, operand.names)
    ]
    if wrong:
        raise error(*(_mismatch(tree, position, operands[position], operands) for position in wrong[:TOLD]))
    under = names_under_packs(tree, operands, packs)
    if tree.outputs is None:
        return ()
    return _result_names(tree, operands, tree.outputs[0], under)


def expected_name(item: Item) -> str | None:
    """Return the name that a tensor's dim must have, or None where any will do."""
    match item:
        case Label(name) | Sized(name, _) | Alias(name, _) | NamedGroup(name, _):
            return name
        case _:
            return None


def _matches(term: Term, names: Names) -> bool:
    dims = stretch(term, len(names))
    return all(match(expected_name(item), name) for (item, _), name in zip(dims, names, strict=True))


def _mismatch(tree: Expression, position: int, operand: Operand, operands: Sequence[Operand]) -> Diagnostic:
    names = operand.names or ()
    dims = [item for item, _ in stretch(tree.inputs[position], len(names))]
    wrong = [
        (item, name) for item, name in zip(dims, names, strict=True) if not match(expected_name(item), name)
    ]
    item, name = wrong[0]
    marks = tuple(Mark(item.span, str(name)) for item, name in wrong)
    called = title(operand, position)
    message = f"{called} has a dim '{name}' where its term says '{expected_name(item)}'"
    wanted = [expected_name(item) for item in dims]
    if None not in names and None not in wanted and sorted(map(str, wanted)) == sorted(map(str, names)):
        hint = f"another order of the term matches: {' '.join(map(str, names))}"
    else:
        near = did_you_mean(str(expected_name(item)), [str(name)])
        hint = f"{near} to use it under this label write {_aliased(name, item)}; or rename the tensor's dim"
    infos = describe(tree.inputs, operands, (position,))
    return Diagnostic("NE401", message, tree.text, marks, infos, hint.strip())


def _aliased(name: str | None, item: Item) -> str:
    """Return the item with the name that the tensor's dim has."""
    inner = item.group if isinstance(item, NamedGroup) else Label(getattr(item, "name", ""))
    return f"{name}={unparse_item(inner)}"


def names_under_packs(
    tree: Expression, operands: Sequence[Operand], packs: dict[str, int]
) -> dict[str, Names]:
    """Return the unified names under each pack and the ellipsis, and those of the anonymous dims under
    "_".
    """
    unified: dict[str, Names] = {}
    first: dict[str, int] = {}
    for position, (term, operand) in enumerate(zip(tree.inputs, operands, strict=True)):
        names = operand.names or (None,) * len(operand.shape)
        collected: dict[str, list[str | None]] = {}
        for (item, _), name in zip(stretch(term, len(names)), names, strict=True):
            if isinstance(item, Dots | Pack | Anonymous):
                collected.setdefault(unparse_item(item), []).append(name)
        unified["_"] = unified.get("_", ()) + tuple(collected.pop("_", ()))
        for word, mine in collected.items():
            before = unified.get(word, (None,) * len(mine))
            both = _unify(word, before, tuple(mine))
            if isinstance(both, Clash):
                names_there = before[both.left], mine[both.right]
                raise error(_pack_clash(tree, operands, word, (first[word], position), (both, names_there)))
            unified[word] = both
            first.setdefault(word, position)
    return {word: unified.get(word, (None,) * length) for word, length in packs.items()} | {"_": unified["_"]}


def _unify(word: str, left: Names, right: Names) -> Names | Clash:
    """Unify from the right; a pack is the same dims everywhere, so there alone position decides."""
    if word == DOTS:
        return unify_from_right(left, right)
    for place, (one, other) in enumerate(zip(left, right, strict=True)):
        if not match(one, other):
            return Clash("mismatch", place - len(left), place - len(right))
    return tuple(one if one is not None else other for one, other in zip(left, right, strict=True))


def _pack_clash(
    tree: Expression,
    operands: Sequence[Operand],
    word: str,
    positions: tuple[int, int],
    found: tuple[Clash, tuple[str | None, str | None]],
) -> Diagnostic:
    clash, (left, right) = found
    later = title(operands[positions[1]], positions[1])
    marks = tuple(
        Mark(item.span)
        for position in positions
        for item in tree.inputs[position].items
        if isinstance(item, STRETCHED) and unparse_item(item) == word
    )
    if clash.kind == "mismatch":
        message = f"under '{word}' the dim '{right}' of {later} meets '{left}' of an earlier operand"
        hint = "rename one of the dims, or write these dims out in the text"
    else:
        message = (
            f"under '{word}' the dim '{left}' meets an unnamed one, and stands elsewhere in the other operand"
        )
        hint = "name the unnamed dims with refine_names, or bring the tensors into one order with align_as"
    infos = describe(tree.inputs, operands, positions[1:])
    return Diagnostic("NE402", message, tree.text, marks, infos, hint)


def _result_names(
    tree: Expression, operands: Sequence[Operand], term: Term, under: dict[str, Names]
) -> Names:
    names: list[str | None] = []
    items: list[Item] = []
    anonymous = iter(under["_"])
    for item in term.items:
        new = under[unparse_item(item)] if isinstance(item, STRETCHED) else (expected_name(item),)
        for atom in atoms((item,)):
            if isinstance(atom, Anonymous):
                kept = next(anonymous)
                new = (kept,) if atom is item else new
        names += new
        items += [item] * len(new)
    _check_result(tree, operands, names, items)
    return tuple(names)


def _check_result(
    tree: Expression, operands: Sequence[Operand], names: list[str | None], items: list[Item]
) -> None:
    twice = duplicate(names)
    if twice is not None:
        name, one, other = twice
        marks = (Mark(items[one].span), Mark(items[other].span))
        hint = f"give each dim a name of its own with an alias, such as row={name} col={name}"
        if any(isinstance(items[place], STRETCHED) for place in (one, other)):
            alias = f"{another_name(name)}={name}"
            hint = f"'{name}' is a name under an ellipsis or pack: give the other dim an alias, {alias}"
        message = f"the result would carry the name '{name}' twice"
        raise error(Diagnostic("NE403", message, tree.text, marks, describe(tree.inputs, operands), hint))


def result_names(
    term: Term | None, labels: Sequence[str], axes: Axes, packs: Mapping[str, Names], under: Under, text: str
) -> Names:
    """Return the names of a statement's result.

    Parameters
    ----------
    term : Term or None
        The term on the left.
    labels : sequence of str
        The labels of the result's dims, in order, where there is no term.
    axes : Axes
        The axes of the term.
    packs, under : mappings
        The names under packs, and those of this value under `...`.
    """
    if term is None:
        return tuple(_name_of(label, packs, under) for label in labels)
    names: list[str | None] = []
    items: list[Item] = []
    rest = list(axes)
    for item in term.items:
        if isinstance(item, Dots | Pack):
            here = labels_under(unparse_item(item), [labels[0] for labels in rest if len(labels) == 1])
            names += [_name_of(label, packs, under) for label in here]
            items += [item] * len(here)
            rest = rest[len(here) :]
            continue
        rest.pop(0)
        names.append(getattr(item, "dim", None) or getattr(item, "name", None))
        items.append(item)
    _check_twice(names, items, text)
    return tuple(names)


def _check_twice(names: Sequence[str | None], items: Sequence[Item], text: str) -> None:
    """Raise NE403 if the result would carry a name twice."""
    twice = duplicate(names)
    if twice is not None:
        name, one, other = twice
        marks = (Mark(items[one].span), Mark(items[other].span))
        message = f"the result would carry the name '{name}' twice"
        hint = f"give each dim a name of its own on the left, such as row={name} col={name}"
        if any(isinstance(items[place], Dots | Pack) for place in (one, other)):
            hint = (
                f"'{name}' is a name under an ellipsis or pack: write {another_name(name)}={name} on the left"
            )
        raise error(Diagnostic("NE403", message, text, marks, hint=hint))


def _name_of(label: str, packs: Mapping[str, Names], under: Under) -> str | None:
    """Return the name of a dim that has a label; under a pack, that which the operands have there."""
    if not isinstance(label, Unnamed):
        return label if name_fault(label) is None else None
    if label.word == DOTS:
        return under.get(label.number)
    names = packs.get(label.word, ())
    return names[label.number - 1] if 0 < label.number <= len(names) else None
