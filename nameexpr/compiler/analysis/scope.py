"""Name resolution in formulas: each name is an operand, an earlier statement or a constant; each use has a
term.

Everything here follows from the text, and all errors are reported together. Whether an operand needs a term
is known once the operands are (`nameexpr.compiler.analysis.views`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from nameexpr.compiler.analysis.operands import View
from nameexpr.errors import TOLD, Diagnostic, Mark, Span, did_you_mean, error
from nameexpr.ops import ALONG, ALONG_ONE, CALLS, CONSTANTS, GRADIENTS, INDEX, REDUCTIONS, RESERVED, SIZE
from nameexpr.records import record
from nameexpr.syntax import ast, walk
from nameexpr.syntax.items import is_read, parts_of

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.recurrences import StepGroup


@record
class Scope:
    """The operands that a formula uses, in the order of their first use, with all their uses; `plain` are the
    views of operands if all terms consist of labels only; `has_readings` means that some dims are read in
    parts or at positions; `gradients` are the calls of `grad` and `stop`.
    """

    tree: ast.Formula
    uses: dict[str, tuple[ast.Use, ...]]
    plain: tuple[View, ...] | None = None
    has_readings: bool = False
    recurrences: tuple[StepGroup, ...] = ()
    gradients: tuple[ast.Call, ...] = ()

    @property
    def text(self) -> str:
        """The formula."""
        return self.tree.text

    @property
    def operands(self) -> tuple[str, ...]:
        """Names of the operands."""
        return tuple(self.uses)


def read_scope(tree: ast.Formula) -> Scope:
    """Return the operands of a formula, after checking its text."""
    walks = [
        (statement, tuple([node for value in statement.values for node in walk.nodes(value)]))
        for statement in tree.statements
    ]
    groups: tuple[StepGroup, ...] = ()
    left = [item for statement, _ in walks if statement.term is not None for item in statement.term.items]
    if any(not isinstance(item, ast.Label) and parts_of(item) is not None for item in left):
        from nameexpr.compiler.analysis.recurrences import groups_of

        groups = groups_of(tree.statements)
    mistakes = list(islice(_mistakes(tree, walks, groups), TOLD))
    if mistakes:
        raise error(*mistakes)
    uses: dict[str, list[ast.Use]] = {}
    gradients: list[ast.Call] = []
    defined: set[str] = {name for group in groups for name in group.names}
    for statement, inside in walks:
        for node in inside:
            if isinstance(node, ast.Use) and node.name not in defined and node.name not in RESERVED:
                uses.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.Call) and node.function in GRADIENTS:
                gradients.append(node)
        if statement.name is not None:
            defined.add(statement.name)
    plain = _plain_views(walks, uses)
    has_readings = plain is None and any(is_read(item) for term in walk.terms_in(tree) for item in term.items)
    every = {name: tuple(found) for name, found in uses.items()}
    return Scope(tree, every, plain, has_readings, groups, tuple(gradients))


def check_outputs(scope: Scope, outputs: Sequence[str]) -> None:
    """Reject an output that is not the name of a statement (NE620)."""
    known = [statement.name for statement in scope.tree.statements if statement.name is not None]
    for name in outputs:
        if name not in known:
            listed = f"the {'statements are' if len(known) > 1 else 'only statement is'} {', '.join(known)}"
            hint = did_you_mean(name, known) or (listed if known else "no statement has a name: y = ...")
            raise error(
                Diagnostic("NE620", f"outputs: there is no statement {name!r}", scope.text, hint=hint)
            )


def _plain_views(walks: Walks, uses: Mapping[str, Sequence[ast.Use]]) -> tuple[View, ...] | None:
    terms = [statement.term for statement, _ in walks]
    terms += [node.term for _, inside in walks for node in inside if isinstance(node, _WITH_TERMS)]
    if {type(item) for term in terms if term is not None for item in term.items} - {ast.Label}:
        return None
    views = dict.fromkeys([(name, use.term) for name, every in uses.items() for use in every])
    seen = tuple([(name, term) for name, term in views if term is not None])
    return seen if len(seen) == len(views) else None


Walks = list[tuple[ast.Statement, tuple[ast.Node, ...]]]
"""Statements with all nodes of their values."""
_CALLS, _WITH_TERMS = (ast.Call, ast.CallAlong), (ast.Use, ast.CallAlong)


def _mistakes(tree: ast.Formula, walks: Walks, groups: Sequence[StepGroup]) -> Iterator[Diagnostic]:
    uses = [node for _, inside in walks for node in inside if isinstance(node, ast.Use)]
    yield from _statement_names(tree, walks, {name for group in groups for name in group.names})
    yield from _goes_on(tree)
    yield from _terms(tree, [use for use in uses if use.name not in RESERVED])
    values = {use.name for use in uses} | {statement.name or "" for statement in tree.statements}
    defined: dict[str, ast.Statement] = {}
    for statement, inside in walks:
        for node in inside:
            if isinstance(node, _CALLS) and not _is_right(node):
                from nameexpr.compiler.analysis.rules.calls import call_faults

                yield from call_faults(tree, node, values)
            elif isinstance(node, ast.Use):
                yield from _use(tree, node, defined)
        if statement.name is not None:
            defined[statement.name] = statement


def _is_right(call: ast.Call | ast.CallAlong) -> bool:
    """Return whether a function is known, has the right number of values, and has labels in its brackets."""
    if isinstance(call, ast.Call):
        row = CALLS.get(call.function)
        is_known = row is not None and row.arity == len(call.arguments)
        return is_known and (call.function != "grad" or is_differentiable(call.arguments[1]))
    is_known = call.function in REDUCTIONS or call.function in ALONG
    items = call.term.items
    labels = {item.name for item in items if isinstance(item, ast.Label)}
    is_one = len(call.arguments) == 1 and (len(items) == 1 or call.function not in ALONG_ONE)
    return is_known and is_one and 0 < len(labels) == len(items)


def is_differentiable(node: ast.Node) -> bool:
    """Return whether a value is the use of an operand or of a statement, by which values have derivatives."""
    return isinstance(node, ast.Use) and node.name not in RESERVED


def _goes_on(tree: ast.Formula) -> Iterator[Diagnostic]:
    """Reject a last line that begins with a sign: it was meant to continue the previous line."""
    last = tree.statements[-1]
    value = last.value
    while isinstance(value, ast.Binary):
        value = value.left
    if last.name is not None or len(tree.statements) < 2 or not isinstance(value, ast.Unary):  # noqa: PLR2004
        return
    above = tree.statements[-2]
    if value.operator == "-" and _mentions(walk.nodes(last.value), above.name):
        return
    between = tree.text[above.span.end : value.span.start]
    if tree.text[value.span.start] in "+-" and "\n" in between and ";" not in between:
        marks = (Mark(above.span), Mark(Span(value.span.start, value.span.start + 1)))
        message = "the statement above ends at the line break, so this line is a separate statement"
        hint = "put parentheses around a value that continues on the next line"
        yield Diagnostic("NE230", message, tree.text, marks, hint=hint)


def _terms(tree: ast.Formula, uses: list[ast.Use]) -> Iterator[Diagnostic]:
    """Check the terms of uses like those of an expression's inputs; every dim must have a label."""
    uses = [use for use in uses if use.term is not None]
    terms = tuple([use.term for use in uses if use.term is not None])
    left = tuple([statement.term for statement in tree.statements if statement.term is not None])
    is_plain = all(type(item) is ast.Label for term in (*terms, *left) for item in term.items)
    if is_plain and not any(statement.others for statement in tree.statements):
        return
    from nameexpr.compiler.analysis.rules.check import INPUT_RULES
    from nameexpr.compiler.analysis.rules.parts import part_faults

    whole = {(statement.name, statement.term) for statement in tree.statements}
    read = [use.term for use in uses if use.term is not None and (use.name, use.term) not in whole]
    yield from part_faults(tree, read, left)
    for rule in INPUT_RULES:
        yield from rule(ast.Expression(terms, left, None, tree.text), False, "operand")  # noqa: FBT003
    for term in terms:
        for atom in walk.value_atoms(tuple([item for item in term.items if not _is_whole(item)])):
            if isinstance(atom, ast.Anonymous):
                message, hint = "_ has no meaning in a formula", "name the dim"
                yield Diagnostic("NE239", message, tree.text, (Mark(atom.span),), hint=hint)
            if isinstance(atom, ast.Literal) and atom.size != 1:
                message = f"a dim written {atom.size} has no label, so it cannot be reduced"
                hint = f"one position is written C@{atom.size}, a dim of this size C={atom.size}"
                yield Diagnostic("NE239", message, tree.text, (Mark(atom.span),), hint=hint)


def _is_whole(item: ast.Item) -> bool:
    """Return whether a whole dim is read in parts or at positions."""
    return isinstance(item, ast.At) or parts_of(item) is not None


def _statement_names(tree: ast.Formula, walks: Walks, recurring: set[str]) -> Iterator[Diagnostic]:
    seen: dict[str, ast.Statement] = {}
    used: dict[str, ast.Use] = {}
    for number, (statement, inside) in enumerate(walks):
        mark = Mark(statement.name_span)
        if statement.name is None:
            if number < len(tree.statements) - 1:
                hint = "name it: s = ...; only the last statement can be unnamed"
                message = "the value of this statement is lost"
                yield Diagnostic("NE230", message, tree.text, (Mark(statement.span),), hint=hint)
        elif statement.name in RESERVED:
            message = f"'{statement.name}' is reserved in formulas"
            yield Diagnostic("NE231", message, tree.text, (mark,), hint="choose another name")
        elif statement.name in seen:
            marks = (Mark(seen[statement.name].name_span), mark)
            hint = f"every statement defines a new name, such as {statement.name}2"
            yield Diagnostic("NE232", f"'{statement.name}' is defined twice", tree.text, marks, hint=hint)
        elif statement.name in recurring:
            pass
        elif own := used.get(statement.name) or _mentions(inside, statement.name):
            is_before = statement.name in used
            if is_before or not _has_steps(statement):
                yield _used_before(tree, statement, own, is_before=is_before)
        for node in inside:
            if isinstance(node, ast.Use):
                used.setdefault(node.name, node)
        if statement.name is not None:
            seen.setdefault(statement.name, statement)


def _has_steps(statement: ast.Statement) -> bool:
    """Return whether a statement is a recurrence by itself: then one that it uses is at fault."""
    from nameexpr.compiler.analysis.recurrences import step_of

    return step_of(statement) is not None


def _used_before(tree: ast.Formula, statement: ast.Statement, use: ast.Use, *, is_before: bool) -> Diagnostic:
    """Return the diagnostic for a name that is used before its statement, or in it."""
    name = statement.name
    if statement.term is not None and use.term is not None and not is_before:
        from nameexpr.compiler.analysis.recurrences import without_start

        return without_start(tree, statement, use)
    marks = (Mark(statement.name_span), Mark(use.name_span))
    hint = f"give the result another name, such as {name}2"
    message = f"'{name}' is an operand and the name of a statement"
    if is_before:
        message = f"'{name}' is used before it is computed"
        hint = f"put its statement first; if these are different values, call one of them {name}2"
        users = [one for one in tree.statements if one.span.start <= use.span.start < one.span.end]
        if _has_steps(statement) and any(_mentions(walk.nodes_of((statement,)), one.name) for one in users):
            hint = "statements of one recurrence are next to each other, and all have the label of its steps"
    return Diagnostic("NE233", message, tree.text, marks, hint=hint)


def _mentions(inside: Iterable[ast.Node], name: str | None) -> ast.Use | None:
    """Return the first use of a name."""
    return next((node for node in inside if isinstance(node, ast.Use) and node.name == name), None)


def _use(tree: ast.Formula, node: ast.Use, defined: dict[str, ast.Statement]) -> Iterator[Diagnostic]:
    if node.name in CONSTANTS and node.term is not None:
        message = f"{node.name} is a number: it has no dims"
        yield Diagnostic("NE231", message, tree.text, (Mark(node.span),), hint=f"write {node.name}")
    elif node.name in (SIZE, INDEX):
        items = () if node.term is None else node.term.items
        if len(items) != 1 or not isinstance(items[0], ast.Label):
            from nameexpr.compiler.analysis.rules.calls import size_faults

            yield from size_faults(tree, node)
    elif node.name in defined and node.term is not None and defined[node.name].term is None:
        hint = f"write {node.name}, or give the statement a term: {node.name}[...] = ..."
        message = f"the statement '{node.name}' has no term, so its dims keep their names"
        marks = (Mark(defined[node.name].name_span), Mark(node.span))
        yield Diagnostic("NE238", message, tree.text, marks, hint=hint)


def terms_of(uses: tuple[ast.Use, ...]) -> tuple[ast.Term, ...]:
    """Return the distinct terms that the uses of an operand have."""
    return tuple(dict.fromkeys([use.term for use in uses if use.term is not None]))


def uses_with_terms(statements: Iterable[ast.Statement]) -> Iterator[tuple[str, ast.Term]]:
    """Yield the uses of operands and statements that have terms, those in positions too."""
    for statement in statements:
        for value in statement.values:
            for node in walk.nodes(value):
                if isinstance(node, ast.Use) and node.term is not None and node.name not in RESERVED:
                    yield node.name, node.term
