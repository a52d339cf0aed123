"""Fill in inputs that are left out: read `-> C ... N` for operands that have names (docs/language.md, section
4).

The term of each NamedTensor consists of its own names; `...` stands for the names that are not mentioned. The
text is rewritten with all its terms, and this is the text that all later stages, diagnostics included, work
on.

>>> from nameexpr.compiler.analysis.operands import Operand
>>> from nameexpr.syntax.parser.expression import parse
>>> fill_in(parse("-> C ... N"), (Operand((2, 3, 4), ("N", None, "C")),)).text
'N _ C -> C _ N'
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.analysis.operands import Operand, describe
from nameexpr.compiler.analysis.rules.blocks import moved_faults
from nameexpr.compiler.analysis.rules.check import check_text
from nameexpr.errors import Diagnostic, Mark, Span, error
from nameexpr.records import replace
from nameexpr.syntax import ast, walk
from nameexpr.syntax.items import rewritten
from nameexpr.syntax.parser.expression import parse
from nameexpr.syntax.unparse import unparse


def fill_in(tree: ast.Expression, operands: Sequence[Operand], *, has_reduce: bool = False) -> ast.Expression:
    """Return the expression with every input term written out, parsed again and checked."""
    filled = tree
    if any(operand.names is not None for operand in operands):
        filled = parse(unparse(_written_out(tree, operands)))
    elif dots := walk.atoms_of(ast.Dots, tree.outputs or ()):  # an array without a term is a scalar
        hint = "only a NamedTensor has names; write the term of an array"
        marks = tuple(Mark(dot.span) for dot in dots)
        infos = describe((), operands)
        raise error(Diagnostic("NE210", "'...' is not in any input", tree.text, marks, infos, hint))
    check_text(replace(filled, inputs=filled.inputs or (ast.Term(()),)), has_reduce=has_reduce)
    if filled.leaves_inputs_out and filled.outputs and (faults := list(moved_faults(filled, filled.outputs))):
        raise error(*faults)  # operands without dims
    return filled


def _written_out(tree: ast.Expression, operands: Sequence[Operand]) -> ast.Expression:
    assert tree.outputs is not None
    mentioned = walk.labels_in(tree.outputs[0])
    dots = walk.atoms_of(ast.Dots, tree.outputs[:1])
    if dots and len(operands) != 1:
        hint = "with several tensors, write out the dims of the result"
        marks = tuple(Mark(dot.span) for dot in dots)
        message = "... in a result without inputs needs a single tensor"
        raise error(Diagnostic("NE405", message, tree.text, marks, describe((), operands), hint))
    if not dots:
        _check_all_named(tree, operands)
    inputs = tuple(
        ast.Term(tuple(ast.Anonymous() if name is None else ast.Label(name) for name in operand.names or ()))
        for operand in operands
    )
    items = inputs[0].items
    others = [item for item in items if not (isinstance(item, ast.Label) and item.name in mentioned)]

    def without_dots(item: ast.Item) -> list[ast.Item] | None:
        return others if isinstance(item, ast.Dots) else None

    outputs = tuple(ast.Term(rewritten(term.items, without_dots)) for term in tree.outputs)
    return replace(tree, inputs=inputs, outputs=outputs)


def _check_all_named(tree: ast.Expression, operands: Sequence[Operand]) -> None:
    for position, operand in enumerate(operands):
        if operand.names is not None and None in operand.names:
            which = f"dim {operand.names.index(None)} of operand {position}"
            message = f"{which} has no name, so a text that leaves the inputs out cannot refer to it"
            hint = "name it with refine_names, keep it with ..., or write the input's term"
            mark = Mark(Span(0, 0))
            raise error(Diagnostic("NE406", message, tree.text, (mark,), describe((), operands), hint))
