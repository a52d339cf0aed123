"""Which tensors the terms of an expression are about: those behind the bar, or those whose names say so.

>>> import nameexpr as ne
>>> tensors = {"x": ne.ones(2, 3, names="N C"), "w": ne.ones(3, names="C")}
>>> found = named_operands(Expression("N C, C -> N"), tensors)
>>> [name for name, _ in found.operands]
['x', 'w']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nameexpr.compiler.pipeline import read
from nameexpr.errors import Span, did_you_mean
from nameexpr.runtime.options import checked_sizes
from nameexpr.session.faults import LineError
from nameexpr.session.lines import Expression, Word
from nameexpr.syntax import ast
from nameexpr.syntax.unparse import unparse_term

Tensors = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """An expression's tree, its operands by what they are called, and the sizes that the line gives.

    `chosen` says that the operands were found by their names.
    """

    tree: ast.Expression
    operands: tuple[tuple[str, Any], ...]
    sizes: Mapping[str, int]
    chosen: bool


def named_operands(line: Expression, tensors: Tensors) -> Found:
    """Return the operands of an expression.

    Raises
    ------
    NameExprError
        If the text is wrong.
    LineError
        If there is no such tensor, or more than one that a term may mean.
    """
    if line.operands is None:
        tree = read(line.text)
        return Found(tree, tuple(_meant(line, tree, tensors)), {}, chosen=True)
    operands = [word for word in line.operands if "=" not in word.text]
    sizes = checked_sizes(dict(_size(line, word) for word in line.operands if "=" in word.text))
    tree = read(line.text, dict(sizes))
    return Found(tree, tuple(_said(line, word, tensors) for word in operands), dict(sizes), chosen=False)


def _meant(line: Expression, tree: ast.Expression, tensors: Tensors) -> list[tuple[str, Any]]:
    """Return for each term the one tensor that has its labels for names."""
    chosen = []
    for term in tree.inputs:
        fitting = candidates(term, tensors)
        if len(fitting) != 1:
            raise _unclear(line, tree, term, fitting, tensors)
        chosen.append((fitting[0], tensors[fitting[0]]))
    return chosen


def candidates(term: ast.Term, tensors: Tensors) -> list[str]:
    """Return the tensors whose names are the labels of a term, in order; the last result only if it has no
    other name.
    """
    labels = [item.name for item in term.items if isinstance(item, ast.Label | ast.Sized)]
    if not labels or len(labels) != len(term.items):
        return []
    fitting = [name for name, one in tensors.items() if list(getattr(one, "names", ())) == labels]
    return [name for name in fitting if name != "_"] or fitting


def _unclear(
    line: Expression, tree: ast.Expression, term: ast.Term, fitting: list[str], tensors: Tensors
) -> LineError:
    """Return the error for a term that no tensor, or more than one, may be meant by."""
    shown = unparse_term(term) or "a number"
    message = f"which tensor is '{shown}'?" if term.items else "which tensor is the term of no dims?"
    if fitting:
        message = f"'{shown}' may be {' or '.join(fitting)}"
    there = [name for name in tensors if name != "_"] or ["x"]
    guesses = [(candidates(one, tensors) or there)[0] for one in tree.inputs]
    hint = f"write the operands behind a bar: {' '.join(line.text.split())} | {', '.join(guesses)}"
    if not tensors:
        hint = "make a tensor first: x = randn(N=2, C=3)"
    span = term.span if term.items else Span(term.span.start, term.span.start + 1)
    return LineError(message, line.text, span, hint)


def _said(line: Expression, word: Word, tensors: Tensors) -> tuple[str, Any]:
    if word.text in tensors:
        return word.text, tensors[word.text]
    for kind in (int, float, complex):
        try:
            return word.text, kind(word.text)
        except (ValueError, OverflowError):
            continue
    text = _whole(line)
    if word.text == "_":
        raise LineError("there is no last result yet", text, word.span)
    hint = did_you_mean(word.text, tensors) or f"make it: {word.text} = randn(N=2, C=3)"
    if not word.text.isidentifier():
        hint = "behind the bar stand tensors, numbers and sizes: | x, 2.5, h=8"
    raise LineError(f"there is no tensor '{word.text}'", text, word.span, hint)


def _size(line: Expression, word: Word) -> tuple[str, int]:
    name, _, value = (part.strip() for part in word.text.partition("="))
    if not name.isidentifier() or not (value.isascii() and value.isdigit()) or len(value) > 18:  # noqa: PLR2004
        raise LineError(f"'{word.text}' is no size", _whole(line), word.span, "a size is a whole number: h=8")
    return name, int(value)


def _whole(line: Expression) -> str:
    """Return the line as it may have been written, with the words behind the bar where they stood."""
    text = line.text + " | "
    for word in line.operands or ():
        text = text.ljust(word.span.start) + word.text + ", "
    return text.removesuffix(", ")
