"""The gradients of each statement of a formula by what it is computed from, compared with differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.ir.axes import Axes, Unnamed, flat
from nameexpr.compiler.ir.nodes import Arrange
from nameexpr.compiler.pipeline import read_formula
from nameexpr.errors import NameExprError
from nameexpr.ops import RESERVED
from nameexpr.records import record, replace
from nameexpr.runtime.comparing import GradientRow, Subject
from nameexpr.runtime.differentiated import free
from nameexpr.runtime.entry import DEFAULT
from nameexpr.runtime.evaluate import evaluate
from nameexpr.runtime.formula import FormulaEntry
from nameexpr.runtime.operands import array_of, spec_of
from nameexpr.syntax import ast, walk
from nameexpr.syntax.unparse import unparse_formula, unparse_statement


def wrong_statements(subject: Subject, generator: np.random.Generator) -> Iterator[GradientRow]:
    """Yield the gradients of statements that are not right, each for the operands and the statements that it
    reads.
    """
    scope = read_formula(subject.text)
    kept = {number for group in scope.recurrences for number in group.numbers}
    every = StatementValues.of(scope, subject)
    for number, statement in enumerate(scope.tree.statements):
        if number in kept or statement.others:
            continue
        local = every.alone(statement)
        if local is not None:
            rows = _rows(local, every.weight, unparse_statement(statement), generator)
            yield from [row for row in rows if row.verdict in {"wrong", "kink"}]


def _rows(
    subject: Subject, weight: str, statement: str, generator: np.random.Generator
) -> Iterator[GradientRow]:
    """Yield the comparisons of a statement for all that has a gradient."""
    for name in read_formula(subject.text).uses:
        if name != weight and np.asarray(array_of(subject.operands[name])).dtype.kind in "fc":
            with suppress(NameExprError):  # no gradient reaches it
                yield subject.row(name, generator, statement)


@record
class StatementValues:
    """The values of all statements of a formula, with their dims, and the sizes of labels."""

    values: Mapping[str, Any]
    axes: Mapping[str, Axes]
    sizes: Mapping[str, int]
    terms: Mapping[str, ast.Term]
    weight: str

    @staticmethod
    def of(scope: Scope, subject: Subject) -> StatementValues:
        """Return those of a formula."""
        names = tuple([one.name for one in scope.tree.statements if one.name is not None])
        options = DEFAULT._replace(outputs=names, sizes=tuple(subject.sizes.items()))
        entry = FormulaEntry(subject.text, options)
        used = {name: subject.operands[name] for name in scope.uses}
        compiled = entry.compile_named(
            {name: spec_of(entry.unwrapped(one, name)) for name, one in used.items()}
        )
        nodes = [compiled.graph.nodes[output] for output in compiled.outputs]
        axes = {name: node.axes for name, node in zip(names, nodes, strict=True) if isinstance(node, Arrange)}
        with np.errstate(all="ignore"):
            found = evaluate(subject.text, outputs=names, sizes=subject.sizes or None, operands=used)
        terms = {name: uses[0].term for name, uses in scope.uses.items() if uses[0].term is not None}
        values = {**used, **dict(zip(names, found, strict=True))}
        return StatementValues(values, axes, compiled.graph.sizes, terms, free("weight", {*values}))

    def alone(self, statement: ast.Statement) -> Subject | None:
        """Return a weighted sum of a statement as a formula of what the statement reads; None if its dims, or
        those of what it reads, have no names.
        """
        name = statement.name or "value"
        own = self.axes.get(name, ())
        every = list(flat(own))
        try:
            value = self._with_terms(statement.value)
        except KeyError:
            return None
        if any(isinstance(label, Unnamed) for label in every):
            return None
        term = ast.Term(tuple(map(ast.Label, every)))
        total: ast.Node = ast.Call("real", (ast.Use(name, None),))
        if every:
            total = ast.Binary("*", total, ast.Use(self.weight, term))
            total = ast.CallAlong("sum", term, (total,))
        statements = (replace(statement, name=name, value=value), ast.Statement(None, None, total))
        text = unparse_formula(ast.Formula(statements))
        scope = read_formula(text)
        shape = [self.sizes[label] for label in every]
        weights = np.random.default_rng(1).uniform(0.5, 1.5, shape)
        given = {one: weights if one == self.weight else self.values[one] for one in scope.uses}
        labels = walk.labels_in(*walk.terms_in(scope.tree))
        return Subject(text, given, {one: self.sizes[one] for one in sorted(labels) if one in self.sizes})

    def _with_terms(self, node: ast.Node) -> ast.Node:
        """Return a value in which every use has a term (KeyError if its dims have no names)."""
        match node:
            case ast.Use(name, None) if name not in RESERVED and name in self.values:
                return ast.Use(name, self.terms[name] if name in self.terms else self._own(name))
            case ast.Unary(_, value):
                return replace(node, value=self._with_terms(value))
            case ast.Binary(_, left, right):
                return replace(node, left=self._with_terms(left), right=self._with_terms(right))
            case ast.Call(_, arguments) | ast.CallAlong(_, _, arguments):
                return replace(node, arguments=tuple(map(self._with_terms, arguments)))
        return node

    def _own(self, name: str) -> ast.Term | None:
        """Return the term of a statement; None for an operand without one."""
        axes = self.axes.get(name, ())
        if any(len(labels) != 1 or isinstance(labels[0], Unnamed) for labels in axes):
            raise KeyError(name)
        return ast.Term(tuple([ast.Label(label) for (label,) in axes])) if axes else None
