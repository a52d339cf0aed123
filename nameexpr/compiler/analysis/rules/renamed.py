"""A form in the names of a call: its operands, labels and number take the place of those of the form.

>>> from nameexpr.syntax.parser.formula import parse_formula
>>> from nameexpr.syntax.unparse import unparse_statement
>>> (form,) = parse_formula("y[i k=10] = x[i] == index[k]").statements
>>> call = parse_formula("one_hot(ids[k], 3)").statements[0].value
>>> unparse_statement(renamed(form, "y", call, {"ids", "k"}))
'y[k i=3] = ids[k] == index[i]'
"""

from __future__ import annotations

from collections.abc import Mapping

from nameexpr.ops import RESERVED
from nameexpr.records import replace
from nameexpr.syntax import ast, walk
from nameexpr.syntax.items import rewritten

_SPARE = ("i", "j", "k", "m", "n", "s", "u")


def plain_labels(use: ast.Node) -> tuple[ast.Label, ...]:
    """Return the labels of a use, none if it has anything else."""
    items = use.term.items if isinstance(use, ast.Use) and use.term is not None else ()
    labels = tuple([ast.Label(item.name) for item in items if isinstance(item, ast.Label)])
    return labels if len(labels) == len(items) else ()


def renamed(
    form: ast.Statement, name: str, call: ast.Call | ast.CallAlong, taken: set[str]
) -> ast.Statement | None:
    """Return a form in the names of a call, called `name`, None if its operands are others; `taken` are the
    names of the formula.
    """
    given = [one for one in call.arguments if isinstance(one, ast.Use) and plain_labels(one)]
    numbers = [one.value for one in call.arguments if isinstance(one, ast.Number)]
    operands = _operands(form)
    if len(operands) != len(given) or len(given) + len(numbers) != len(call.arguments):
        return None
    labels: dict[str, str] = {}
    for term, use in zip(operands.values(), given, strict=True):
        own, new = [_label(item) for item in term.items], [label.name for label in plain_labels(use)]
        if len(own) != len(new) or any(
            labels.get(old, name) != name for old, name in zip(own, new, strict=True)
        ):
            return None
        labels |= {old: name for old, name in zip(own, new, strict=True) if name not in labels.values()}
    used = {*taken, *labels.values()}
    for label in sorted(walk.labels_in(*walk.terms_in(ast.Formula((form,), "")))):
        labels.setdefault(label, next((one for one in (label, *_SPARE) if one not in used), label))
        used.add(labels[label])
    names = {old: use.name for old, use in zip(operands, given, strict=True)}
    return _Renaming({**names, form.name or "": name}, labels, numbers).statement(form)


def _operands(form: ast.Statement) -> dict[str, ast.Term]:
    """Return the operands of a form with their terms: x first, the others in the order of the text."""
    found: dict[str, ast.Term] = {}
    for node in walk.nodes_of((form,)):
        if isinstance(node, ast.Use) and node.term is not None and node.name not in {*RESERVED, form.name}:
            found.setdefault(node.name, node.term)
    return dict(sorted(found.items(), key=lambda pair: pair[0] != "x"))


def _label(item: ast.Item) -> str:
    """Return the label by which the dim of an operand is known in a form, that of its position first."""
    items = tuple(walk.labels_in_place(item.place)) if isinstance(item, ast.At) else (item,)
    return next((one.name for one in items if isinstance(one, ast.LABELLED)), "")


class _Renaming:
    """New names of operands and labels, and the size that is given."""

    def __init__(
        self, names: Mapping[str, str], labels: Mapping[str, str], numbers: list[int | float]
    ) -> None:
        self.names, self.labels = names, labels
        self.size = numbers[0] if len(numbers) == 1 and isinstance(numbers[0], int) else None

    def statement(self, form: ast.Statement) -> ast.Statement:
        name, term = self.names[form.name or ""], None if form.term is None else self.term(form.term)
        others = tuple(map(self.node, form.others))
        return replace(form, name=name, term=term, value=self.node(form.value), others=others)

    def node(self, node: ast.Node) -> ast.Node:
        match node:
            case ast.Use(name, ast.Term() as term):
                return replace(node, name=self.names.get(name, name), term=self.term(term))
            case ast.Unary(_, value):
                return replace(node, value=self.node(value))
            case ast.Binary(_, left, right):
                return replace(node, left=self.node(left), right=self.node(right))
            case ast.Call(_, arguments):
                return replace(node, arguments=tuple(map(self.node, arguments)))
            case ast.CallAlong(_, term, arguments):
                return replace(node, term=self.term(term), arguments=tuple(map(self.node, arguments)))
        return node

    def term(self, term: ast.Term) -> ast.Term:
        return ast.Term(self.items(term.items))

    def items(self, items: tuple[ast.Item, ...]) -> tuple[ast.Item, ...]:
        def rewrite(item: ast.Item) -> list[ast.Item] | None:
            match item:
                case ast.Label(name):
                    return [ast.Label(self.labels.get(name, name))]
                case ast.Sized(name, size):
                    return [ast.Sized(self.labels.get(name, name), size if self.size is None else self.size)]
                case ast.At(base, place):
                    (new,) = self.items((base,))
                    return [replace(item, base=new, place=self.node(place))]
            return None

        return rewritten(items, rewrite)
