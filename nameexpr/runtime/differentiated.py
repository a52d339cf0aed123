"""A formula followed by its gradients: `loss = ...; d_w[C H] = grad(loss, w[C H])`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nameexpr.compiler.analysis.faults.differentiating import (
    named_twice,
    no_names,
    no_operand,
    of_expression,
    of_object,
    operands_to_name,
    swapped,
)
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.pipeline import read_formula
from nameexpr.dims import normalised
from nameexpr.errors import Diagnostic, ParseError, Span, error
from nameexpr.records import record
from nameexpr.syntax import ast, walk
from nameexpr.syntax.items import group_of, label_of
from nameexpr.syntax.lexer.tokens import looks_like_formula
from nameexpr.syntax.unparse import unparse_term

PREFIX = "d_"


@record
class Differentiated:
    """The text of a value and its gradients: the name of the value, and for each operand the statement that
    is its gradient; `origin` is the text of the value alone.
    """

    text: str
    origin: str
    value: str
    gradients: tuple[tuple[str, str], ...]

    def told(self, diagnostic: Diagnostic) -> Diagnostic:
        """Return a diagnostic for the text as one for that of the value, which is what its user wrote.

        Marks in a gradient's statement become marks of the value and of the operand.
        """
        return _told(self, diagnostic) if diagnostic.text == self.text else diagnostic


def differentiated(text: str, wrt: str | Iterable[str]) -> Differentiated:
    """Return a formula with the gradients of its last statement by some operands (NE531 for an expression,
    NE534 for names that are not those of operands).
    """
    scope = read_value(text)
    names = named_operands(scope, wrt)
    taken = {*scope.uses, *(one.name for one in scope.tree.statements if one.name is not None)}
    last = scope.tree.statements[-1]
    value = last.name or free("value", taken)
    whole = text if last.name else f"{text[: last.span.start]}{value} = {text[last.span.start :]}"
    taken.add(value)
    gradients, lines = [], [whole.rstrip()]
    for name in names:
        statement, term = free(PREFIX + name, taken), _term(scope, name)
        taken.add(statement)
        brackets = "" if term is None else f"[{unparse_term(term)}]"
        gradients.append((name, statement))
        lines.append(f"{statement}{brackets} = grad({value}, {name}{brackets})")
    return Differentiated("\n".join(lines), text, value, tuple(gradients))


def read_value(text: str) -> Scope:
    """Return the formula of a value to differentiate (NE531 for an expression)."""
    if not isinstance(text, str):
        raise error(of_object(text))
    try:
        return read_formula(text)
    except ParseError:
        if "->" in text and not looks_like_formula(text):
            raise error(of_expression(text)) from None
        raise


def names_in(wrt: str) -> list[str]:
    """Return the names in a string, and a formula, which is there by mistake, as it is."""
    return [wrt] if {"=", "("}.intersection(wrt) else wrt.split()


def named_operands(scope: Scope, wrt: object) -> Sequence[str]:
    """Return the operands to differentiate by (NE534 for other names)."""
    given = names_in(wrt) if isinstance(wrt, str) else list(wrt) if isinstance(wrt, Iterable) else None
    if given is None or not all(isinstance(name, str) for name in given):
        raise error(no_names(scope, wrt))
    if not given:
        message = "no operand is named to differentiate by"
        raise error(Diagnostic("NE534", message, scope.text, hint=operands_to_name(scope)))
    names = [normalised(name) for name in given]
    for place, name in enumerate(names):
        if {"=", "("}.intersection(name):
            raise error(swapped(name))
        if name not in scope.uses:
            raise error(no_operand(scope, name))
        if name in names[:place]:
            raise error(named_twice(scope, name))
    return names


def _told(made: Differentiated, diagnostic: Diagnostic) -> Diagnostic:
    scope = read_formula(made.origin)
    last = scope.tree.statements[-1]
    added = 0 if last.name else len(made.value) + len(" = ")
    marks = []
    for mark in diagnostic.marks:
        shift = added if mark.span.start > last.span.start else 0
        span = Span(mark.span.start - shift, mark.span.end - shift)
        if span.end > len(made.origin.rstrip()):
            word = made.text[mark.span.start : mark.span.end].partition("[")[0]
            span = scope.uses[word][0].span if word in scope.uses else last.span
        marks.append(mark._replace(span=span))
    return diagnostic._replace(text=made.origin, marks=tuple(dict.fromkeys(marks)))


def free(name: str, taken: Iterable[str]) -> str:
    """Return a name that nothing else has."""
    while name in taken:
        name += "'"
    return name


def _term(scope: Scope, name: str) -> ast.Term | None:
    """Return a term through which every element of an operand is seen once; None if it has no term.

    A label that is a group of its own fits a dim of any name.
    """
    terms = [use.term for use in scope.uses[name] if use.term is not None]
    if not terms:
        return None
    plain = next((term for term in terms if _is_plain(term)), None)
    if plain is not None:
        return plain
    known = walk.labels_in(*walk.terms_in(scope.tree))
    items: list[ast.Item] = []
    for number, dim in enumerate(map(_dim_of, terms[0].items)):
        label = free(f"d{number}", known)
        items.append(ast.Alias(dim, label) if dim else ast.Group((ast.Label(label),)))
    return ast.Term(tuple(items))


def _dim_of(item: ast.Item) -> str | None:
    """Return the name in tensors of a dim that is read in parts or at positions; None if none is written."""
    match item:
        case ast.At(ast.Label(name)) | ast.NamedGroup(name) | ast.At(ast.Alias(name)):
            return name
    return None


def _is_plain(term: ast.Term) -> bool:
    """Return whether a term names each dim once, all of it."""
    inner = [one for item in term.items for one in getattr(group_of(item), "items", (item,))]
    words = [one.word if isinstance(one, ast.STRETCHED) else label_of(one) for one in inner]
    return None not in words and len(set(words)) == len(words)
