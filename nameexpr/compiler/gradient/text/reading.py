"""Statements of values that are read at positions, are parts of zeros, or are computed step by step."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.analysis.build.values import StatementValue
from nameexpr.compiler.gradient.active import ancestors
from nameexpr.compiler.gradient.steps import body_of
from nameexpr.compiler.gradient.text.labels import NotWritableError
from nameexpr.compiler.gradient.text.recurrences import recurrence_statements, row_computed, rows_read
from nameexpr.compiler.gradient.text.renaming import bracketed
from nameexpr.compiler.gradient.text.statements import LONGEST, StatementWriter
from nameexpr.compiler.gradient.text.windows import chosen, padded_term, read_term
from nameexpr.compiler.gradient.views import is_plain
from nameexpr.compiler.ir.axes import Axes, Labels, flat
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
from nameexpr.records import replace
from nameexpr.syntax import ast
from nameexpr.syntax.unparse import unparse_value

LONGEST_STEP = 1000
"""The longest step of a recurrence, which has no other statements."""


class ReadingWriter(StatementWriter):
    """Writes statements of values of all kinds; `inside` are those in the recurrence that is written."""

    __slots__ = ("inside",)
    inside: list[ast.Statement | int]

    def special(self, value: int, node: Node) -> ast.Node | None:
        """Return the syntax of a value that is read at positions or computed step by step."""
        match node:
            case Gather():
                return self._gather(node)
            case Window(inner):
                inner = self.base(inner)
                term = read_term(node, self.graph.labels[inner], self.names)
                return self._of_row(inner, term) or ast.Use(self._whole(inner), term)
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

    def write_steps(self, group: Sequence[tuple[ast.Statement, StatementValue]]) -> None:
        """Write the statements of a recurrence of the text, and before them what they need."""
        first = self.graph.nodes[self.base(group[0][1].value)]
        assert isinstance(first, Rows)
        self.rows[first.recurrence] = [statement.name or "" for statement, _ in group]
        self._prepare(first.recurrence)
        for statement, value in group:
            rows = self.graph.nodes[self.base(value.value)]
            if not isinstance(rows, Rows) or rows.axes != value.axes:
                raise NotWritableError(f"the steps are not the first dim of '{statement.name}'")
            self._refer(statement.name or "", value.value, value.axes)

    def _recurrence(self, value: int, node: Recurrence) -> ast.Node:
        """Write the statements of a recurrence; what depends on earlier rows is a part of its steps."""
        names = self.rows.setdefault(value, [self.fresh() for _ in node.steps])
        body = sorted(body_of(self.graph, node))
        self.moving |= self.above({one for one in body if isinstance(self.graph.nodes[one], State)}, body)
        steps, order = self._body(node, names, body)
        starts = [[self.written[self.base(one)] for _, one in each] for each in node.starts]
        if max(len(unparse_value(step)) for step in steps) > LONGEST_STEP:
            raise NotWritableError("the steps of a recurrence are too long")
        own = recurrence_statements(self.graph, node, names, starts, steps, self.names)
        order += [number for number in range(len(own)) if number not in order]
        self.statements += [own[one] if isinstance(one, int) else one for one in order]
        return ast.Number(0)

    def add(self, value: int, statement: ast.Statement) -> None:
        """Add the statement of a value: to a recurrence if it changes from step to step."""
        (self.inside if value in self.moving else self.statements).append(statement)

    def _body(
        self, node: Recurrence, names: Sequence[str], body: Sequence[int]
    ) -> tuple[list[ast.Node], list[ast.Statement | int]]:
        """Return the steps, those after a step with its row by the name of its statement, and the order of
        statements: new ones, and the numbers of steps.
        """
        found, order = dict[int, ast.Node](), list[ast.Statement | int]()
        self.inside = order
        own = {self.base(step): number for number, step in reversed(list(enumerate(node.steps)))}
        for one in body:
            inner = self.graph.nodes[one]
            if isinstance(inner, State):
                self.written[one] = rows_read(inner, names[inner.number], self.names)
            elif one not in self.written and self.base(one) == one:
                self.written[one] = self._syntax(one)
                if one in own and one in self.moving and self._is_row(one, node, own[one]):
                    found[one] = self.written[one]
                    self.written[one] = row_computed(node, own[one], names[own[one]], self.names)
                    order.append(own[one])
                elif one in self.moving and one not in own and self._is_apart(one):
                    self.hoist(one)
        bases = [self.base(step) for step in node.steps]
        pairs = [(one, found if own[one] == number else {}) for number, one in enumerate(bases)]
        return [known.get(one, self.written[one]) for one, known in pairs], order

    def _is_apart(self, value: int) -> bool:
        """Return whether a part of a step has a statement of its own: it is repeated along dims, or long."""
        return self._is_repeated(self.graph.nodes[value]) or len(unparse_value(self.written[value])) > LONGEST

    def _is_row(self, value: int, node: Recurrence, number: int) -> bool:
        """Return whether a value is all of a row of a statement, and no step before needs it."""
        axes, labels = node.axes[number], {*flat(node.axes[number]), node.label}
        is_whole = is_plain(axes) and labels == set(self.graph.labels[value])
        return is_whole and not any(value in ancestors(self.graph, step) for step in node.steps[:number])

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
        name = "" if self._is_read(value) else self._whole(value)
        places = {one.label: self._place(self.base(one.value)) for one in node.positions}
        items: list[ast.Item] = []
        for label in self.graph.labels[value]:
            item = ast.Label(self.names.name(label))
            items.append(ast.At(item, places[label]) if label in places else item)
        term = ast.Term(tuple(items))
        return self._of_row(value, term) or ast.Use(name, term)

    def _is_read(self, value: int) -> bool:
        """Return whether a value is a row that a step reads by the name of its statement."""
        return value in self.moving and isinstance(self.written.get(value), ast.Use)

    def _of_row(self, value: int, term: ast.Term) -> ast.Node | None:
        """Return a row that a step reads with some dims as in a term, which has those of the value."""
        syntax = self.written.get(value)
        if not self._is_read(value) or not isinstance(syntax, ast.Use) or syntax.term is None:
            return None
        names = [self.names.name(label) for label in self.graph.labels[value]]
        read = dict(zip(names, term.items, strict=True))
        items = [read.get(one.name, one) if isinstance(one, ast.Label) else one for one in syntax.term.items]
        return replace(syntax, term=ast.Term(tuple(items)))

    def _place(self, value: int) -> ast.Node:
        """Return a position as syntax: every name in it has brackets, since a bare one is a label."""
        return bracketed(self.written[value], self.labels)
