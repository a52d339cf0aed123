"""The meaning of a position in a text: a label, a term, a function, an operand, a statement; as lines of
Markdown, the first of which names it.

>>> from nameexpr.syntax.parser.expression import parse
>>> for line in in_expression(parse("N C=3, C -> N : sum"), 2).lines:
...     print(line)
`C`: a label, of size 3
- operand 0, `N C=3`: dim 1
- operand 1, `C`: dim 0
- not in the result: reduced by `sum`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from nameexpr.errors import Span
from nameexpr.lsp.derivatives import lines_of
from nameexpr.ops import ALONG, CALLS, CONSTANTS, INDEX, OPERATORS, REDUCTIONS, SIZE
from nameexpr.records import record
from nameexpr.syntax import ast, walk
from nameexpr.syntax.unparse import unparse_item, unparse_place, unparse_statement, unparse_term

_FUNCTIONS = {**CALLS, **REDUCTIONS, **ALONG}
_OF_ONE_DIM = {
    SIZE: f"`{SIZE}[C]`: the size of a dim",
    INDEX: f"`{INDEX}[C]`: 0, 1, ... along a dim",
}
_ITEMS = {
    ast.Parts: "a dim in parts, one after the other",
    ast.At: "a dim, read at a position",
    ast.Anonymous: "a dim of any name and size",
    ast.Dots: "any number of dims, aligned from the right and broadcast",
    ast.Pack: "a pack: any number of dims, the same wherever it is written",
    ast.Literal: "a dim of this size, without a label",
}
NOTHING: Mapping[str, int] = {}


@record
class _Brackets:
    """A term and its owner: in a formula an operand, a statement or a function by `name`, in an expression
    the operand or result in `title`.
    """

    term: ast.Term
    title: str = ""
    name: str = ""
    is_function: bool = False

    @property
    def shown(self) -> str:
        """The term with its owner."""
        term = unparse_term(self.term)
        return f"`{self.name}[{term}]`" if self.name else f"{self.title}, `{term or '()'}`"


@record
class Meaning:
    """The meaning of a position, with its start and end in the text."""

    lines: tuple[str, ...]
    span: Span


def of_word(word: str, span: Span) -> Meaning | None:
    """Return the usage of a function, a constant or `size` and `index`; None for other words.

    >>> of_word("softmax", Span(0, 7)).lines
    ('`softmax[C](x)`: exponentials over their sum along axes',)
    """
    row = _FUNCTIONS.get(word)
    if row is not None:
        return Meaning((f"`{row.usage}`: {row.doc}",), span)
    line = _OF_ONE_DIM.get(word) or (f"`{word}`: {CONSTANTS[word]!r}" if word in CONSTANTS else "")
    return Meaning((line,), span) if line else None


def in_expression(
    tree: ast.Expression, place: int, sizes: Mapping[str, int] = NOTHING, reduce: str = ""
) -> Meaning:
    """Return the meaning of a position in an expression; `sizes` and `reduce` are those of the call."""
    reducer = tree.reducer
    if reducer is not None and _holds(reducer.span, place) and reducer.name in REDUCTIONS:
        row = REDUCTIONS[reducer.name]
        return Meaning((f"`: {reducer.name}`, a reducer: {row.doc}",), reducer.span)
    terms = [_Brackets(term, f"operand {number}") for number, term in enumerate(tree.inputs)]
    terms += [_Brackets(term, "the result") for term in tree.outputs or ()]
    found = _label_at(terms, place, sizes)
    if found is None:
        return _in_terms(terms, place, sizes) or Meaning(tuple(_overview(tree)), Span(0, len(tree.text)))
    label = next(atom.name for atom in _labels(tree.terms) if _holds(atom.span, place))
    is_read = any(atom.name == label for atom in walk.value_atoms_of(ast.LABELLED, tree.inputs))
    if tree.outputs and is_read and label not in walk.labels_in(*tree.outputs):
        name = reducer.name if reducer else reduce
        how = f"reduced by `{name}`" if name else "summed over"
        return Meaning((*found.lines, f"- not in the result: {how}"), found.span)
    return found


def _overview(tree: ast.Expression) -> Iterator[str]:
    count = len(tree.inputs)
    yield f"an expression with {count} operand{'s' if count > 1 else ''}"
    for number, term in enumerate(tree.inputs):
        yield f"- operand {number}: `{unparse_term(term) or '()'}`"


def in_formula(tree: ast.Formula, place: int) -> Meaning:
    """Return the meaning of a position in a formula: the smallest part that contains it."""
    terms = list(_brackets(tree))
    found = _label_at(terms, place, NOTHING)
    if found is not None:
        return found
    statement = next((one for one in tree.statements if _holds(one.span, place)), tree.statements[-1])
    named = {one.name: one for one in tree.statements if one.name is not None}
    for node in walk.nodes_of((statement,)):
        span = node.operator_span if isinstance(node, ast.Binary) else getattr(node, "name_span", None)
        if span is not None and _holds(span, place):
            found = _of_node(node, span, named, terms)
            more = lines_of(tree, statement, node) if isinstance(node, ast.Call) else ()
            return Meaning((*found.lines, *more), span)
    found = _in_terms(terms, place, NOTHING)
    if found is not None:
        return found
    span = statement.name_span if _holds(statement.name_span, place) else statement.span
    return Meaning((f"`{unparse_statement(statement)}`", *_overview_of(statement)), span)


def _of_node(
    node: ast.Node, span: Span, named: Mapping[str, ast.Statement], terms: list[_Brackets]
) -> Meaning:
    if isinstance(node, ast.Binary):
        row = OPERATORS[node.operator]
        return Meaning((f"`{row.usage}`: {row.doc}",), span)
    name = node.name if isinstance(node, ast.Use) else node.function  # type: ignore[union-attr]
    if isinstance(node, ast.Use) and name in named:
        return Meaning((f"`{unparse_statement(named[name])}`: a statement above",), span)
    known = of_word(name, span)
    if known is not None:
        return known
    uses = dict.fromkeys(one.shown for one in terms if one.name == name)
    seen = f", seen as {', '.join(uses)}" if uses else ""
    return Meaning((f"`{name}`: an operand{seen}",), span)


def _overview_of(statement: ast.Statement) -> Iterator[str]:
    if statement.term is not None:
        yield f"- dims: `{unparse_term(statement.term) or '()'}`"


def _brackets(tree: ast.Formula) -> Iterator[_Brackets]:
    """Yield every term of a formula."""
    for statement in tree.statements:
        if statement.term is not None:
            yield _Brackets(statement.term, name=statement.name or "")
        for node in walk.nodes_of((statement,)):
            if isinstance(node, ast.CallAlong):
                yield _Brackets(node.term, name=node.function, is_function=True)
            elif isinstance(node, ast.Use) and node.term is not None and node.term.span != node.span:
                yield _Brackets(node.term, name=node.name)  # not the label of a position


def _label_at(terms: list[_Brackets], place: int, given: Mapping[str, int]) -> Meaning | None:
    """Return the label at a position."""
    every = [one.term for one in terms]
    sizes = _sizes(every, given)
    for atom in _labels(every):
        if _holds(atom.span, place):
            size = f", of size {sizes[atom.name]}" if atom.name in sizes else ""
            lines = dict.fromkeys(line for one in terms for line in _dims_of(atom.name, one))
            return Meaning((f"`{atom.name}`: a label{size}", *lines), atom.span)
    return None


def _in_terms(terms: list[_Brackets], place: int, given: Mapping[str, int]) -> Meaning | None:
    """Return the item, or else the whole term, that contains a position; for terms in each other the
    innermost.
    """
    sizes = _sizes([one.term for one in terms], given)
    around = [one for one in terms if _holds(one.term.span, place)]
    if not around:
        return None
    one = min(around, key=lambda brackets: len(range(*brackets.term.span)))
    for item in one.term.items:
        whole = [item for item in (item, *walk.atoms((item,))) if type(item) in _ITEMS]
        inner = next((item for item in reversed(whole) if _holds(item.span, place)), None)
        if inner is not None:
            return Meaning((f"`{unparse_item(inner)}`: {_ITEMS[type(inner)]}",), inner.span)
    dims = [f"- dim {number}: {_item(item, sizes)}" for number, item in enumerate(one.term.items)]
    count = f"{len(dims)} dim{'s' * (len(dims) != 1)}"
    return Meaning((f"{one.shown if one.name else one.title}: {count}", *dims), one.term.span)


def _sizes(terms: list[ast.Term], given: Mapping[str, int]) -> dict[str, int]:
    return {**{atom.name: atom.size for atom in walk.atoms_of(ast.Sized, terms)}, **given}


def _labels(terms: Iterable[ast.Term]) -> list[ast.Labelled]:
    """Return the labels of terms, and those of their positions."""
    every = list(terms)
    places = [atom for term in every for place in walk.places(term) for atom in walk.labels_in_place(place)]
    return [*walk.atoms_of(ast.LABELLED, every), *(atom for atom in places if isinstance(atom, ast.LABELLED))]


def _dims_of(label: str, brackets: _Brackets) -> Iterator[str]:
    """Yield the dims of a term that have a label, or what a function does with it."""
    for number, item in enumerate(brackets.term.items):
        if not any(atom.name == label for atom in _labels((ast.Term((item,)),))):
            continue
        if brackets.is_function:
            does = "reduces over" if brackets.name in REDUCTIONS else "goes along"
            yield f"- {brackets.shown} {does} it"
            continue
        yield f"- {brackets.shown}: dim {number}{_share(label, item)}"


def _share(label: str, item: ast.Item) -> str:
    """Return what a label is of an item that has more than a label."""
    if isinstance(item, ast.At):
        is_base = label in walk.labels_in(ast.Term((item.base,)))
        return f", read at `{unparse_place(item.place)}`" if is_base else f", in `{unparse_item(item)}`"
    is_part = isinstance(item, ast.Group | ast.Parts | ast.NamedGroup)
    return f", part of `{unparse_item(item)}`" if is_part else ""


def _item(item: ast.Item, sizes: Mapping[str, int]) -> str:
    size = sizes.get(item.name) if isinstance(item, ast.LABELLED) else None
    return f"`{unparse_item(item)}`" + (f", of size {size}" if size is not None else "")


def _holds(span: Span, place: int) -> bool:
    return span.start <= place < span.end
