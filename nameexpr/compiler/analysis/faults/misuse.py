"""Diagnostics for a text of the wrong kind, for operands without names, and for options that do not exist.

The functions of `nameexpr.runtime` raise them, and the checker of source files (`nameexpr.lint`), which works
without NumPy, reports them.

>>> no_size("h", 2.5).message
'h= is a float, not a size'
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from nameexpr.compiler.analysis.operands import labelled
from nameexpr.compiler.analysis.rules.summation import SHOWN, listed
from nameexpr.dims import is_keyword
from nameexpr.errors import TOLD, Diagnostic, Mark, Span, did_you_mean, error
from nameexpr.ops import REDUCTIONS
from nameexpr.syntax.ast import Expression
from nameexpr.syntax.items import is_renamed, unnamed
from nameexpr.syntax.limits import limits
from nameexpr.syntax.unparse import unparse_item
from nameexpr.syntax.walk import labels_in

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.scope import Scope

OPTIONS = ("out", "dtype", "optimize", "sizes", "reduce", "order", "memory_limit", "tune")
"""Keywords of `einsum` that are not sizes of labels."""
MARKED = 8
"""The largest number of terms that are marked if their product would have too many dims."""


def needs_arrow(text: str) -> Diagnostic:
    """Return the diagnostic for an assertion passed to `einsum` or `compile`."""
    bare = _bare(text).rstrip()
    written = "inputs -> result" if len(bare) > SHOWN or "\n" in bare else f"{bare.strip()} -> result".strip()
    hint = f"to compute, write {written}; to check shapes, call nameexpr.check"
    message = "an expression needs an arrow: this text is an assertion"
    end = len(bare)
    marks = (Mark(Span(end, end), "->"),) if end else ()
    return Diagnostic("NE218", message, text, marks, hint=hint)


def takes_no_arrow(text: str) -> Diagnostic:
    """Return the diagnostic for an expression passed to `check`."""
    hint = "to compute, call nameexpr.einsum; to check shapes, leave out the arrow and what follows"
    start = _bare(text).index("->")
    marks = (Mark(Span(start, start + 2)),)
    return Diagnostic("NE219", "check takes no arrow: this text is an expression", text, marks, hint=hint)


def _bare(text: str) -> str:
    """Return a text with blanks where its comments are."""
    return re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), text)


def operands_by_position(text: str, operands: Sequence[str]) -> Diagnostic:
    """Return the diagnostic for operands of a formula that are passed without names."""
    wanted = ", ".join(f"{name}=..." for name in operands[:8])
    if not all(map(is_keyword, operands)):
        items = ", ".join(f"'{name}': ..." for name in operands[:8])
        wanted = f"operands={{{items}}}"
    hint = f"write {wanted}" if operands else "leave them out"
    return Diagnostic("NE527", "the operands of a formula are passed by name", text, hint=hint)


def no_size(name: str, value: Any) -> Diagnostic:
    """Return the diagnostic for a size, or a keyword taken for one, that is not a whole number."""
    hint = did_you_mean(name, OPTIONS) or f"sizes are whole numbers: {name}=8"
    if name in OPTIONS:
        hint = f"{name}= is not an option here; a label of that name takes sizes={{'{name}': 8}}"
    elif hasattr(value, "__array__"):
        hint = "operands follow the text, without a keyword: einsum(text, array)"
    return Diagnostic("NE603", f"{name}= is {kind_of(value)}, not a size", hint=hint)


def kind_of(value: Any) -> str:
    """Return the type of a value with its article.

    >>> kind_of(2.5), kind_of([])
    ('a float', 'a list')
    """
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' or name == 'ndarray' else 'a'} {name}"


def no_reducer(name: str) -> Diagnostic:
    """Return the diagnostic for a name in `reduce=` that is not a reducer."""
    hint = did_you_mean(name, REDUCTIONS) or f"one of {' '.join(REDUCTIONS)}, or a callable f(array, axis)"
    return Diagnostic("NE202", f"there is no reducer '{name}'", hint=hint)


def check_keywords(tree: Expression, keywords: Mapping[str, int]) -> None:
    """Raise an `OptionError` for a keyword that is not a label of the text, or whose value is not a size."""
    if not keywords:
        return
    labels = labels_in(*tree.terms)
    mistakes = list(islice(_keyword_faults(tree, keywords, labels), TOLD))
    if mistakes:
        raise error(*mistakes)


def _keyword_faults(tree: Expression, keywords: Mapping[str, int], labels: set[str]) -> Iterator[Diagnostic]:
    for name, size in keywords.items():
        if name not in labels:
            yield _unknown_keyword(tree, name, labels)
        elif size < 0:
            message = f"{name}={size} is not a size: sizes are 0 or more"
            hint = "leave it out: it is inferred where the operands determine it"
            marks = tuple(Mark(item.span) for item in labelled(tree.terms, name))
            yield Diagnostic("NE603", message, tree.text, marks, hint=hint)


def _unknown_keyword(tree: Expression, name: str, labels: set[str]) -> Diagnostic:
    for term in tree.terms:
        for item in term.items:
            if is_renamed(item) and item.dim == name:
                label = unparse_item(unnamed(item))
                hint = f"'{name}' is the dim's name on the tensor, its label here is {label}: give its size"
                message = f"{name}= is not a label of the text"
                return Diagnostic("NE602", message, tree.text, (Mark(item.dim_span),), hint=hint)
    known = f"the text has the labels {listed(sorted(labels))}" if labels else "the text has no labels"
    hint = did_you_mean(name, sorted(labels)) or known
    return Diagnostic("NE602", f"{name}= is not a label of the text", tree.text, hint=hint)


def too_many_dims(tree: Expression | Scope, count: int, operands: Collection[int] = ()) -> Diagnostic:
    """Return the diagnostic for a value, a product of some operands, with more dims than the limit."""
    most = limits().dims
    if not isinstance(tree, Expression):
        message = f"a value would have {count} dims, and the limit is {most}"
        return Diagnostic("NE705", message, tree.text, hint="reduce some of them earlier")
    marks = tuple(Mark(tree.inputs[position].span) for position in sorted(operands)[:MARKED])
    message = f"an intermediate value would have {count} dims, and the limit is {most}"
    hint = "reduce some of them earlier, in a separate expression"
    return Diagnostic("NE705", message, tree.text, marks, hint=hint)


def unfit_array(tree: Scope, shape: tuple[int, ...], *, is_result: bool) -> Diagnostic:
    """Return the diagnostic for a value of a formula that is too large for any machine."""
    message = f"an array of shape {shape} would be needed, which no machine can hold"
    last = tree.tree.statements[-1]
    marks = (Mark(last.span if last.term is None else last.term.span),) if is_result else ()
    hint = "reduce over dims, or make them smaller"
    return Diagnostic("NE706", message, tree.text, marks, hint=hint)
