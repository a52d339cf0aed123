"""Statements of values that are read at positions, are parts of zeros, or are computed step by step."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.gradient.steps import body_of
from nameexpr.compiler.gradient.text.labels import NotWritableError
from nameexpr.compiler.gradient.text.recurrences import recurrence_statements, rows_read
from nameexpr.compiler.gradient.text.renaming import bracketed
from nameexpr.compiler.gradient.text.statements import StatementWriter
from nameexpr.compiler.gradient.text.windows import chosen, padded_term, read_term
from nameexpr.compiler.ir.axes import Axes, Labels
from nameexpr.compiler.ir.nodes import (
    Arrange,
    Gather,
    Join,
    Node,
    Recurrence,
    Rows,
    Segment,
    State,
    Window,
    sources_of,
)
from nameexpr.syntax import ast
from nameexpr.syntax.unparse import unparse_value

LONGEST_STEP = 1000
"""The longest step of a recurrence, which has no other statements."""


class ReadingWriter(StatementWriter):
    """Writes statements of values of all kinds."""

    __slots__ = ()

    def special(self, value: int, node: Node) -> ast.Node | None:
        """Return the syntax of a value that is read at positions or computed step by step."""
        match node:
            case Gather():
                return self._gather(node)
            case Window(inner):
                inner = self.base(inner)
                return ast.Use(self._whole(inner), read_term(node, self.graph.labels[inner], self.names))
            case Recurrence():
                return self._recurrence(value, node)
            case Rows(recurrence, number, axes):
                return self._rows(value, self.rows[recurrence][number], axes)
            case Join((inner,), (places,), labels):
                return self._padded(self.base(inner), places, labels)
        return None

    def _whole(self, value: int) -> str:
        """Return the name of a statement that has a value with its labels as dims."""
        return self._array(Arrange(value, tuple([(label,) for label in self.graph.labels[value]])))

    def _recurrence(self, value: int, node: Recurrence) -> ast.Node:
        """Write the statements of a recurrence; what depends on earlier rows is a part of its steps."""
        names = [self.fresh() for _ in node.steps]
        self.rows[value] = names
        body = sorted(body_of(self.graph, node))
        states = {one: state for one in body if isinstance(state := self.graph.nodes[one], State)}
        self.moving |= self.above(set(states), body)
        for one in body:
            if one in states:
                self.written[one] = rows_read(states[one], names[states[one].number], self.names)
            elif one not in self.written and self.base(one) == one:
                self.written[one] = self._syntax(one)
        starts = [[self.written[self.base(one)] for _, one in each] for each in node.starts]
        steps = [self.written[self.base(step)] for step in node.steps]
        if max(len(unparse_value(step)) for step in steps) > LONGEST_STEP:
            raise NotWritableError("the steps of a recurrence are too long")
        self.statements += recurrence_statements(self.graph, node, names, starts, steps, self.names)
        return ast.Number(0)

    def above(self, values: set[int], among: Sequence[int]) -> set[int]:
        """Return some values, and those of others that depend on them."""
        found = set(values)
        for one in among:
            if not found.isdisjoint(sources_of(self.graph.nodes[one])):
                found.add(one)
        return found

    def _rows(self, value: int, name: str, axes: Axes) -> ast.Node:
        self.arrays[value, axes] = name
        return ast.Use(name, self.names.term_of(axes))

    def _padded(self, value: int, places: tuple[Segment, ...], labels: Labels) -> ast.Node:
        """Return a value that is a part of zeros."""
        term = padded_term(places, labels, self.names)
        if term is None:
            return chosen(self._whole(value), places, self.graph.labels[value], self.names)
        name = self.fresh()
        self.statements.append(ast.Statement(name, term, self.written[value]))
        return ast.Use(name, self.names.term(labels))

    def _gather(self, node: Gather) -> ast.Node:
        """Return what is read at positions of a statement."""
        value = self.base(node.value)
        name = self._whole(value)
        places = {one.label: self._place(self.base(one.value)) for one in node.positions}
        items: list[ast.Item] = []
        for label in self.graph.labels[value]:
            item = ast.Label(self.names.name(label))
            items.append(ast.At(item, places[label]) if label in places else item)
        return ast.Use(name, ast.Term(tuple(items)))

    def _place(self, value: int) -> ast.Node:
        """Return a position as syntax: every name in it has brackets, since a bare one is a label."""
        return bracketed(self.written[value], self.labels)
