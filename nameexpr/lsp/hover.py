"""The text that an editor shows at the pointer: the meaning of the word there, the dims of the result, and
the plan if the text and its call determine all sizes.
"""

from __future__ import annotations

import re

from nameexpr.compiler.analysis.operands import assumed_shapes
from nameexpr.compiler.pipeline import read_formula
from nameexpr.dims import WORD
from nameexpr.errors import NameExprError, Span
from nameexpr.lint import LiteralCall
from nameexpr.lint.diagnose import given_sizes
from nameexpr.lsp.meanings import Meaning, in_expression, in_formula, of_word
from nameexpr.lsp.programs import TextAt, text_at
from nameexpr.records import record
from nameexpr.runtime.differentiated import differentiated
from nameexpr.syntax import ast, walk
from nameexpr.syntax.parser.expression import parse
from nameexpr.syntax.parser.formula import parse_formula
from nameexpr.syntax.unparse import unparse_term

MOST = 8
"""The number of operands up to which a plan is shown: larger ones are too long for a tooltip."""
_WORDS = re.compile(WORD)


@record
class Hover:
    """Markdown, and its range in the file."""

    markdown: str
    start: int
    end: int


def hover(source: str, offset: int, path: str) -> Hover | None:
    """Return the tooltip at an offset of a source, None outside of texts."""
    found = text_at(source, offset, path)
    if found is not None and found.keyword == "wrt":
        return _of_operand(found)
    if found is None or found.keyword:
        return None
    meaning = _meaning(found)
    if meaning is None:
        return None
    return Hover("\n".join(_paragraphs(meaning, found)), *found.written(*meaning.span))


def _of_operand(found: TextAt) -> Hover | None:
    """Return the tooltip for the name of an operand to differentiate by."""
    words = (word for word in _WORDS.finditer(found.text) if word.start() <= found.place <= word.end())
    word = next(words, None)
    try:
        scope = read_formula(found.call.literal.text)
    except NameExprError:
        return None
    if word is None or word[0] not in scope.uses:
        return None
    meaning = in_formula(scope.tree, scope.uses[word[0]][0].name_span.start)
    lines = [*meaning.lines, "- the gradient by it has its shape, dtype and names"]
    return Hover("\n".join([lines[0], "", *lines[1:]]), *found.written(*word.span()))


def _meaning(found: TextAt) -> Meaning | None:
    """Return the meaning of the position; for a text that is wrong, only that of a function."""
    call = found.call.literal
    try:
        if call.is_formula:
            return in_formula(parse_formula(found.text), found.place)
        return in_expression(parse(found.text), found.place, _sizes(call), _reduce(call) or "")
    except NameExprError:
        words = (word for word in _WORDS.finditer(found.text) if word.start() <= found.place < word.end())
        return next((of_word(word[0], Span(*word.span())) for word in words), None)


def _sizes(call: LiteralCall) -> dict[str, int]:
    return {name: value for name, value, _ in given_sizes(call) if type(value) is int}


def _reduce(call: LiteralCall) -> str | None:
    reduce = call.keywords.get("reduce")
    return reduce if isinstance(reduce, str) else None


def _paragraphs(meaning: Meaning, found: TextAt) -> list[str]:
    """Return the lines of the Markdown: the meaning, the result, the plan."""
    first, *more = meaning.lines
    lines = [first, "", *more] if more else [first]
    try:
        about = _of_formula(found) if found.call.literal.is_formula else _of_expression(found)
    except NameExprError:  # the error is shown at its position
        return lines
    return [*lines, *about]


def _of_expression(found: TextAt) -> list[str]:
    """Return the dims of an expression's result, and its plan if all sizes are known."""
    from nameexpr.runtime.compile import compile as compile_text

    tree, sizes = parse(found.text), _sizes(found.call.literal)
    if tree.outputs is None:
        return []
    lines = ["", f"result: `{', '.join(unparse_term(term) or '()' for term in tree.outputs)}`"]
    if len(tree.inputs) > MOST or not _is_sized(tree.inputs, sizes):
        return lines
    compiled = compile_text(found.text, sizes=sizes or None, reduce=_reduce(found.call.literal))
    return lines + _fenced(str(compiled.plan(*assumed_shapes(tree, sizes))))


def _of_formula(found: TextAt) -> list[str]:
    """Return the dims of a formula's result, and its plan if all sizes are known."""
    from nameexpr.runtime.compile import compile_formula

    tree, text = parse_formula(found.text), found.text
    gradients: list[str] = []
    wrt = found.call.literal.keywords.get("wrt")
    if isinstance(wrt, tuple):
        made = differentiated(text, wrt)
        text, gradients = made.text, [name for name, _ in made.gradients]
    outputs = [f"d_{name}" for name in gradients] or None
    compiled = compile_formula(text, outputs=outputs)
    terms: dict[str, ast.Term] = {}
    for node in walk.nodes_of(tree.statements):
        if isinstance(node, ast.Use) and node.term is not None:
            terms.setdefault(node.name, node.term)
    if len(compiled.operands) > MOST or not all(name in terms for name in compiled.operands):
        return []
    used = tuple(terms[name] for name in compiled.operands)
    written = {atom.name: atom.size for atom in walk.atoms_of(ast.Sized, walk.terms_in(tree))}
    shapes = dict(
        zip(compiled.operands, assumed_shapes(ast.Expression(used, None, None), written), strict=True)
    )
    dims = " ".join(name or "_" for name in compiled.result_names(shapes))
    lines = ["", f"result: `{dims or '()'}`"]
    if gradients:
        lines = ["", f"result: the gradients by {', '.join(f'`{_seen(terms, name)}`' for name in gradients)}"]
    if _is_sized(used, written):
        lines += _fenced(str(compiled.plan(operands=shapes)))
    return lines


def _seen(terms: dict[str, ast.Term], name: str) -> str:
    return f"{name}[{unparse_term(terms[name])}]" if name in terms else name


def _is_sized(terms: tuple[ast.Term, ...], sizes: dict[str, int]) -> bool:
    """Return whether the sizes of all dims are known."""
    known = {atom.name for atom in walk.atoms_of(ast.Sized, terms)} | sizes.keys()
    return all(
        isinstance(atom, ast.Literal) or (isinstance(atom, ast.LABELLED) and atom.name in known)
        for term in terms
        for atom in walk.atoms(term.items)
    )


def _fenced(text: str) -> list[str]:
    return ["", "```text", *text.splitlines(), "```"]
