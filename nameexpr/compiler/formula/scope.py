"""What each name in a formula means: an operand, an earlier statement, a constant; which term each use has.

Everything here follows from the text, and all mistakes are reported together. Whether an operand needs a term
is known once the operands are (`nameexpr.compiler.formula.views`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from nameexpr.compiler.check import INPUT_RULES, TOLD
from nameexpr.compiler.formula.functions import (
    ALONG,
    ALONG_ONE,
    CONSTANTS,
    INDEX,
    POINTWISE,
    REDUCTIONS,
    RESERVED,
    SIZE,
)
from nameexpr.errors import Diagnostic, Mark, Span, did_you_mean, error
from nameexpr.syntax.ast import Anonymous, Dots, Expression, Label, Literal, Pack, Term, atoms
from nameexpr.syntax.formula_ast import Along, Binary, Call, Formula, Statement, Unary, Use, nodes


@dataclass(frozen=True, slots=True)
class Scope:
    """The operands that a formula uses, in the order of their first use, with all their uses."""

    tree: Formula
    uses: dict[str, tuple[Use, ...]]

    @property
    def operands(self) -> tuple[str, ...]:
        """Names of the operands."""
        return tuple(self.uses)


def read_scope(tree: Formula) -> Scope:
    """Return the operands of a formula, its text checked.

    Raises
    ------
    RuleError, ParseError
        With one diagnostic per mistake: unknown functions, wrong numbers of values, names given twice, terms
        that differ, brackets that hold what they cannot hold.
    """
    found = list(islice(_mistakes(tree), TOLD))
    if found:
        raise error(*found)
    uses: dict[str, list[Use]] = {}
    defined: set[str] = set()
    for statement in tree.statements:
        for node in nodes(statement.value):
            if isinstance(node, Use) and node.name not in defined and node.name not in RESERVED:
                uses.setdefault(node.name, []).append(node)
        if statement.name is not None:
            defined.add(statement.name)
    return Scope(tree, {name: tuple(found) for name, found in uses.items()})


def _mistakes(tree: Formula) -> Iterator[Diagnostic]:
    yield from _statement_names(tree)
    defined: dict[str, Statement] = {}
    yield from _goes_on(tree)
    yield from _terms(tree)
    for statement in tree.statements:
        for node in nodes(statement.value):
            if isinstance(node, Call):
                yield from _call(tree, node)
            elif isinstance(node, Along):
                yield from _along(tree, node)
            elif isinstance(node, Use):
                yield from _use(tree, node, defined)
        if statement.name is not None:
            defined[statement.name] = statement


def _goes_on(tree: Formula) -> Iterator[Diagnostic]:
    """Refuse a last line that begins with a sign: it was meant to go on with the line above."""
    last = tree.statements[-1]
    value = last.value
    while isinstance(value, Binary):
        value = value.left
    if last.name is not None or len(tree.statements) < 2 or not isinstance(value, Unary):  # noqa: PLR2004
        return
    between = tree.text[tree.statements[-2].span.end : value.span.start]
    if value.operator in "+-" and "\n" in between and ";" not in between:
        marks = (Mark(tree.statements[-2].span), Mark(Span(value.span.start, value.span.start + 1)))
        message = "the statement above ends at the line break, and this line is one of its own"
        hint = "put brackets around a value that goes on in the next line"
        yield Diagnostic("NE230", message, tree.text, marks, hint=hint)


def _terms(tree: Formula) -> Iterator[Diagnostic]:
    """Check the terms of uses as those of an expression's inputs; no dim goes without a label."""
    uses = (use for use in _uses(tree) if use.name not in RESERVED)
    terms = [use.term for use in uses if use.term is not None]
    expression = Expression(tuple(terms), None, None, tree.text)
    for rule in INPUT_RULES:
        yield from rule(expression, False)  # noqa: FBT003
    for term in terms:
        for atom in atoms(term.items):
            if isinstance(atom, Anonymous):
                message, hint = "_ has no meaning in a formula", "name the dim"
                yield Diagnostic("NE239", message, tree.text, (Mark(atom.span),), hint=hint)
            if isinstance(atom, Literal) and atom.size != 1:
                message = f"a dim written {atom.size} has no label, and nothing could reduce it"
                hint = f"name it: C={atom.size}"
                yield Diagnostic("NE239", message, tree.text, (Mark(atom.span),), hint=hint)


def _uses(tree: Formula) -> Iterator[Use]:
    for statement in tree.statements:
        for node in nodes(statement.value):
            if isinstance(node, Use):
                yield node


def _statement_names(tree: Formula) -> Iterator[Diagnostic]:
    seen: dict[str, Statement] = {}
    used: dict[str, Use] = {}
    for place, statement in enumerate(tree.statements):
        mark = Mark(statement.name_span)
        if statement.name is None:
            if place < len(tree.statements) - 1:
                hint = "name it: s = ...; only the last statement may go without"
                message = "the value of this statement is lost"
                yield Diagnostic("NE230", message, tree.text, (Mark(statement.span),), hint=hint)
        elif statement.name in RESERVED:
            message = f"'{statement.name}' has a meaning of its own in formulas"
            yield Diagnostic("NE231", message, tree.text, (mark,), hint="choose another name")
        elif statement.name in seen:
            marks = (Mark(seen[statement.name].name_span), mark)
            hint = f"every statement gives a new name, such as {statement.name}2"
            yield Diagnostic("NE232", f"'{statement.name}' is given twice", tree.text, marks, hint=hint)
        elif statement.name in used or _mentions(statement):
            use = used.get(statement.name) or _mentions(statement)
            marks = (mark, *((Mark(use.span),) if use else ()))
            hint = f"call the result something else, such as {statement.name}2"
            message = f"'{statement.name}' is an operand and the name of a statement"
            yield Diagnostic("NE233", message, tree.text, marks, hint=hint)
        for node in nodes(statement.value):
            if isinstance(node, Use):
                used.setdefault(node.name, node)
        if statement.name is not None:
            seen.setdefault(statement.name, statement)


def _mentions(statement: Statement) -> Use | None:
    """Return the use of a statement's own name in its value."""
    own = (node for node in nodes(statement.value) if isinstance(node, Use))
    return next((node for node in own if node.name == statement.name), None)


def _call(tree: Formula, node: Call) -> Iterator[Diagnostic]:
    mark = Mark(node.name_span)
    function = POINTWISE.get(node.function)
    if function is not None:
        if len(node.arguments) != function.arity:
            message = f"{node.function} takes {_values(function.arity)}, not {len(node.arguments)}"
            yield Diagnostic("NE234", message, tree.text, (mark,), hint=_call_hint(node))
        return
    if node.function in REDUCTIONS or node.function in ALONG:
        what = "reduces" if node.function in REDUCTIONS else "works along"
        hint = f"say which dims it {what}: {node.function}[C](...)"
        message = f"{node.function} needs its dims in square brackets"
        yield Diagnostic("NE235", message, tree.text, (mark,), hint=hint)
        return
    known = [*POINTWISE, *REDUCTIONS, *ALONG]
    hint = did_you_mean(node.function, known) or f"the pointwise functions are {' '.join(POINTWISE)}"
    yield Diagnostic("NE236", f"there is no function '{node.function}'", tree.text, (mark,), hint=hint)


def _call_hint(node: Call) -> str:
    if node.function in REDUCTIONS:
        return f"{node.function}[C](x) reduces over C"
    if node.function in ("maximum", "minimum") and len(node.arguments) == 1:
        return f"{node.function[:3]}[C](x) reduces over C"
    return {"where": "where(condition, x, y)", "clip": "clip(x, low, high)"}.get(node.function, "")


def _values(count: int) -> str:
    return "1 value" if count == 1 else f"{count} values"


def _along(tree: Formula, node: Along) -> Iterator[Diagnostic]:
    mark = Mark(node.name_span)
    if node.function in POINTWISE:
        hint = f"write {node.function}(...)"
        message = f"{node.function} is pointwise: it has no dims of its own"
        yield Diagnostic("NE235", message, tree.text, (mark, Mark(node.term.span)), hint=hint)
        return
    if node.function not in REDUCTIONS and node.function not in ALONG:
        known = [*REDUCTIONS, *ALONG]
        hint = did_you_mean(node.function, known) or f"one of {' '.join(known)}; a product is written with *"
        message = f"there is no function '{node.function}' along dims"
        yield Diagnostic("NE236", message, tree.text, (mark,), hint=hint)
        return
    if len(node.arguments) != 1:
        message = f"{node.function} takes 1 value, not {len(node.arguments)}"
        yield Diagnostic("NE234", message, tree.text, (mark,), hint="where(c, x, y) chooses between values")
    yield from _bound(tree, node)


def _bound(tree: Formula, node: Along) -> Iterator[Diagnostic]:
    """Check what stands in the brackets of a reduction."""
    wrong = [item for item in node.term.items if not isinstance(item, Label | Pack | Dots)]
    if wrong:
        marks = tuple(Mark(item.span) for item in wrong)
        message = f"the brackets of {node.function} hold names of dims"
        hint = f"{node.function}[C H](x); sizes and groups belong to the terms of operands"
        yield Diagnostic("NE237", message, tree.text, marks, hint=hint)
        return
    if not node.term.items:
        hint = f"name the dims: {node.function}[C](x)"
        yield Diagnostic("NE237", f"{node.function} over no dim", tree.text, (Mark(node.span),), hint=hint)
    words = [(type(item).__name__, getattr(item, "name", "")) for item in node.term.items]
    twice = [item for place, item in enumerate(node.term.items) if words[place] in words[:place]]
    if twice:
        marks = tuple(Mark(item.span) for item in twice)
        message = f"a dim stands twice in the brackets of {node.function}"
        yield Diagnostic("NE237", message, tree.text, marks, hint="name each dim once")
    if node.function in ALONG_ONE and (
        len(words) > 1 or not all(isinstance(i, Label) for i in node.term.items)
    ):
        message = f"{node.function} goes along one dim"
        hint = f"write {node.function}[C](x), and one within the other for more"
        yield Diagnostic("NE237", message, tree.text, (Mark(node.term.span),), hint=hint)


def _use(tree: Formula, node: Use, defined: dict[str, Statement]) -> Iterator[Diagnostic]:
    if node.name in CONSTANTS and node.term is not None:
        message = f"{node.name} is a number: it has no dims"
        yield Diagnostic("NE231", message, tree.text, (Mark(node.span),), hint=f"write {node.name}")
    elif node.name in (SIZE, INDEX):
        items = node.term.items if node.term is not None else ()
        if len(items) != 1 or not isinstance(items[0], Label):
            message = f"{node.name} is of one dim"
            yield Diagnostic("NE237", message, tree.text, (Mark(node.span),), hint=f"write {node.name}[C]")
    elif node.name in defined and node.term is not None and defined[node.name].term is None:
        hint = f"write {node.name}, or give the statement a term: {node.name}[...] = ..."
        message = f"'{node.name}' was made without a term, so its dims keep their names"
        marks = (Mark(defined[node.name].name_span), Mark(node.span))
        yield Diagnostic("NE238", message, tree.text, marks, hint=hint)


def terms_of(uses: tuple[Use, ...]) -> tuple[Term, ...]:
    """Return the different terms that the uses of an operand have."""
    return tuple(dict.fromkeys(use.term for use in uses if use.term is not None))
