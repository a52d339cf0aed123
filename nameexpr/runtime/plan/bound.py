"""Plans and code of what is bound: the steps of a call, with what is held as operands after the others, and a
function `prepare` that computes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nameexpr.carets import visible
from nameexpr.compiler.analysis.operands import Operand, describe
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.codegen.program import readable
from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.program import Note, Program
from nameexpr.compiler.ir.verify import shapes_of
from nameexpr.compiler.lowering.views import Operands
from nameexpr.compiler.pipeline import Compilation as Stages
from nameexpr.compiler.schedule.partial import Folded
from nameexpr.runtime.drawing.drawing import expression_drawing, formula_drawing
from nameexpr.runtime.plan.expression import Plan, make_plan
from nameexpr.runtime.plan.formula import make_formula_plan
from nameexpr.syntax.ast import Expression, Label, Term
from nameexpr.syntax.unparse import unparse


def plan_of_rest(
    parts: tuple[Stages[Expression], Folded],
    shapes: Sequence[Operand],
    dtypes: Sequence[np.dtype[Any]],
    free: Sequence[int],
    limit: int | None = None,
) -> Plan:
    """Return the plan of what an expression does on each call; `free` are the operands that are not bound."""
    stages, folded = parts
    whole, tree, own = folded.whole, stages.tree, stages.operands
    count, made = len(whole.operands), shapes_of(whole)
    values = (*free, *folded.held)
    axes = [*stages.views, *(tuple((label,) for label in note.labels) for note in whole.notes)]
    terms = [*tree.inputs, *map(_term, whole.notes)]
    names = [*own.dtypes, *(note.dtype for note in whole.notes)]
    kinds = [*dtypes, *(np.dtype(note.dtype or "float64") for note in whole.notes)]
    rest = replace(
        stages,
        program=folded.rest,
        shapes=shapes_of(folded.rest),
        views=tuple(axes[value] for value in values),
        tree=replace(tree, inputs=tuple(terms[value] for value in values)),
        operands=Operands(
            folded.rest.operands,
            tuple(names[value] for value in values),
            tuple(own.layouts[value] if value < count else None for value in values),
        ),
    )
    operands = [shapes[value] if value < count else Operand(made[value]) for value in values]
    plan = make_plan(rest, operands, [kinds[value] for value in values])
    listed = [" ".join(info.labels) or str(info.shape) for info in describe(tree.inputs, shapes)]
    flops, text = sum(step.flops for step in plan.steps), visible(unparse(tree))
    bound = [place for place in range(count) if place not in free]
    return replace(
        plan,
        text=text,
        flops=flops,
        naive_flops=plan.naive_flops if flops else 0,
        result_names=stages.names[0] if any(shape.names is not None for shape in shapes) else None,
        code=_preparation(folded, [listed[place] for place in bound], plan.code),
        drawing=expression_drawing(stages, rest, text, plan.steps, plan.operand_bytes, limit, bound),
    )


def plan_of_formula(
    parts: tuple[Stages[Scope], Folded],
    shapes: Mapping[str, Operand],
    dtypes: Mapping[str, str],
    free: Sequence[str],
    limit: int | None = None,
) -> Plan:
    """Return the plan of what a formula does on each call; `free` are the operands that are not bound."""
    stages, folded = parts
    scope, names, whole = stages.tree, stages.tree.operands, folded.whole
    bound = [
        f"{name} {shapes[name].shape}" if shapes[name].shape else name for name in names if name not in free
    ]
    uses, made = {name: scope.uses[name] for name in free}, shapes_of(whole)
    default, shapes, dtypes = dict(stages.default), dict(shapes), dict(dtypes)
    for number, value in enumerate(folded.held):
        if value < len(names):
            uses[names[value]] = scope.uses[names[value]]
            continue
        name, note = f"held{number}", whole.notes[value - len(names)]
        uses[name], default[name] = (), _term(note, len(made[value]))
        shapes[name], dtypes[name] = Operand(made[value]), note.dtype
    rest = replace(
        stages,
        program=folded.rest,
        shapes=shapes_of(folded.rest),
        tree=Scope(scope.tree, uses),
        default=default,
        operands=_rest_operands(stages, folded, free),
    )
    plan = make_formula_plan(rest, shapes, dtypes)
    fixed = [name for name in names if name not in free]
    return replace(
        plan,
        naive_flops=plan.naive_flops if plan.flops else 0,
        code=_preparation(folded, bound, plan.code),
        drawing=formula_drawing(stages, rest, plan.text, plan.steps, plan.operand_bytes, limit, fixed),
    )


def _rest_operands(stages: Stages[Scope], folded: Folded, free: Sequence[str]) -> Operands:
    """Return what is known of the operands of what is left to do: the free ones, then those held."""
    names, notes, own = stages.tree.operands, folded.whole.notes, stages.operands
    values = (*map(names.index, free), *folded.held)
    dtypes = [*own.dtypes, *(note.dtype for note in notes)]
    layouts = [*own.layouts, *(None for _ in notes)]
    return Operands(
        folded.rest.operands,
        tuple(dtypes[value] for value in values),
        tuple(layouts[value] for value in values),
    )


def _term(note: Note, ndim: int = 0) -> Term:
    """Return the labels of a value as a term; where none are known, one of `ndim` dims."""
    return Term(tuple(map(Label, map(shown, note.labels or ("_",) * ndim))))


def _preparation(folded: Folded, terms: Sequence[str], code: str) -> str:
    """Return code to paste with the function `prepare` before it, which gives the last operands of `compute`.

    Parameters
    ----------
    folded : Folded
        The program in two parts.
    terms : sequence of str
        For each bound operand the comment that says what it is.
    code : str
        The function `compute`.
    """
    prelude: Program | None = folded.prelude
    if prelude is None or not prelude.instructions:
        return code
    text = "the last operands of compute, from what is bound"
    made = readable(prelude, shapes_of(prelude), text, terms, "").replace("def compute(", "def prepare(", 1)
    (head, compute), (more, prepare) = code.split("\n\n\n", 1), made.split("\n\n\n", 1)
    imports = "\n".join(dict.fromkeys([*head.splitlines(), *more.splitlines()]))
    return f"{imports}\n\n\n{prepare}\n\n{compute}"
