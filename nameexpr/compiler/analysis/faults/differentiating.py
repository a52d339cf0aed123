"""Diagnostics for functions that differentiate a text: for one whose value is not a number.

>>> of_expression("N C, C K -> N K").hint
'write a formula whose last value has no dims: y[N K] = sum[C](a[N C] * b[C K]); mean[N K](y ** 2)'
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from string import ascii_lowercase

from nameexpr.compiler.analysis.scope import Scope
from nameexpr.errors import Diagnostic, Mark, NameExprError, Span, did_you_mean
from nameexpr.ops import REDUCTIONS
from nameexpr.syntax import ast
from nameexpr.syntax.parser.expression import parse
from nameexpr.syntax.unparse import unparse_term, unparse_value

_EXAMPLE = "y[N] = sum[C](x[N C] * w[C]); mean[N](y ** 2)"
_LONGEST = 40
"""The length up to which a value is repeated in a hint."""


def of_expression(text: str) -> Diagnostic:
    """Return the diagnostic for an expression in place of a formula (NE531), with the formula to write."""
    message = "gradients are of a formula, and this is an expression"
    hint = f"write a formula whose last value has no dims: {_as_formula(text) or _EXAMPLE}"
    arrow = text.find("->")
    marks = (Mark(Span(arrow, arrow + 2)),) if arrow >= 0 else ()
    return Diagnostic("NE531", message, text, marks, hint=hint)


def _as_formula(text: str) -> str:
    """Return a formula of the same value, followed by a mean of it; "" if there is none."""
    try:
        tree = parse(text)
    except NameExprError:
        return ""
    reducer = tree.reducer.name if tree.reducer else "sum"
    if len(tree.outputs or ()) != 1 or not all(map(_is_plain, tree.terms)) or reducer not in REDUCTIONS:
        return ""
    *inputs, output = map(_labels, tree.terms)
    read = dict.fromkeys(chain.from_iterable(inputs))
    names = [letter for letter in ascii_lowercase if letter not in {*read, "y"}]
    uses = [f"{name}[{unparse_term(term)}]" for name, term in zip(names, tree.inputs, strict=False)]
    over = " ".join(label for label in read if label not in output)
    value = " * ".join(uses)
    if over:
        value = f"{reducer}[{over}]({value})"
    dims = " ".join(output)
    return f"y[{dims}] = {value}; mean[{dims}](y ** 2)" if dims else value


def _is_plain(term: ast.Term) -> bool:
    return all(isinstance(item, ast.Label | ast.Sized) for item in term.items)


def _labels(term: ast.Term) -> list[str]:
    return [item.name for item in term.items if isinstance(item, ast.Label | ast.Sized)]


def value_with_dims(scope: Scope, labels: Sequence[str]) -> Diagnostic:
    """Return the diagnostic for a function of gradients whose value has dims (NE531)."""
    last, dims = scope.tree.statements[-1], " ".join(labels)
    message = f"gradients are of a value without dims, and this one has {dims}"
    value = last.name or unparse_value(last.value)
    value = value if len(value) <= _LONGEST else "..."
    hint = f"reduce it, such as mean[{dims}]({value}); grad(...) in a formula gives Jacobians, too"
    return Diagnostic("NE531", message, scope.text, (Mark(last.span),), hint=hint)


def no_gradient_by(name: object, names: Sequence[str]) -> Diagnostic:
    """Return the diagnostic for a gradient that is read by a name that is not among those of the operands to
    differentiate by (NE534).
    """
    listed = f"the gradients are by {', '.join(map(repr, names))}"
    hint = did_you_mean(name, names) if isinstance(name, str) else ""
    return Diagnostic("NE534", f"there is no gradient by {name!r}", hint=hint or listed)
