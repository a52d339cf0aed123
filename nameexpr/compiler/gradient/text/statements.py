"""The statements of a written formula: those of the user, and before them what several values share.

Values are written in the order of their numbers, each from the syntax of its sources. A value that is used
more than once, or that would make a line too long, gets a statement, and its name is used from there on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.compiler.analysis.build.values import StatementValue
from nameexpr.compiler.gradient.text.labels import LabelNames
from nameexpr.compiler.gradient.text.renaming import Dims, NotRenamedError, renamed, under_names
from nameexpr.compiler.gradient.text.values import ValueWriter
from nameexpr.compiler.gradient.views import is_plain
from nameexpr.compiler.ir.axes import Axes, expand_ellipsis, flat
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import (
    Arrange,
    Filled,
    Identity,
    Map,
    Node,
    Recurrence,
    View,
    sources_of,
)
from nameexpr.records import field, record, replace
from nameexpr.syntax import ast
from nameexpr.syntax.unparse import unparse_value

LONGEST = 76
"""The longest value of a statement, if its parts can have statements of their own."""
SHORT = 10
"""Values up to this length are written again wherever they are used."""


@record(frozen=False)
class StatementWriter:
    """Writes statements; `written` has the syntax of values, `arrays` the names of statements by their value
    and dims, `labels` those of statements that are used without brackets, `uses` what is written as in the
    text: dims that are read in parts or at positions. `dims` are the names of tensors' dims, `new` those of
    statements that it adds.
    """

    graph: Graph
    names: LabelNames
    operands: Mapping[tuple[int, Axes], ast.Use]
    uses: Mapping[int, ast.Use]
    dims: Dims
    counts: dict[int, int] = field(default_factory=dict)
    written: dict[int, ast.Node] = field(default_factory=dict)
    arrays: dict[tuple[int, Axes], str] = field(default_factory=dict)
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    statements: list[ast.Statement] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    rows: dict[int, list[str]] = field(default_factory=dict)
    moving: set[int] = field(default_factory=set)

    def base(self, value: int) -> int:
        """Return the value that is written in place of another: casts follow from what values are combined
        with, and names from statements.
        """
        while True:
            match self.graph.nodes[value]:
                case Map("cast", (source,)) if self.graph.dtypes[source] != "bool":
                    value = source
                case Map("integer.", (source,)):
                    value = source
                case Identity(source, name) if name:
                    value = source
                case _:
                    return value

    def sources(self, value: int) -> Sequence[int]:
        """Return the values from which a value is written."""
        if value in self.uses:
            return ()
        node = self.graph.nodes[value]
        sources = sources_of(node)[:1] if self._is_repeated(node) else sources_of(node)
        return [self.base(source) for source in sources]

    def count(self, roots: Sequence[int]) -> None:
        """Count how often each value is used by what is written."""
        seen: set[int] = set()
        for root in roots:
            stack = [root]
            self.counts[root] = self.counts.get(root, 0) + 1
            while stack:
                value = stack.pop()
                if value in seen:
                    continue
                seen.add(value)
                often = 1 + isinstance(self.graph.nodes[value], Recurrence)  # the number is not known
                for source in self.sources(value):
                    self.counts[source] = self.counts.get(source, 0) + often
                    stack.append(source)

    def keep(self, statement: ast.Statement, value: StatementValue) -> None:
        """Write a statement as it is in the text."""
        self.statements.append(statement)
        self._refer(statement.name or "", value.value, value.axes)

    def write(self, statement: ast.Statement, value: StatementValue) -> None:
        """Write a statement of the text, and before it what it needs."""
        root = self._without_repeats(self.base(value.value), is_arranged=statement.term is not None)
        self._prepare(root)
        self.statements.append(replace(statement, value=self.written[root]))
        if statement.name is not None:
            axes = value.axes or tuple([(label,) for label in value.order])
            self._refer(statement.name, value.value, axes)

    def _refer(self, name: str, value: int, axes: Axes | None) -> None:
        """Write a value by the name of a statement from here on."""
        value, own = self.base(value), self.graph.labels[value]
        axes = expand_ellipsis(axes or (), own)
        self.arrays.setdefault((value, axes), name)
        is_name = isinstance(self.written.get(value), ast.Use | ast.Number)
        if is_plain(axes) and set(flat(axes)) == set(own) and not is_name:
            term = self.names.term_of(axes) if value in self.moving else None
            self.written[value] = ast.Use(name, term)
            self.labels[name] = tuple(map(self.names.name, flat(axes)))

    def _prepare(self, root: int) -> None:
        """Write everything that a value needs, and itself."""
        for value in sorted(self._needed(root)):
            self.written[value] = self._within_limit(value)
            if value != root and self._has_statement(value):
                self.hoist(value)

    def _needed(self, root: int) -> set[int]:
        found: set[int] = set()
        stack = [root]
        while stack:
            value = stack.pop()
            if value not in found and value not in self.written:
                found.add(value)
                stack += self.sources(value)
        return found

    def _has_statement(self, value: int) -> bool:
        if self._is_repeated(self.graph.nodes[value]):
            return True
        return self.counts.get(value, 0) > 1 and not self._is_short(self.written[value])

    def _is_short(self, syntax: ast.Node) -> bool:
        return isinstance(syntax, ast.Use | ast.Number) or len(unparse_value(syntax)) <= SHORT

    def _within_limit(self, value: int) -> ast.Node:
        """Return a value as syntax; the longest sources of a long one get statements."""
        syntax = self._syntax(value)
        while len(unparse_value(syntax)) > LONGEST:
            lengths = {one: len(unparse_value(self.written[one])) for one in self.sources(value)}
            longest = max(lengths, key=lambda one: lengths[one], default=-1)
            if longest < 0 or lengths[longest] <= SHORT or isinstance(self.written[longest], ast.Use):
                break
            self.hoist(longest)
            syntax = self._syntax(value)
        return syntax

    def hoist(self, value: int, axes: Axes | None = None) -> str:
        """Give a value a statement, and return its name."""
        own = self.graph.labels[value]
        axes = tuple([(label,) for label in own]) if axes is None else axes
        name = self.fresh()
        syntax = self.written[self._without_repeats(value, is_arranged=True)]
        term = self.names.left(axes) if axes else None
        self.add(value, ast.Statement(name, term, syntax))
        self._refer(name, value, axes)
        return name

    def add(self, value: int, statement: ast.Statement) -> None:
        """Add the statement of a value."""
        self.statements.append(statement)

    def fresh(self) -> str:
        """Return a name for a new statement, until all are numbered."""
        self.new.append(f"#{len(self.new)}")
        return self.new[-1]

    def _is_repeated(self, node: Node) -> bool:
        """Return whether a value is repeated along dims: by a term on the left."""
        match node:
            case Filled():
                return True
            case Map("*.", (_, ones)):
                return self.graph.nodes[ones] == Filled(1.0, self.graph.labels[ones])
        return False

    def _without_repeats(self, value: int, *, is_arranged: bool) -> int:
        node = self.graph.nodes[value]
        while is_arranged and isinstance(node, Map) and self._is_repeated(node):
            value = self.base(node.arguments[0])
            node = self.graph.nodes[value]
        return value

    def _syntax(self, value: int) -> ast.Node:
        """Return the syntax of a value, whose sources are written."""
        node = self.graph.nodes[value]
        if value in self.uses:
            return self.uses[value]
        match node:
            case View(position, -1, axes):
                return self._operand(position, axes)
            case View(_, source, axes):
                array = self.graph.nodes[source]
                assert isinstance(array, Arrange)
                syntax = self._relabelled(source, array, axes)
                term = self.names.sized(self.names.term_of(axes))
                return ast.Use(self._array(array), term if term.items else None) if syntax is None else syntax
            case Arrange(inner):
                return self.written[self.base(inner)]
            case Map(_, (inner, *_)) if self._is_repeated(node):
                return self.written[self.base(inner)]
        if (special := self.special(value, node)) is not None:
            return special
        based = [(one, self.base(one)) for one in sources_of(node)]
        sources = {one: self.written[base] for one, base in based if base in self.written}
        return ValueWriter(self.graph, self.names, sources).value(node)

    def _relabelled(self, number: int, array: Arrange, axes: Axes) -> ast.Node | None:
        """Return a value that is used once, under other labels, with these labels; None if it needs a
        statement.
        """
        value = self.base(array.value)
        is_single = all(len(labels) == 1 for labels in (*array.axes, *axes))
        is_whole = is_plain(array.axes) and set(flat(array.axes)) == set(self.graph.labels[value])
        if not (is_single and is_whole and is_plain(axes)) or (value, array.axes) in self.arrays:
            return None
        is_single &= self.counts.get(value, 0) <= 1 and self.counts.get(number, 0) <= 1
        if not is_single and value not in self.moving:
            return None
        pairs = zip(flat(array.axes), flat(axes), strict=True)
        names = {self.names.name(old): self.names.name(new) for old, new in pairs}
        names = {old: new for old, new in names.items() if old != new}
        try:
            syntax = renamed(self.written[value], names, self.labels, self.dims)
        except NotRenamedError:
            return None
        is_long = len(unparse_value(syntax)) > LONGEST and value not in self.moving
        return None if is_long else syntax

    def _operand(self, position: int, axes: Axes) -> ast.Node:
        known = self.operands[position, axes if (position, axes) in self.operands else ()]
        if (position, axes) in self.operands:
            return known
        term = self.names.term_of(axes)
        if known.name in self.dims:
            term = under_names(term, self.dims[known.name])
        return ast.Use(known.name, term if axes else None)

    def _array(self, array: Arrange) -> str:
        """Return the name of the statement that has a value with these dims."""
        value = self.base(array.value)
        known = self.arrays.get((value, array.axes))
        return self.hoist(value, array.axes) if known is None else known

    def special(self, value: int, node: Node) -> ast.Node | None:
        """Return the syntax of a value that is read at positions or computed step by step."""
        return None
