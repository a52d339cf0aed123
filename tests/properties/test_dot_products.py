"""Forward mode against reverse mode on random formulas: the product of a direction with the derivatives of
the elements of a value is the same from both sides.

The derivative along a direction is one by a number, by which a multiple of the direction is added.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nameexpr.compiler.gradient import derivative
from nameexpr.compiler.ir.axes import Unnamed
from nameexpr.errors import NameExprError
from nameexpr.records import replace
from nameexpr.syntax import ast
from nameexpr.syntax.parser.formula import parse_formula
from nameexpr.syntax.unparse import unparse_statement
from properties.test_gradients_random import Drawn, check_refusal, drawn, gradient_of

BATCH = 100
STEP, ALONG = "e_e", "v_v"


def goes_forward(graph: Any, value: int, active: Any, labels: Any) -> bool:
    """Whether forward mode is possible: it is chosen wherever it is."""
    return all(graph.dtypes[one] not in {"complex64", "complex128"} for one in active)


@pytest.fixture(autouse=True)
def _forward(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derivative, "goes_forward", goes_forward)


def moved_along(node: Any, name: str) -> Any:
    """Return a value whose uses of an operand have a multiple of a direction added."""
    match node:
        case ast.Use(own) if own == name:
            step = ast.Use(STEP, None, node.span, node.span)
            product = ast.Binary("*", step, replace(node, name=ALONG), node.span, node.span)
            return ast.Binary("+", node, product, node.span, node.span)
        case ast.Unary():
            return replace(node, value=moved_along(node.value, name))
        case ast.Binary():
            return replace(node, left=moved_along(node.left, name), right=moved_along(node.right, name))
        case ast.Call() | ast.CallAlong():
            return replace(node, arguments=tuple([moved_along(one, name) for one in node.arguments]))
    return node


def along(case: Drawn, name: str, direction: Any) -> np.ndarray | None:
    """Return the derivative of the elements of a value along a direction of an operand, weighted."""
    lines = []
    for one in parse_formula(case.text).statements:
        others = tuple([moved_along(other, name) for other in one.others])
        lines.append(unparse_statement(replace(one, value=moved_along(one.value, name), others=others)))
    text = "\n".join([*lines, f"r_r = real({case.value})", f"grad(r_r, {STEP}) * {case.weights}"])
    moved = case._replace(names={**case.names, ALONG: case.names[name], STEP: None})
    try:
        return moved.evaluate(text, {**case.operands, ALONG: direction, STEP: 0.0})
    except NameExprError as fault:
        check_refusal(fault)
    return None


def compare(seed: int) -> tuple[int, int]:
    """Compare both sides for all operands of a seed; return how many there are, and how many are not 0."""
    generator = np.random.default_rng(seed)
    case, compared, count = drawn(seed, generator), 0, 0
    if case is None or any(isinstance(label, Unnamed) for label in case.labels):
        return 0, 0
    for name, operand in case.operands.items():
        if np.asarray(operand).dtype.kind != "f":
            continue
        direction = generator.uniform(-1, 1, np.shape(operand))
        gradient = gradient_of(case, case.with_loss(), name)
        forwards = along(case, name, direction if np.ndim(operand) else float(direction))
        if gradient is None or forwards is None:
            continue
        parts = gradient * direction
        scale = 1e-11 * (np.abs(parts).sum() + np.abs(forwards).sum()) + 1e-15
        if np.isfinite(scale):
            difference = abs(parts.sum() - forwards.sum())
            assert difference <= scale, f"seed {seed}, {name}: {difference} > {scale}\n{case.with_loss()}"
            compared, count = compared + 1, count + bool(np.any(gradient))
    return compared, count


@pytest.mark.parametrize("first", [0, pytest.param(BATCH, marks=pytest.mark.slow)])
def test_both_modes_agree(first: int) -> None:
    compared, count = np.sum([compare(seed) for seed in range(first, first + BATCH)], axis=0)
    assert compared >= 30
    assert count >= 20
