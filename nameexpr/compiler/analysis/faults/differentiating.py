"""Diagnostics for functions that differentiate: for what is not a formula, values that are not numbers, and
names that are not those of operands.

>>> of_expression("N C, C K -> N K").hint
'write a formula whose last value has no dims: y[N K] = sum[C](a[N C] * b[C K]); mean[N K](y ** 2)'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from string import ascii_lowercase

from nameexpr.compiler.analysis.faults.misuse import kind_of
from nameexpr.compiler.analysis.rules.check import check_text
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.errors import Diagnostic, Mark, NameExprError, Span, did_you_mean
from nameexpr.ops import REDUCTIONS, RESERVED
from nameexpr.syntax import ast, walk
from nameexpr.syntax.parser.expression import parse
from nameexpr.syntax.unparse import unparse_term, unparse_value

_EXAMPLE = "y[N] = sum[C](x[N C] * w[C]); mean[N](y ** 2)"
_CALL = "ne.grad('sum[C](w[C] ** 2)', 'w')"
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
        check_text(tree)
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


def of_object(given: object) -> Diagnostic:
    """Return the diagnostic for something other than a text, such as a function of Python (NE506)."""
    kind, hint = f"of type {type(given).__name__}", f"the text comes first: {_CALL}"
    if hasattr(given, "text"):
        kind, hint = (
            "already compiled",
            "a compiled formula has a method for it: f.gradient('w'); or pass f.text",
        )
    elif callable(given):
        kind, hint = "a function of Python", f"write what it computes as a text: {_CALL}"
    return Diagnostic("NE506", f"the first argument must be the formula, a str, but is {kind}", hint=hint)


def operands_to_name(scope: Scope) -> str:
    """Return the operands of a formula as `wrt`, for a hint."""
    return f"name the operands: {' '.join(scope.uses)!r}" if scope.uses else "this formula has no operands"


def no_names(scope: Scope, wrt: object) -> Diagnostic:
    """Return the diagnostic for a `wrt` that does not consist of names (NE534)."""
    kind = "None" if wrt is None else kind_of(wrt)
    if isinstance(wrt, Iterable) and not isinstance(wrt, bytes):
        kind = f"{kind} with {next(kind_of(one) for one in wrt if not isinstance(one, str))}"
    message = f"wrt must be names of operands, but is {kind}"
    return Diagnostic("NE534", message, scope.text, hint=operands_to_name(scope))


def swapped(wrt: str) -> Diagnostic:
    """Return the diagnostic for a formula in place of the operands to differentiate by (NE534)."""
    message = "wrt must be names of operands, but is a formula"
    hint = "the formula comes first, then the operands to differentiate by"
    return Diagnostic("NE534", message, wrt, hint=hint)


def named_twice(scope: Scope, name: str) -> Diagnostic:
    """Return the diagnostic for an operand that is named twice in `wrt` (NE534)."""
    message = f"'{name}' is named twice to differentiate by"
    return Diagnostic("NE534", message, scope.text, _uses(scope, name), hint="name each operand once")


def no_operand(scope: Scope, name: str) -> Diagnostic:
    """Return the diagnostic for a name in `wrt` that is not that of an operand (NE534)."""
    statement = next((one for one in scope.tree.statements if one.name == name), None)
    if statement is not None:
        last = scope.tree.statements[-1].name or "y"
        brackets = f"[{unparse_term(statement.term)}]" if statement.term is not None else ""
        hint = f"differentiate by an operand, or in the formula: g = grad({last}, {name}{brackets})"
        if statement is scope.tree.statements[-1]:
            hint = operands_to_name(scope)
        message = f"'{name}' is a statement, not an operand"
        return Diagnostic("NE534", message, scope.text, (Mark(statement.name_span),), hint=hint)
    word = name.partition("[")[0].strip(",; ")
    hint = did_you_mean(word, scope.uses) or operands_to_name(scope)
    if word != name and word in scope.uses:
        hint = "separate names by spaces" if name[-1] in ",;" else f"write the name alone: {word!r}"
    return Diagnostic("NE534", _kind_of_name(scope, name), scope.text, hint=hint)


def _kind_of_name(scope: Scope, name: str) -> str:
    """Return what a name is that is not that of an operand."""
    if name in walk.labels_in(*walk.terms_in(scope.tree)):
        return f"'{name}' is a dim, not an operand"
    if name in RESERVED:
        return f"'{name}' is a constant, not an operand"
    return f"there is no operand '{name}' to differentiate by"


def _uses(scope: Scope, name: str) -> tuple[Mark, ...]:
    return tuple(Mark(use.name_span) for use in scope.uses[name][:1])


def no_gradient_by(name: object, names: Sequence[str]) -> Diagnostic:
    """Return the diagnostic for a gradient that is read by a name that is not among those of the operands to
    differentiate by (NE534).
    """
    listed = f"the gradients are by {', '.join(map(repr, names))}"
    hint = did_you_mean(name, names) if isinstance(name, str) else ""
    return Diagnostic("NE534", f"there is no gradient by {name!r}", hint=hint or listed)
