"""The safety rules that depend on the text alone (docs/language.md, sections 2 and 3), each a function that
yields diagnostics.

Nothing here knows operands. All rules run, so that independent errors are reported together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from nameexpr.compiler.analysis.fast_path import is_accepted
from nameexpr.compiler.analysis.rules.summation import DROPPING_RULES
from nameexpr.dims import another_name
from nameexpr.errors import TOLD, Diagnostic, Mark, did_you_mean, error
from nameexpr.ops import REDUCTIONS
from nameexpr.syntax import ast, walk
from nameexpr.syntax.items import (
    dim_name_of,
    factors_without,
    group_of,
    is_read,
    is_renamed,
    parts_in,
    unnamed,
)
from nameexpr.syntax.unparse import unparse_item
from nameexpr.syntax.walk import has_several_parts, value_atoms_of


def check_text(tree: ast.Expression, *, has_reduce: bool = False) -> None:
    """Raise every error that can be found without operands; `has_reduce` means that `reduce=` is given."""
    if is_accepted(tree, has_reduce=has_reduce):
        return
    mistakes = list(islice((fault for rule in _RULES for fault in rule(tree, has_reduce)), TOLD))
    if not mistakes and tree.outputs is not None and not tree.leaves_inputs_out:
        mistakes = list(islice((fault for rule in DROPPING_RULES for fault in rule(tree, has_reduce)), TOLD))
    if mistakes:
        raise error(*mistakes)


def marks_of(*items: ast.Item) -> tuple[Mark, ...]:
    """Return a mark under each item."""
    return tuple(Mark(item.span) for item in items)


def _one_output(tree: ast.Expression, _: bool) -> Iterator[Diagnostic]:
    if tree.outputs is not None and len(tree.outputs) > 1 and not has_several_parts(tree):
        marks = tuple(Mark(term.span) for term in tree.outputs)
        hint = "an expression has one result; compile one text for each"
        if all(len(term.items) <= 1 for term in tree.outputs):
            spaced = " ".join(unparse_item(item) for term in tree.outputs for item in term.items)
            hint = f"an expression has one result, and its dims are separated by spaces: -> {spaced}"
        yield Diagnostic("NE201", "the result cannot contain commas", tree.text, marks, hint=hint)


def _known_reducer(tree: ast.Expression, has_reduce: bool) -> Iterator[Diagnostic]:
    reducer = tree.reducer
    if reducer is None:
        return
    mark = (Mark(reducer.span),)
    if tree.outputs is None:
        hint = "write what is kept: inputs -> result : " + reducer.name
        yield Diagnostic("NE203", "an assertion (no arrow) has nothing to reduce", tree.text, mark, hint=hint)
    if reducer.name not in REDUCTIONS:
        hint = f"one of {' '.join(REDUCTIONS)}, or a callable as reduce="
        hint = did_you_mean(reducer.name, REDUCTIONS) or hint
        yield Diagnostic("NE202", f"there is no reducer '{reducer.name}'", tree.text, mark, hint=hint)
    elif has_reduce:
        hint = "remove one of them"
        yield Diagnostic(
            "NE204", "a reducer is given both in the text and as reduce=", tree.text, mark, hint=hint
        )


def _one_pack_per_input(tree: ast.Expression, _: bool, holder: str = "input") -> Iterator[Diagnostic]:
    for term in tree.inputs:
        packs = [item for item in term.items if isinstance(item, ast.STRETCHED)]
        if len(packs) > 1:
            hint = "it would be ambiguous where one ends and the next begins: name the dims of all but one"
            message = f"an {holder} holds at most one ... or pack"
            yield Diagnostic("NE205", message, tree.text, marks_of(*packs), hint=hint)


def _one_dots_in_result(tree: ast.Expression, _: bool) -> Iterator[Diagnostic]:
    for term in tree.outputs or ():
        seen: dict[str, list[ast.Item]] = {}
        for atom in walk.atoms_of(ast.STRETCHED, (term,)):
            seen.setdefault(atom.word, []).append(atom)
        for word, items in seen.items():
            if len(items) > 1:
                message = f"'{word}' occurs twice in the result"
                hint = "write it once"
                yield Diagnostic("NE216", message, tree.text, marks_of(*items), hint=hint)


def _groups(items: tuple[ast.Item, ...]) -> Iterator[ast.Group]:
    for item in items:
        group = group_of(item)
        if group is not None:
            yield group


def _inside_groups(tree: ast.Expression, _: bool, holder: str = "input") -> Iterator[Diagnostic]:
    for term in tree.terms:
        for group in _groups(term.items):
            yield from _named_factors(tree, group)
    for term in tree.inputs:
        for group in _groups(term.items):
            unbounded = walk.atoms_of((ast.Anonymous, ast.Dots, ast.Pack), [_without_parts(group)])
            if unbounded:
                hint = f"an {holder}'s group is split into named dims: give each factor a name"
                message = f"_, ... and packs cannot be used inside an {holder}'s group"
                yield Diagnostic("NE206", message, tree.text, marks_of(*unbounded), hint=hint)


def _without_parts(group: ast.Group) -> ast.Term:
    return ast.Term(tuple(factors_without(group.items, list(parts_in(group.items)))))


def _named_factors(tree: ast.Expression, group: ast.Group) -> Iterator[Diagnostic]:
    for item in group.items:
        if is_renamed(item):
            message = f"a dim inside a group has no name, so '{item.dim}=' has no effect"
            hint = f"write {unparse_item(unnamed(item))}"
            yield Diagnostic("NE207", message, tree.text, marks_of(item), hint=hint)
        elif isinstance(item, ast.Group):
            yield from _named_factors(tree, item)


def _anonymous(tree: ast.Expression, _: bool) -> Iterator[Diagnostic]:
    if tree.outputs is None:
        return
    inside = value_atoms_of(ast.Anonymous, tree.inputs)
    outside = max([value_atoms_of(ast.Anonymous, [term]) for term in tree.outputs], key=len)
    if len(tree.inputs) > 1 and (inside or outside):
        hint = "name the dim, so that it is clear which operands share it"
        message = "_ is supported only with one input or in an assertion"
        yield Diagnostic("NE208", message, tree.text, marks_of(*inside, *outside), hint=hint)
    elif len(outside) > len(inside):
        extra = outside[len(inside) :]
        hint = "the k-th _ of the result is the k-th _ of the input; a new dim of size 1 is written 1"
        message = "this _ does not correspond to a dim of the input"
        yield Diagnostic("NE209", message, tree.text, marks_of(*extra), hint=hint)


def _packs_come_from_inputs(tree: ast.Expression, _: bool) -> Iterator[Diagnostic]:
    known = {atom.word for atom in walk.atoms_of(ast.STRETCHED, tree.inputs)}
    known |= {ast.Dots.word} if tree.leaves_inputs_out else set()
    for atom in walk.atoms_of(ast.STRETCHED, tree.outputs or ()):
        if atom.word not in known:
            message = f"'{atom.word}' is not in any input"
            hint = did_you_mean(atom.word, sorted(known)) or "write it in the input whose dims it stands for"
            yield Diagnostic("NE210", message, tree.text, marks_of(atom), hint=hint)


def _words_mean_one_thing(tree: ast.Expression, _: bool, __: str = "input") -> Iterator[Diagnostic]:
    packs = {atom.name: atom for atom in reversed(walk.atoms_of(ast.Pack, tree.terms))}
    labels = {atom.name: atom for atom in reversed(walk.atoms_of(ast.LABELLED, tree.terms))}
    for atom in walk.atoms_of(ast.Pack, tree.terms):
        if atom is packs[atom.name] and atom.name in labels:
            hint = f"write {atom.name}... everywhere, or give the single dim another name"
            message = f"'{atom.name}' is a pack here and one dim there"
            yield Diagnostic("NE211", message, tree.text, marks_of(atom, labels[atom.name]), hint=hint)


def _sizes_agree(tree: ast.Expression, _: bool, __: str = "input") -> Iterator[Diagnostic]:
    sizes: dict[str, ast.Sized] = {}
    for atom in walk.atoms_of(ast.Sized, tree.terms):
        first = sizes.setdefault(atom.name, atom)
        if first.size != atom.size:
            marks = (Mark(first.span, str(first.size)), Mark(atom.span, str(atom.size)))
            message = f"'{atom.name}' is {first.size} and {atom.size} in the same text"
            yield Diagnostic(
                "NE301", message, tree.text, marks, hint="if these are different dims, rename one"
            )


def _result_names(tree: ast.Expression, _: bool) -> Iterator[Diagnostic]:
    """Check names that the user repeated; `i -> i i` is an error only if the result has names."""
    if tree.outputs is None or len(tree.outputs) != 1:
        return
    carried: dict[str, ast.Item] = {}
    for item in tree.outputs[0].items:
        name = dim_name_of(item)
        if name is None:
            continue
        first = carried.setdefault(name, item)
        if first is not item and (is_renamed(first) or is_renamed(item)):
            message = f"the result would carry the name '{name}' twice"
            written = str(item.size) if isinstance(item, ast.Sized) else unparse_item(unnamed(item))
            hint = f"give each dim a name of its own, such as {another_name(name)}={written}"
            yield Diagnostic("NE212", message, tree.text, marks_of(first, item), hint=hint)


def _has_read(item: ast.Item) -> bool:
    group = group_of(item)
    return is_read(item) or (group is not None and any(map(_has_read, group.items)))


def _parts_and_positions(tree: ast.Expression, _: bool) -> Iterator[Diagnostic]:
    if any(map(_has_read, (item for term in tree.terms for item in term.items))):
        from nameexpr.compiler.analysis.rules.blocks import block_faults

        yield from block_faults(tree)


Rule = Callable[[ast.Expression, bool], Iterator[Diagnostic]]
_RULES: tuple[Rule, ...] = (
    _one_output,
    _known_reducer,
    _parts_and_positions,
    _one_pack_per_input,
    _one_dots_in_result,
    _inside_groups,
    _anonymous,
    _packs_come_from_inputs,
    _words_mean_one_thing,
    _sizes_agree,
    _result_names,
)
INPUT_RULES: tuple[Callable[[ast.Expression, bool, str], Iterator[Diagnostic]], ...] = (
    _one_pack_per_input,
    _inside_groups,
    _words_mean_one_thing,
    _sizes_agree,
)
"""The rules for all input terms, including those of operands in formulas."""
