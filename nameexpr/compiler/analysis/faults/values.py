"""Diagnostics for the values of a formula: dims that would be dropped, that do not exist, that are empty or
do not fit, and functions that are not defined for their arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.compiler.analysis.operands import Operand, View, describe, labelled
from nameexpr.compiler.ir.axes import Axes, Unnamed, shown
from nameexpr.compiler.ir.dtypes import WeakDtype
from nameexpr.errors import NO_FLOAT, Diagnostic, Mark, NotHeldError, OperandInfo, Span, did_you_mean
from nameexpr.ops import FUNCTIONS, REDUCTIONS
from nameexpr.records import replace
from nameexpr.rules.calls import shown as shown_number
from nameexpr.syntax import ast, walk
from nameexpr.syntax.items import is_renamed


def word_of(label: str) -> str:
    """Return how a label is written in brackets: the dims of a pack as the pack."""
    return label.word if isinstance(label, Unnamed) else label


def dropped(
    tree: ast.Formula, statement: ast.Statement, lost: Sequence[str], unknown: Sequence[str]
) -> Diagnostic:
    """Return the diagnostic for labels that a statement's left side lacks (NE240).

    `unknown` are the labels that occur on the left only and have no size: one may be a typo.
    """
    assert statement.term is not None
    words = list(dict.fromkeys(map(word_of, lost)))
    listed = " and ".join(f"'{word}'" for word in words)
    slips = [did_you_mean(label, words) for label in unknown if len(label) > 1]
    others = sorted(walk.labels_in(*walk.terms_in(tree)).difference(words))
    for word in words:
        same = [label for label in others if label.casefold() == word.casefold()]
        slips.append(did_you_mean(word, same or (others if len(word) > 2 else ())))  # noqa: PLR2004
    near = next(filter(None, slips), "")
    advice = f"reduce over it, such as with sum[{' '.join(words)}](...), or write it on the left"
    message = f"{listed} would be dropped: {'it is' if len(words) == 1 else 'they are'} not on the left"
    every = [mark for label in lost for mark in marks_of_label(tree, label)]
    where = [mark for mark in every if _is_within(mark.span, statement.value.span)]
    marks = dict.fromkeys((Mark(statement.term.span), *(where or _carriers(tree, statement, every))))
    return Diagnostic("NE240", message, tree.text, tuple(marks), hint=near or advice)


def marks_of_label(tree: ast.Formula, label: str) -> tuple[Mark, ...]:
    """Return marks below every mention of a label; for a label under a pack or `...`, below those."""
    word = word_of(label)
    return tuple(
        Mark(atom.span)
        for term in sorted(walk.terms_in(tree), key=lambda term: term.span.start)
        for atom in walk.atoms(term.items)
        if (isinstance(atom, ast.STRETCHED) and atom.word == word)
        or (isinstance(atom, ast.LABELLED) and atom.name == word)
    )


def _carriers(tree: ast.Formula, statement: ast.Statement, every: Sequence[Mark]) -> list[Mark]:
    """Return marks below the labels, and below the earlier statements that bring them into this one."""
    earlier = {above.name: above for above in tree.statements if above.span.start < statement.span.start}
    marks = []
    for use in walk.nodes_of((statement,)):
        above = earlier.get(use.name) if isinstance(use, ast.Use) else None
        inside = [] if above is None else [mark for mark in every if _is_within(mark.span, above.span)]
        marks += [*inside[:1], Mark(use.span)] if inside else []
    return marks


def _is_within(span: Span, outer: Span) -> bool:
    return outer.start <= span.start < outer.end


def no_size(tree: ast.Formula, label: str, own: Sequence[str]) -> Diagnostic:
    """Return the diagnostic for a label of unknown size that occurs on the left only (NE313)."""
    hint = did_you_mean(label, own) or f"a new dim needs a size: {label}=3, or sizes={{'{label}': 3}}"
    message = f"'{label}' is only on the left, and its size is not known"
    return Diagnostic("NE313", message, tree.text, marks_of_label(tree, label), hint=hint)


def foreign(tree: ast.Formula, node: ast.CallAlong, span: Span, name: str, own: Sequence[str]) -> Diagnostic:
    """Return the diagnostic for a dim in brackets that the value does not have (NE241)."""
    known = [label for label in own if not isinstance(label, Unnamed) or label.is_stretched]
    words = list(dict.fromkeys(map(word_of, known)))
    listed = "it has no dims"
    if words:
        listed = f"its only dim is {words[0]}" if len(words) == 1 else f"its dims are {' '.join(words)}"
    message = f"the argument of {node.function} has no dim '{name}'"
    hint, marks = did_you_mean(name, words) or listed, [Mark(span), Mark(node.arguments[0].span)]
    within = _labels_of_dim(tree, name)
    if within:
        hint = f"'{name}' is the name of a dim; its labels here are {within}: {node.function}[{within}](...)"
    inner = _reduced_by(node.arguments[0], name)
    if inner is not None:
        marks[1] = Mark(Span(inner.name_span.start, inner.term.span.end))
        hint = f"{inner.function}[{name}] has reduced '{name}' already; {listed}"
    return Diagnostic("NE241", message, tree.text, tuple(marks), hint=hint)


def _labels_of_dim(tree: ast.Formula, name: str) -> str:
    """Return the labels of a dim that has another name outside: x[f=(h d)]; "" if there is none."""
    for term in walk.terms_in(tree):
        for item in term.items:
            if is_renamed(item) and item.dim == name:
                return " ".join(sorted(walk.labels_in(ast.Term((item,))), key=tree.text.find))
    return ""


def _reduced_by(value: ast.Node, name: str) -> ast.CallAlong | None:
    """Return the reduction inside a value that has removed a dim."""
    for node in walk.nodes(value):
        if not isinstance(node, ast.CallAlong) or node.function not in REDUCTIONS:
            continue
        if any(isinstance(item, ast.Label) and item.name == name for item in node.term.items):
            return node
    return None


def no_elements(text: str, node: ast.CallAlong, label: str) -> Diagnostic:
    """Return the diagnostic for a reducer such as max over an empty dim (NE311)."""
    message = f"{node.function} over no elements has no value: '{shown(label)}' is 0"
    hint = "reduce over dims that have elements, or use a reduction that is defined for none, such as sum"
    return Diagnostic("NE311", message, text, (Mark(node.term.span),), hint=hint)


def undefined(text: str, function: str, dtypes: Sequence[str], span: Span) -> Diagnostic:
    """Return the diagnostic for a function that is not defined for these dtypes (NE524)."""
    kinds = " and ".join(dict.fromkeys(map(_kind, dtypes)))
    name = FUNCTIONS[function].name if function in FUNCTIONS else function
    message = f"'{name}' is not defined for {kinds}"
    return Diagnostic("NE524", message, text, (Mark(span),), hint=_instead(function, dtypes))


def not_in_dtype(text: str, statement: ast.Statement, dtype: str, wanted: str) -> Diagnostic:
    """Return the diagnostic for a result whose requested dtype cannot hold it (NE610)."""
    name = f"'{statement.name}'" if statement.name is not None else "the value"
    message = f"dtype={wanted} cannot hold {name}, of dtype {dtype}, without loss"
    hint = "use a wider dtype, or convert the result"
    return Diagnostic("NE610", message, text, (Mark(statement.value.span),), hint=hint)


def not_computed(text: str, reason: NotHeldError, span: Span) -> Diagnostic:
    """Return the diagnostic for a number that is too large (NE526)."""
    message = f"the formula cannot be computed: {reason}"
    return Diagnostic("NE526", message, text, (Mark(span),), hint=reason.hint)


def not_held(number: float | complex, dtype: str) -> NotHeldError:
    """Return the error for a number that a dtype cannot hold."""
    hint = NO_FLOAT if dtype == "float64" else "convert the operand to a wider dtype"
    return NotHeldError(f"{dtype} cannot hold {shown_number(number)}", hint)


def _instead(function: str, dtypes: Sequence[str]) -> str:
    """Return what to write instead of a function that is not defined for some dtypes."""
    plain = [dtype.kind if isinstance(dtype, WeakDtype) else dtype for dtype in dtypes]
    if function == "-." and set(plain) == {"bool"}:
        return "write a != b, or a + 0 - b"
    if function == ".-" and set(plain) == {"bool"}:
        return "bools are negated by ~x"
    if function in ("&.", "|.", ".~"):
        return "convert an operand first, or compare it: x != 0 makes bools"
    if any(dtype.startswith(("complex", "clongdouble")) for dtype in plain):
        return "take real(x), imag(x) or abs(x)"
    return "convert an operand first: x + 0 converts bools to integers, x * 1.0 to floats"


def _kind(dtype: str) -> str:
    """Return a dtype as messages show it."""
    return f"a Python {dtype.kind}" if isinstance(dtype, WeakDtype) else dtype


def broadcast_fault(
    tree: ast.Formula,
    axes: Mapping[View, Axes],
    operands: Mapping[str, Operand],
    labels: Sequence[Unnamed],
    span: Span,
) -> Diagnostic:
    """Return the diagnostic for dims under `...` that do not broadcast where values are combined (NE309).

    `axes` are the labels of every view of an operand, `labels` those of the dims that are combined.
    """
    said, marks, seen = [], [], {}
    for label in labels:
        having = [view for view, groups in axes.items() if any(label in group for group in groups)]
        view = min(having, key=lambda view: abs(view[1].span.start - span.start), default=None)
        if view is None:
            said.append(f"{label.size}")
            marks.append(Mark(span))
            continue
        said.append(f"{label.size} in {view[0]}")
        marks += [Mark(item.span, str(label.size)) for item in view[1].items if isinstance(item, ast.Dots)]
        seen[view] = operands[view[0]]
    message = f"dims under '...' do not broadcast: {' and '.join(said)}"
    hint = "aligned from the right, sizes must be equal or 1"
    return Diagnostic("NE309", message, tree.text, tuple(dict.fromkeys(marks)), _described(seen), hint)


def other_size(
    text: str,
    view: View,
    shape: tuple[int, ...],
    label: str,
    sizes: tuple[int, int],
    operands: Mapping[View, Operand],
) -> Diagnostic:
    """Return the diagnostic for a statement's term that gives a label a second size (NE330).

    `sizes` are the size here and the size elsewhere; `operands` maps the views of the formula to their
    operands.
    """
    here, there = sizes
    marks, seen = _label_marks(view[1], label, here), {view: Operand(shape)}
    elsewhere = "elsewhere"
    for other, operand in operands.items():
        outside = _label_marks(other[1], label, there)
        if outside:
            elsewhere = f"in {other[0]}"
            marks += outside
            seen[other] = operand
            break
    message = f"'{label}' is {here} in {view[0]} and {there} {elsewhere}"
    hint = "if these are different dims, rename one"
    return Diagnostic("NE330", message, text, tuple(marks), _described(seen), hint)


def _label_marks(term: ast.Term, label: str, size: int) -> list[Mark]:
    return [Mark(item.span, str(size)) for item in labelled((term,), label)]


def _described(operands: Mapping[View, Operand]) -> tuple[OperandInfo, ...]:
    terms = [term for _, term in operands]
    return describe(terms, [replace(operand, name=view[0]) for view, operand in operands.items()])
