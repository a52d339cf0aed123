"""Values as syntax, given the syntax of the values that they are computed from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from nameexpr.compiler.analysis.build.placing import EMPTY
from nameexpr.compiler.gradient.products import is_inexact
from nameexpr.compiler.gradient.text import arithmetic as write
from nameexpr.compiler.gradient.text.labels import LabelNames, NotWritableError
from nameexpr.compiler.ir.dtypes import WeakDtype
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import (
    CAST,
    Along,
    Filled,
    Identity,
    Index,
    Map,
    Node,
    Place,
    Reduction,
    Scalar,
    SizeOf,
    number_of,
)
from nameexpr.ops import INDEX, SIZE
from nameexpr.records import record
from nameexpr.syntax import ast

TWO = 2
OPERATORS: Mapping[str, Callable[[ast.Node, ast.Node], ast.Node]] = {
    "+.": write.added,
    "-.": write.subtracted,
    "*.": write.product,
    "/.": write.quotient,
}


@record
class ValueWriter:
    """Writes values as syntax; `written` has the syntax of the values that they are computed from."""

    graph: Graph
    names: LabelNames
    written: Mapping[int, ast.Node]

    def value(self, node: Node) -> ast.Node:
        """Return a value as syntax."""
        match node:
            case Scalar():
                return _number(number_of(node))
            case Filled(number):
                return _number(number)
            case SizeOf(labels):
                sizes: list[ast.Node] = [self.use(SIZE, label) for label in labels]
                return reduce(write.product, sizes)
            case Index(label):
                return self.use(INDEX, label)
            case Map():
                return self._map(node)
            case Reduction(reducer, factors, labels):
                return self._along(reducer or "sum", labels, self._product(factors))
            case Along(function, value, labels):
                return self._along(function, labels, self.written[value])
            case Identity(value, ""):
                return ast.Call("stop", (self.written[value],))
            case Place():
                return self._place(node)
        raise NotWritableError(f"there is no text for a value of the kind {type(node).__name__}")

    def use(self, name: str, *labels: str) -> ast.Use:
        """Return a name with labels in brackets."""
        return ast.Use(name, self.names.term(labels))

    def _along(self, function: str, labels: Sequence[str], value: ast.Node) -> ast.Node:
        if not labels:
            return value
        return ast.CallAlong(function, self.names.term(labels), (value,))

    def _product(self, factors: Sequence[int]) -> ast.Node:
        return reduce(write.product, [self.written[factor] for factor in factors])

    def _map(self, node: Map) -> ast.Node:
        given, function = self._arguments(node), node.function
        if function == CAST:  # of a bool: others follow from what they are combined with
            return ast.Binary("*", ast.Number(1.0 if is_inexact(node.dtype) else 1), given[0])
        if function == "square":
            return ast.Binary("**", given[0], ast.Number(TWO))
        if function == "logical_not" and self.graph.dtypes[node.arguments[0]] == "bool":
            return ast.Unary("~", given[0])
        if function == ".-":
            is_signed = self._is_signed(node.arguments[0]) or write.is_negative(given[0])
            return write.negated(given[0]) if is_signed else ast.Unary("-", given[0])
        if function in {"*.", "/."} and self._is_sign_moved(node, given):
            given = [write.negated(one) for one in given]
        if function in OPERATORS:
            return OPERATORS[function](given[0], given[1])
        if function.startswith("."):
            return ast.Unary(function[1:], given[0])
        if function.endswith("."):
            return ast.Binary(function[:-1], given[0], given[1])
        return ast.Call(function, tuple(given))

    def _arguments(self, node: Map) -> list[ast.Node]:
        """Return the arguments of a function; whole numbers without a fraction next to floats."""
        graph, arguments = self.graph, node.arguments
        valued = arguments[1:] if node.function == "where" else arguments
        floats = [one for one in valued if is_inexact(graph.dtypes[one]) and not self._is_number(one)]
        found = [self.written[one] for one in arguments]
        if not floats:
            return found
        numbers = [graph.nodes[one] for one in arguments]
        return [
            _number(number_of(number), is_whole=True) if isinstance(number, Scalar) else syntax
            for number, syntax in zip(numbers, found, strict=True)
        ]

    def _is_sign_moved(self, node: Map, given: Sequence[ast.Node]) -> bool:
        """Return whether the minus of a factor is written before the product."""
        is_number = isinstance(self.graph.nodes[node.arguments[1]], Scalar)
        return not is_number and write.is_negative(given[1]) and self._is_signed(node.arguments[0])

    def _is_signed(self, value: int) -> bool:
        """Return whether every factor of a product can be negated: bools and unsigned integers cannot."""
        stack = [value]
        while stack:
            value = stack.pop()
            node = self.graph.nodes[value]
            if isinstance(node, Map) and node.function in {"*.", "/.", ".-"}:
                stack += node.arguments
            elif not is_inexact(self.graph.dtypes[value]) and not isinstance(node, Scalar | SizeOf):
                return False
        return True

    def _is_number(self, value: int) -> bool:
        return isinstance(self.graph.dtypes[value], WeakDtype) and isinstance(self.graph.nodes[value], Scalar)

    def _place(self, node: Place) -> ast.Node:
        """Return a reduction by label: of what is at the label, else the reducer's empty value."""
        equal: list[ast.Node] = [
            ast.Binary("==", self.written[place], self.use(INDEX, label)) for label, place in node.places
        ]
        condition = reduce(lambda left, right: ast.Binary("&", left, right), equal)
        empty = _number(EMPTY[node.reducer])
        chosen = ast.Call("where", (condition, self.written[node.value], empty))
        return self._along(node.reducer, node.labels, chosen)


def _number(value: complex, *, is_whole: bool = False) -> ast.Node:
    syntax = write.number(value, is_whole=is_whole)
    if syntax is None:
        raise NotWritableError(f"formulas have no complex numbers such as {value}")
    return syntax
