"""Diagnostics for derivatives: what has none, where it was lost, and what to write instead."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.analysis.recurrences import StepGroup
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.dtypes import strong
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Along, Identity, Map, Node, Reduction
from nameexpr.errors import Diagnostic, Mark
from nameexpr.records import record
from nameexpr.syntax import ast, walk
from nameexpr.syntax.unparse import unparse_item, unparse_value

JUMPS = frozenset({"ceil", "floor", "trunc", "round", "sign", "int", "//.", "floor_divide"})
"""Functions whose derivative is 0 wherever it is defined."""


@record
class GradientFault:
    """What is wrong with one call of `grad`."""

    scope: Scope
    node: ast.Call

    @property
    def value(self) -> str:
        """The value that is differentiated, as it is written."""
        return unparse_value(self.node.arguments[0])

    def diagnostic(self, code: str, message: str, marked: ast.Node, hint: str) -> Diagnostic:
        """Return a diagnostic that marks a node of the text."""
        return Diagnostic(code, message, self.scope.text, (Mark(marked.span),), hint=hint)

    def same_dims(self, use: ast.Use, labels: Sequence[str]) -> Diagnostic:
        """Return the diagnostic for dims that both the value and the operand have (NE530)."""
        words = list(dict.fromkeys(map(shown, labels)))
        listed = " and ".join(f"'{word}'" for word in words)
        message = f"{listed} {'is a dim' if len(words) == 1 else 'are dims'} of the value and of '{use.name}'"
        hint = "give the dims of the operand other labels here"
        if use.term is not None and all(isinstance(item, ast.Label | ast.At) for item in use.term.items):
            rest = any(isinstance(item, ast.At) for item in use.term.items)
            items = [_primed(item, words, with_name=not rest) for item in use.term.items]
            hint = f"give the operand another label: {use.name}[{' '.join(items)}]"
        return self.diagnostic("NE530", message, use, hint)

    def not_inexact(self, use: ast.Use, dtype: str) -> Diagnostic:
        """Return the diagnostic for an operand, or a statement, of integers (NE533)."""
        message = f"'{use.name}' is {strong(dtype)}: only floats and complex numbers have gradients"
        hint = "differentiate by an operand"
        if use.name in self.scope.uses:
            is_number = dtype != strong(dtype)
            way = f"float({use.name})" if is_number else f"{use.name}.astype(float)"
            hint = f"convert it first: {way}"
        return self.diagnostic("NE533", message, use, hint)

    def of_number(self, use: ast.Use) -> Diagnostic:
        """Return the diagnostic for a statement that is a number (NE533)."""
        message = f"'{use.name}' is a number of the text: only what may change has gradients"
        return self.diagnostic("NE533", message, use, "pass it as an operand")

    def of_complex(self) -> Diagnostic:
        """Return the diagnostic for a complex value (NE535)."""
        message = f"{self.value} is complex: a gradient is that of a real value"
        hint = f"real({self.value}), or abs({self.value}) ** 2"
        return self.diagnostic("NE535", message, self.node.arguments[0], hint)

    def within_recurrence(self, use: ast.Use, group: StepGroup) -> Diagnostic:
        """Return the diagnostic for a gradient of a step by what the rows before depend on, too (NE536)."""
        name, row = use.name, f"{group.names[-1]}[_@{group.label} ...]"
        message = f"{self.value} depends on earlier rows, and these may depend on '{name}', too"
        hint = f"in a step, differentiate by one of the rows that it reads, such as {row}"
        return self.diagnostic("NE536", message, use, hint)


def _primed(item: ast.Item, words: Sequence[str], *, with_name: bool) -> str:
    """Return an item as text, with another label in place of one of some."""
    if not isinstance(item, ast.Label) or item.name not in words:
        return unparse_item(item)
    return f"{item.name}={item.name}'" if with_name else f"{item.name}'"


def without_gradient(scope: Scope, node: ast.Call, graph: Graph, lost: Sequence[int]) -> Diagnostic:
    """Return the diagnostic for a value to which no gradient comes from the operand (NE532)."""
    use, value = node.arguments[1], unparse_value(node.arguments[0])
    assert isinstance(use, ast.Use)
    functions = list(dict.fromkeys(filter(None, (_function(graph.nodes[one]) for one in lost))))
    if not functions:
        message = f"{value} does not depend on '{use.name}'"
        hint = f"leave '{use.name}' out of what to differentiate by"
        if isinstance(node.arguments[0], ast.Use) and node.arguments[0].name in scope.uses:
            hint = f"'{value}' is an operand here: compute it in the same formula, from '{use.name}'"
        return Diagnostic(
            "NE532", message, scope.text, (Mark(node.arguments[0].span), Mark(use.span)), hint=hint
        )
    listed = " and ".join(name.strip(".") for name in functions)
    message = f"'{use.name}' has no gradient: it reaches {value} only through {listed}"
    hint = f"the result of {listed} is not a float, and only floats have gradients"
    if any(name in JUMPS for name in functions):
        hint = f"the derivative of {listed} is 0 everywhere"
    elif "stop" in functions:
        hint = f"leave stop out, or do not differentiate by '{use.name}'"
    marks = [Mark(span) for one in lost if (span := graph.spans.get(one)) is not None]
    return Diagnostic("NE532", message, scope.text, tuple(marks or _calls(scope, functions)), hint=hint)


def _function(node: Node) -> str:
    """Return the function through which no gradient goes."""
    match node:
        case Map(function) | Along(function):
            return function
        case Reduction(reducer):
            return str(reducer)
        case Identity():
            return "stop"
    return ""


def _calls(scope: Scope, functions: Sequence[str]) -> list[Mark]:
    every = (
        one for statement in scope.tree.statements for value in statement.values for one in walk.nodes(value)
    )
    calls = (one for one in every if isinstance(one, ast.Call | ast.CallAlong))
    return [Mark(one.name_span) for one in calls if one.function in functions]


def unknown(scope: Scope, node: ast.Call, what: str, function: str) -> Diagnostic:
    """Return the diagnostic for a gradient that is not known (NE536), in words; `function` is what it is of,
    if that has a name.
    """
    marks = (*_calls(scope, [function]), Mark(node.span))
    hint = "stop(...) around such values leaves their part of the gradient out"
    return Diagnostic("NE536", what, scope.text, marks, hint=hint)
