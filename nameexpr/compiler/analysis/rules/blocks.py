"""The rules on expressions that move values into the parts of a result, or parts into several results
(docs/language.md, section 3).

    N a, N b -> N (a + b)      operand k is block k of the result, and has no dim of another block
    N (a + b) -> a N, N b      each result has the labels of one part, and every part is in some result
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from nameexpr.compiler.analysis.rules.parts import blocks_of, result_faults, use_faults, wrong_count
from nameexpr.compiler.analysis.rules.summation import listed
from nameexpr.errors import Diagnostic, Mark
from nameexpr.syntax import ast
from nameexpr.syntax.items import factors_without, parts_in
from nameexpr.syntax.unparse import unparse_item, unparse_term
from nameexpr.syntax.walk import has_several_parts, is_live, value_atoms


def block_faults(tree: ast.Expression) -> Iterator[Diagnostic]:
    """Yield the errors in the parts and positions of an expression."""
    outputs = tree.outputs
    is_split = has_several_parts(tree) and len(tree.inputs) == 1
    yield from use_faults(tree.text, tree.inputs, is_split=outputs is None or is_split)
    if outputs is None:
        return
    yield from result_faults(tree.text, outputs)
    if not tree.leaves_inputs_out:
        yield from moved_faults(tree, outputs)


def moved_faults(tree: ast.Expression, outputs: Sequence[ast.Term]) -> Iterator[Diagnostic]:
    """Yield the errors in what is moved from the inputs to the results."""
    if any(True for term in outputs for _ in parts_in(term.items)):
        yield from _joined_faults(tree, outputs)
    elif has_several_parts(tree) and len(tree.inputs) == 1:
        yield from _split_faults(tree, outputs)


def _joined_faults(tree: ast.Expression, outputs: Sequence[ast.Term]) -> Iterator[Diagnostic]:
    blocks, joined = blocks_of(outputs[0])
    if not all(part.items for parts in joined for part in parts.parts):
        return  # a part is missing
    count, spans = len(tree.inputs), [term.span for term in tree.inputs]
    if len(outputs) > 1 or has_several_parts(tree):
        message = "parts are either read into several results or joined into one"
        marks = tuple([Mark(term.span) for term in outputs])
        yield Diagnostic("NE222", message, tree.text, marks, hint="write two expressions, or a formula")
    elif count not in (len(blocks), sum(blocks)):
        yield wrong_count(tree.text, joined, len(blocks), spans, "operand")
    else:
        chosen = list(product(*[parts.parts for parts in joined]))
        with_values = [one for one, live in zip(chosen, blocks, strict=True) if live or count == len(blocks)]
        for term, block in zip(tree.inputs, with_values, strict=True):
            yield from _block_faults(tree, outputs[0], term, block)


def _block_faults(
    tree: ast.Expression, result: ast.Term, term: ast.Term, block: Sequence[ast.Group]
) -> Iterator[Diagnostic]:
    """Yield the dims of an operand that are not in its block."""
    dims = _words(factors_without(result.items, list(parts_in(result.items))))
    other = _words(result.items) - dims - _words(block)
    for atom in value_atoms(term.items):
        word = _word(atom)
        if not word or word in dims or word in _words(block):
            continue
        if word in other:
            own = " ".join(map(unparse_item, [item for part in block for item in part.items]))
            message = f"the operand of part '{own}' has the dim '{word}', which is another part"
            hint = "write the operands in the order of the parts"
            yield Diagnostic("NE223", message, tree.text, (Mark(atom.span),), hint=hint)
        else:
            message = f"'{word}' would be implicitly dropped"
            hint = "add it to the result; a result that consists of parts has no sums"
            yield Diagnostic("NE213", message, tree.text, (Mark(atom.span),), hint=hint)


def _word(atom: ast.Atom) -> str:
    """Return the label or the word of an item, "" for one without either."""
    if isinstance(atom, ast.LABELLED):
        return atom.name
    return atom.word if isinstance(atom, ast.STRETCHED) else "_" if isinstance(atom, ast.Anonymous) else ""


def _words(items: Sequence[ast.Item]) -> set[str]:
    return {_word(atom) for atom in value_atoms(tuple(items))} - {""}


def _split_faults(tree: ast.Expression, outputs: Sequence[ast.Term]) -> Iterator[Diagnostic]:
    (term,) = tree.inputs
    split = _split_dims(term)
    dims = _words(factors_without(term.items, split))
    used: set[tuple[int, int]] = set()
    for result, chosen in zip(outputs, choices(tree), strict=True):
        if len(chosen) < len(split):
            parts = split[len(chosen)]
            message = f"which part of {unparse_item(parts)} is meant in '{unparse_term(result)}'?"
            hint = "each result has the labels of one part: -> N a, N b"
            yield Diagnostic("NE220", message, tree.text, (Mark(parts.span), Mark(result.span)), hint=hint)
            return
        used |= set(enumerate(chosen))
        own = _words([parts.parts[at] for parts, at in zip(split, chosen, strict=True)])
        lost = sorted((dims | own) - _words(result.items), key=tree.text.find)
        if lost:
            message = f"{listed(lost)} would be implicitly dropped in '{unparse_term(result)}'"
            hint = "add it to the result; several results are only moved, never reduced"
            yield Diagnostic("NE213", message, tree.text, (Mark(result.span),), hint=hint)
    for number, parts in enumerate(split):
        for at, part in enumerate(parts.parts):
            if is_live(part) and (number, at) not in used:
                yield _dropped_part(tree, part)


def _dropped_part(tree: ast.Expression, part: ast.Group) -> Diagnostic:
    name = " ".join(map(unparse_item, part.items))
    message = f"the part '{name}' would be implicitly dropped"
    hint = "add a result for it, -> N a, N b; or write _ for the part"
    return Diagnostic("NE221", message, tree.text, (Mark(part.span),), hint=hint)


def _split_dims(term: ast.Term) -> list[ast.Parts]:
    return [parts for parts in parts_in(term.items) if sum(map(is_live, parts.parts)) > 1]


def choices(tree: ast.Expression) -> list[tuple[int, ...]]:
    """Return for each of several results the part that it has of each dim with several parts; only the first
    ones of a result that does not determine all.

    The parts with the labels of a result are its candidates. Results with the same candidates take them in
    the order of the text: `N (b + b) -> N b, N b`.
    """
    assert tree.outputs is not None
    split = _split_dims(tree.inputs[0])
    found: list[tuple[int, ...]] = []
    turns: dict[tuple[tuple[int, ...], ...], int] = {}
    for result in tree.outputs:
        words = _words(result.items)
        every = [_candidates(parts.parts, words) for parts in split]
        known = tuple(every[: every.index(()) if () in every else len(every)])
        blocks = list(product(*known))
        turn = turns.get(known, 0)
        turns[known] = turn + 1
        is_known = turn < len(blocks) or len(blocks) == 1
        found.append(blocks[min(turn, len(blocks) - 1)] if is_known else ())
    return found


def _candidates(parts: Sequence[ast.Group], words: set[str]) -> tuple[int, ...]:
    """Return the parts of a dim that a result may have: those with its labels, if they all have the same."""
    here = [at for at, part in enumerate(parts) if is_live(part) and _words([part]) & words]
    return tuple(here) if len({frozenset(_words([parts[at]])) for at in here}) == 1 else ()
