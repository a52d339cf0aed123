"""Errors of the stages that formulas share with expressions, in the words of formulas: operands have names,
sizes come in `sizes=`, new dims are made on the left; and errors about sizes that formulas alone have.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from nameexpr.compiler.analysis.operands import Operand, describe
from nameexpr.compiler.analysis.term_queries import terms_in
from nameexpr.compiler.ir.axes import Axes
from nameexpr.errors import Diagnostic, Mark, NameExprError, OperandInfo, Span, error
from nameexpr.syntax.ast import Alias, Dots, Formula, Label, Sized, Term, atoms
from nameexpr.syntax.unparse import unparse_term

View = tuple[str, Term]
"""An operand or statement, and the term through which it is seen."""

_PHRASES = (
    (re.compile(r"by the keyword \S+="), "in sizes="),
    (re.compile(r": ([^\s={}]+)=\.\.\.$"), r": sizes={'\1': ...}"),
    (re.compile(r"right of the arrow"), "left of '='"),
    (re.compile(r"an input's"), "an operand's"),
    (re.compile(r"an input\b"), "an operand"),
)
_NUMBER = re.compile(r"\boperand ([0-9]+)\b")


def in_formula_words(
    fault: NameExprError, views: Sequence[View], tree: Formula | None = None
) -> NameExprError:
    """Return an error of the shared stages with operands called by their names, no mistake told twice."""
    found: list[Diagnostic] = []
    told: set[frozenset[int]] = set()
    for one in fault.diagnostics:
        positions = frozenset(map(int, _NUMBER.findall(one.message)))
        is_one_operand = len(positions) > 1 and len({views[place][0] for place in positions}) == 1
        if is_one_operand and positions in told and one.code == "NE304":
            continue
        told.add(positions)
        found.append(_translated(one, views, positions if is_one_operand else frozenset()))
    return error(*(found if tree is None else (_written(one, tree) for one in found)))


def in_words(text: str) -> str:
    """Return a message or hint about expressions in the words of formulas."""
    for pattern, written in _PHRASES:
        text = pattern.sub(written, text)
    return text


def _translated(one: Diagnostic, views: Sequence[View], apart: frozenset[int]) -> Diagnostic:
    """Return a diagnostic with names for numbers; the views that are set `apart` have their terms, too."""

    def title(place: int) -> str:
        name, term = views[place]
        return f"{name}[{unparse_term(term)}]" if place in apart else name

    def named(text: str) -> str:
        return in_words(_NUMBER.sub(lambda number: title(int(number[1])), text))

    told = {views[place][0] for place in apart}
    infos = [
        info._replace(title=title(info.position))
        for info in one.operands
        if info.position in apart or views[info.position][0] not in told
    ]
    subject = _NUMBER.match(one.message)
    who = "the operand" if subject is None else subject[0]
    marks = tuple(mark._replace(note=named(mark.note.replace("the operand", who))) for mark in one.marks)
    message, hint = named(one.message), named(one.hint)
    if one.code == "NE310" and subject is not None and " has 0 dims" in message:
        message = message.replace(" has 0 dims", " has no dims")
        hint = f"write {title(int(subject[1]))}"
    return one._replace(
        message=message,
        hint=hint,
        marks=marks,
        operands=_distinct(infos),
    )


def _written(one: Diagnostic, tree: Formula) -> Diagnostic:
    """Return a diagnostic about a size that the text gives with a mark where it does."""
    label = re.match(r"'([^']+'*)' is [0-9]", one.message)
    if one.code != "NE304" or label is None or "in the text" not in one.message:
        return one
    sized = [a for term in terms_in(tree) for a in atoms(term.items) if isinstance(a, Sized)]
    known = {mark.span for mark in one.marks}
    more = [Mark(a.span, str(a.size)) for a in sized if a.name == label[1] and a.span not in known]
    return one._replace(marks=(*one.marks, *more))


def broadcast_fault(
    tree: Formula,
    axes: Mapping[View, Axes],
    operands: Mapping[str, Operand],
    labels: Sequence[str],
    span: Span,
) -> Diagnostic:
    """Return the diagnostic for dims under `...` that do not broadcast (NE309).

    Parameters
    ----------
    tree : Formula
        The formula.
    axes : mapping
        The labels of every view of an operand.
    operands : mapping
        The operands by name.
    labels : sequence of str
        The labels of the dims that meet, such as "...1@3".
    span : Span
        The operator or function where they meet.
    """
    said, marks, infos = [], [], []
    for label in labels:
        size = label.partition("@")[2]
        view = _nearest_view(label, axes, span)
        if view is None:
            said.append(size)
            marks.append(Mark(span))
            continue
        said.append(f"{size} in {view[0]}")
        marks += [Mark(item.span, size) for item in view[1].items if isinstance(item, Dots)]
        infos += [one._replace(title=view[0]) for one in describe([view[1]], [operands[view[0]]])]
    message = f"dims under '...' do not broadcast: {' and '.join(said)}"
    hint = "aligned from the right, sizes must be equal or 1"
    return Diagnostic("NE309", message, tree.text, tuple(dict.fromkeys(marks)), _distinct(infos), hint)


def _nearest_view(label: str, axes: Mapping[View, Axes], span: Span) -> View | None:
    """Return the view that has this dim, the nearest to a place in the text."""
    having = [view for view, groups in axes.items() if any(label in group for group in groups)]
    return min(having, key=lambda view: abs(view[1].span.start - span.start), default=None)


def other_size(
    text: str,
    view: View,
    shape: tuple[int, ...],
    label: str,
    sizes: tuple[int, int],
    operands: Mapping[View, Operand],
) -> Diagnostic:
    """Return the diagnostic for a statement's term that gives a label another size than it has (NE330).

    `sizes` are the one here and the one elsewhere; `operands` are those by the views that the formula has.
    """
    here, there = sizes
    name, term = view
    marks = _marks(term, label, here)
    infos = [describe([term], [Operand(shape)])[0]._replace(title=name)]
    elsewhere = "elsewhere"
    for (other, seen), operand in operands.items():
        outside = _marks(seen, label, there)
        if outside:
            elsewhere = f"in {other}"
            marks += outside
            infos.append(describe([seen], [operand])[0]._replace(title=other))
            break
    message = f"'{label}' is {here} in {name} and {there} {elsewhere}"
    hint = "if these are two dims, rename one"
    return Diagnostic("NE330", message, text, tuple(marks), _distinct(infos), hint)


def _marks(term: Term, label: str, size: int) -> list[Mark]:
    named = (atom for atom in atoms(term.items) if isinstance(atom, Label | Sized | Alias))
    return [Mark(atom.span, str(size)) for atom in named if atom.name == label]


def _distinct(infos: Sequence[OperandInfo]) -> tuple[OperandInfo, ...]:
    first: dict[str, OperandInfo] = {}
    for info in infos:
        first.setdefault(info.title, info)
    return tuple(first.values())
