"""Labels whose sizes nothing in a text determines: those of operands that a derivative no longer reads.

`index[D]`, where D is as large as C, is written `u1[D]` after `u1[C] = index[C]`. If there is no such C, a
statement that nothing uses reads the operand that had the label.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from nameexpr.compiler.gradient.text.examples import size_of
from nameexpr.compiler.gradient.text.labels import NotWritableError
from nameexpr.compiler.gradient.text.offsets import NEAR
from nameexpr.ops import INDEX, RESERVED, SIZE
from nameexpr.records import field, record, replace
from nameexpr.syntax import ast, walk
from nameexpr.syntax.items import label_of


@record(frozen=False)
class KnownSizes:
    """Determines sizes; `sizes` are those of labels, `known` the labels that operands or options determine,
    `uses` those of operands in the text before, and `fresh` returns names for statements. `own`
    are the uses of the text, which determine sizes by positions.
    """

    sizes: Mapping[str, int]
    known: set[str]
    uses: Sequence[ast.Use]
    fresh: Callable[[], str]
    own: Collection[ast.Node]
    indices: dict[str, str] = field(default_factory=dict)
    first: list[ast.Statement] = field(default_factory=list)
    done: list[ast.Statement] = field(default_factory=list)
    pending: list[ast.Statement] = field(default_factory=list)

    def determined(self, statements: Sequence[ast.Statement]) -> list[ast.Statement]:
        """Return statements in which every label has a size."""
        for one in statements:
            for use in _uses([one]):
                if use.term is not None and use.name in {operand.name for operand in self.uses}:
                    self.known |= walk.labels_in(use.term)
        for one in statements:
            made = self._statement(one)
            self.done += [*self.pending, made]
            self.pending.clear()
        return [*self.first, *self.done]

    def _statement(self, statement: ast.Statement) -> ast.Statement:
        values = [self._value(value) for value in statement.values]
        for label in sorted(walk.labels_in(statement.term) if statement.term else ()):
            if label not in self.known:
                self._determine(label)
        return replace(statement, value=values[0], others=tuple(values[1:]))

    def _value(self, node: ast.Node) -> ast.Node:
        """Return a value, in the order of the text: what a statement is read with has a size from there."""
        match node:
            case ast.Use("index" | "size" as name, ast.Term((ast.Label(label),))):
                return node if label in self.known else self._instead(name, label)
            case ast.Use(_, ast.Term() as term):
                self.known |= {atom.name for atom in walk.atoms_of(ast.LABELLED, [term])}
                for label in sorted(walk.labels_in(term) - self.known if node not in self.own else ()):
                    self._determine(label)
                self.known |= walk.labels_in(term)
            case ast.Unary(_, value):
                return replace(node, value=self._value(value))
            case ast.Binary(_, left, right):
                left = self._value(left)
                return replace(node, left=left, right=self._value(right))
            case ast.Call(_, arguments) | ast.CallAlong(_, _, arguments):
                return replace(node, arguments=tuple([self._value(one) for one in arguments]))
        return node

    def _instead(self, name: str, label: str) -> ast.Node:
        """Return the size of a label, or the index along it, by another that is as large."""
        if (alike := self._alike(label)) is None and self._read_if_there(label):
            return ast.Use(name, ast.Term((ast.Label(label),)))
        if alike is None:
            self._by_statement(label)
            return ast.Use(name, ast.Term((ast.Label(label),)))
        if name == SIZE:
            return ast.Use(SIZE, ast.Term((ast.Label(alike),)))
        term = ast.Term((ast.Label(alike),))
        if alike not in self.indices:
            self.indices[alike] = self.fresh()
            self.first.append(ast.Statement(self.indices[alike], term, ast.Use(INDEX, term)))
        self.known.add(label)
        return ast.Use(self.indices[alike], ast.Term((ast.Label(label),)))

    def _alike(self, label: str) -> str | None:
        """Return another label that is as large and has a size, if needed from another use of an operand."""
        same = [one for one, size in self.sizes.items() if size == self.sizes[label] and one != label]
        found = next((one for one in same if one in self.known), None)
        return found or next((one for one in same if self._read_if_there(one)), None)

    def _determine(self, label: str) -> None:
        """Add statements that determine the size of a label."""
        if self._read_if_there(label):
            return
        alike = self._alike(label)
        if alike is not None:
            self.first.append(ast.Statement(self.fresh(), None, self._instead(INDEX, label)))
        elif self.sizes[label] < NEAR:
            term = ast.Term((ast.Sized(label, self.sizes[label]),))
            self.first.append(ast.Statement(self.fresh(), term, ast.Number(0)))
        else:
            self._by_statement(label)
        self.known.add(label)

    def _by_statement(self, label: str) -> None:
        """Determine the size of a label by a use of an earlier statement that has a dim as large."""
        for one in self.done:
            items = () if one.term is None else one.term.items
            names = [label_of(item) for item in items]
            for place, item in enumerate(items):
                own = [*names[:place], label, *names[place + 1 :]]
                if size_of(item, self.sizes, int) == self.sizes[label] and None not in own:
                    term = ast.Term(tuple([ast.Label(str(each)) for each in own]))
                    use = ast.Use(one.name or "", term)
                    self.pending.append(ast.Statement(self.fresh(), None, use))
                    self.known.add(label)
                    return
        raise NotWritableError(f"nothing in the text determines the size of '{label}'")

    def _read_if_there(self, label: str) -> bool:
        """Add a statement that reads an operand with a label, and return whether there is one."""
        for use in self.uses:
            if use.term and label in {atom.name for atom in walk.atoms_of(ast.LABELLED, [use.term])}:
                self.first.append(ast.Statement(self.fresh(), None, use))
                self.known |= walk.labels_in(use.term)
                return True
        return False


def _uses(statements: Sequence[ast.Statement]) -> list[ast.Use]:
    uses = [node for node in walk.nodes_of(statements) if isinstance(node, ast.Use)]
    return [use for use in uses if use.name not in RESERVED]
