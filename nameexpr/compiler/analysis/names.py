"""Match the names of operands with terms, and determine the names of results (docs/language.md, section 4).

The rules are those of `nameexpr.dims`, which the methods of NamedTensor also use: an unnamed dim takes the
term's name, equal names match, different names are an error. This module adds their spans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nameexpr.compiler.analysis.operands import Operand, describe, stretch, title
from nameexpr.compiler.ir.axes import DOTS, Names
from nameexpr.dims import Clash, another_name, duplicate, match, unify_from_right
from nameexpr.errors import TOLD, Diagnostic, Mark, did_you_mean, error
from nameexpr.syntax import ast, walk
from nameexpr.syntax.items import dim_name_of, unnamed
from nameexpr.syntax.unparse import unparse_item


def match_names(
    tree: ast.Expression, operands: Sequence[Operand], packs: Mapping[str, int]
) -> Mapping[str, Names]:
    """Compare the names of operands with their terms.

    Return the unified names under each pack and the ellipsis, and under "_" those of anonymous dims; return
    nothing if no operand has names.
    """
    if all(operand.names is None for operand in operands):
        return {}
    wrong = [
        position
        for position, (term, operand) in enumerate(zip(tree.inputs, operands, strict=True))
        if operand.names is not None and any(True for _ in _mismatches(term, operand.names))
    ]
    if wrong:
        raise error(*(_mismatch(tree, position, operands) for position in wrong[:TOLD]))
    unified: dict[str, Names] = {"_": (), **{word: (None,) * length for word, length in packs.items()}}
    first: dict[str, int] = {}
    for position, (term, operand) in enumerate(zip(tree.inputs, operands, strict=True)):
        names = operand.names or (None,) * len(operand.shape)
        collected: dict[str, list[str | None]] = {}
        for (item, _), name in zip(stretch(term, len(names)), names, strict=True):
            if isinstance(item, ast.Dots | ast.Pack | ast.Anonymous):
                collected.setdefault(unparse_item(item), []).append(name)
        unified["_"] += tuple(collected.pop("_", ()))
        for word, own in collected.items():
            before = unified[word] if word in first else (None,) * len(own)
            both = _unify(word, before, tuple(own))
            if isinstance(both, Clash):
                meeting = before[both.left], own[both.right]
                raise error(_pack_clash(tree, operands, word, (first[word], position), both, meeting))
            unified[word] = both
            first.setdefault(word, position)
    return unified


def _mismatches(term: ast.Term, names: Names) -> Iterator[tuple[ast.Item, str | None]]:
    """Yield the items of a term whose dims have different names, and these names."""
    for (item, _), name in zip(stretch(term, len(names)), names, strict=True):
        if not match(dim_name_of(item), name):
            yield item, name


def _mismatch(tree: ast.Expression, position: int, operands: Sequence[Operand]) -> Diagnostic:
    operand, term = operands[position], tree.inputs[position]
    names = operand.names or ()
    wrong = list(_mismatches(term, names))
    item, name = wrong[0]
    marks = tuple(Mark(item.span, str(name)) for item, name in wrong)
    message = f"{title(operand, position)} has a dim '{name}' where its term has '{dim_name_of(item)}'"
    wanted = [dim_name_of(item) for item, _ in stretch(term, len(names))]
    if None not in names and None not in wanted and sorted(map(str, wanted)) == sorted(map(str, names)):
        hint = f"another order of the term matches: {' '.join(map(str, names))}"
    else:
        near = did_you_mean(str(dim_name_of(item)), [str(name)])
        alias = f"{name}={unparse_item(unnamed(item))}"
        hint = f"{near} to use it under this label write {alias}; or rename the tensor's dim"
    infos = describe(tree.inputs, operands, (position,))
    return Diagnostic("NE401", message, tree.text, marks, infos, hint.strip())


def _unify(word: str, left: Names, right: Names) -> Names | Clash:
    """Unify from the right, or from the left for a pack: there position alone decides."""
    if word == DOTS:
        return unify_from_right(left, right)
    pairs = list(zip(left, right, strict=True))
    for dim, pair in enumerate(pairs):
        if not match(*pair):
            return Clash("mismatch", dim - len(left), dim - len(right))
    return tuple(name if name is not None else other for name, other in pairs)


def _pack_clash(
    tree: ast.Expression,
    operands: Sequence[Operand],
    word: str,
    positions: tuple[int, int],
    clash: Clash,
    names: tuple[str | None, str | None],
) -> Diagnostic:
    left, right = names
    marks = tuple(
        Mark(item.span)
        for position in positions
        for item in tree.inputs[position].items
        if isinstance(item, ast.STRETCHED) and item.word == word
    )
    elsewhere = "and is at another position in the other operand"
    message = f"under '{word}' the dim '{left}' meets an unnamed one, {elsewhere}"
    hint = "name the unnamed dims with refine_names, or bring the tensors into the same order with align_as"
    if clash.kind == "mismatch":
        later = title(operands[positions[1]], positions[1])
        message = f"under '{word}' the dim '{right}' of {later} meets '{left}' of an earlier operand"
        hint = "rename one of the dims, or write these dims out in the text"
    infos = describe(tree.inputs, operands, positions[1:])
    return Diagnostic("NE402", message, tree.text, marks, infos, hint)


def result_names(
    term: ast.Term,
    under: Mapping[str, Names],
    text: str,
    inputs: Sequence[ast.Term] = (),
    operands: Sequence[Operand] = (),
) -> Names:
    """Return the names of a result's dims; NE403 if two are the same.

    `under` are the names under packs, the ellipsis and `_`; `inputs` and `operands` are an expression's.
    """
    named: list[tuple[str | None, ast.Item]] = []
    anonymous = iter(under.get("_", ()))
    for item in term.items:
        own = under[item.word] if isinstance(item, ast.STRETCHED) else (dim_name_of(item),)
        for atom in walk.atoms((item,)):
            if isinstance(atom, ast.Anonymous):
                name = next(anonymous)
                own = (name,) if atom is item else own
        named += [(name, item) for name in own]
    names = tuple(name for name, _ in named)
    twice = duplicate(names)
    if twice is not None:
        name, *dims = twice
        items = [named[dim][1] for dim in dims]
        marks = tuple(Mark(item.span) for item in items)
        message = f"the result would carry the name '{name}' twice"
        other = f"{another_name(name)}={name}"
        if any(isinstance(item, ast.STRETCHED) for item in items):
            advice = f"give the other dim an alias, {other}" if inputs else f"write {other} on the left"
            hint = f"'{name}' is a name under an ellipsis or pack: {advice}"
        else:
            where = "with an alias" if inputs else "on the left"
            hint = f"give each dim a name of its own {where}, such as row={name} col={name}"
        raise error(Diagnostic("NE403", message, text, marks, describe(inputs, operands), hint))
    return names
