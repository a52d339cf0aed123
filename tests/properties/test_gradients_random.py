"""Gradients of random formulas against differences along random directions, and against Jacobians.

Operands are moved off the grid on which the generator draws them, where most of its formulas have kinks.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.ir.axes import Unnamed
from nameexpr.errors import NameExprError
from nameexpr.records import replace
from nameexpr.runtime.entry import DEFAULT
from nameexpr.runtime.formula import FormulaEntry
from nameexpr.runtime.operands import OperandSpec
from nameexpr.syntax import ast
from nameexpr.syntax.parser.formula import parse_formula
from nameexpr.syntax.unparse import unparse_statement
from oracle.generate.formulas import seeded_case
from oracle.reference.formulas import Named

BATCH = 100
SEEDS = 1000
ANSWERED = {"NE523", "NE530", "NE532", "NE536"}
"""Refusals, and labels that occur twice."""
KINKS = {280, 595}
"""Seeds whose formulas have a kink where they are evaluated: acosh(1), the std of numbers that are equal."""


class Drawn(NamedTuple):
    """A formula whose last statement has a name, its operands, and the labels of that statement."""

    text: str
    operands: dict[str, Any]
    names: dict[str, Any]
    sizes: dict[str, int]
    value: str
    labels: tuple[str, ...]

    def evaluate(self, text: str, operands: Mapping[str, Any]) -> Any:
        given = {
            name: array if self.names[name] is None else ne.tensor(array, names=self.names[name])
            for name, array in operands.items()
        }
        options = {"sizes": self.sizes} if self.sizes else {}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return np.asarray(ne.evaluate(text, **options, **given))

    @property
    def weights(self) -> str:
        """A weight for each element of the last statement."""
        plain = [label for label in self.labels if not isinstance(label, Unnamed)]
        each = [f"cos(index[{label}] * 1.3 + {place + 0.4})" for place, label in enumerate(plain)]
        return " * ".join(each or ["1.5"])

    def with_loss(self) -> str:
        """Return the text with a weighted sum of its last statement as the value `loss`."""
        words = dict.fromkeys(label.word if isinstance(label, Unnamed) else label for label in self.labels)
        product = f"real({self.value}) * {self.weights}"
        total = f"sum[{' '.join(words)}]({product})" if words else product
        return f"{self.text}\nloss = {total}"


def moved(operand: Any, generator: np.random.Generator) -> Any:
    """Return floats off the grid; others unchanged."""
    array = np.asarray(operand)
    if array.dtype.kind not in "fc":
        return operand
    step = generator.uniform(0.05, 0.11, array.shape) * generator.choice([-1, 1], array.shape)
    if isinstance(operand, float):
        return operand + float(step)
    wide = array.astype("complex128" if array.dtype.kind == "c" else "float64") + step
    return wide + 1j * generator.uniform(0.02, 0.1, array.shape) if array.dtype.kind == "c" else wide


def drawn(seed: int, generator: np.random.Generator) -> Drawn | None:
    """Return the formula of a seed, None if its dims have no labels that a sum can name."""
    case = seeded_case(seed)
    *others, last = parse_formula(case.text).statements
    if (
        last.term is not None
        and not last.others
        and any(type(one) is not ast.Label for one in last.term.items)
    ):
        last = replace(last, term=None)
    value = last.name or "z_z"
    text = "\n".join(map(unparse_statement, (*others, replace(last, name=value))))
    names = {name: one.names if isinstance(one, Named) else None for name, one in case.operands.items()}
    given = {name: one.array if isinstance(one, Named) else one for name, one in case.operands.items()}
    operands = {name: moved(one, generator) for name, one in given.items()}
    try:
        entry = FormulaEntry(text, DEFAULT._replace(sizes=tuple(case.sizes.items())))
        specs = {name: OperandSpec(np.shape(one), names[name], kind(one)) for name, one in operands.items()}
        axes = entry.compile_named(specs).result_axes
    except NameExprError:  # without its term, or with more labels than it needs
        return None
    labels = tuple(dict.fromkeys(label for group in axes for label in group))
    if any(isinstance(label, Unnamed) and not label.is_stretched for label in labels):
        return None
    return Drawn(text, operands, names, case.sizes, value, labels)


def kind(operand: Any) -> Any:
    return type(operand) if type(operand) in {bool, int, float, complex} else np.asarray(operand).dtype


def whole_term(case: Drawn, name: str) -> str:
    """Return a term with a new label for each dim of an operand."""
    names = case.names[name] or (None,) * np.ndim(case.operands[name])
    items = [f"{own}=z{dim}" if own else f"z{dim}" for dim, own in enumerate(names)]
    return f"[{' '.join(items)}]" if items else ""


def gradient_of(case: Drawn, text: str, name: str) -> np.ndarray | None:
    """Return the gradient of the loss by an operand; None if it is refused."""
    term = whole_term(case, name)
    whole = {f"{name}{term}": None} | ({} if is_read(case, name) else {name: None})
    for use in whole:
        try:
            found = case.evaluate(f"{text}\ngrad(loss, {use})", case.operands)
        except NameExprError as fault:
            check_refusal(fault)
            continue
        operand = np.asarray(case.operands[name])
        return found.reshape(operand.shape) if found.size == operand.size else None
    return None


def is_read(case: Drawn, name: str) -> bool:
    """Whether a use without a term may see only a part of an operand, or its elements in another order."""
    uses = FormulaEntry(case.text).tree.uses[name]
    items = [item for use in uses if use.term is not None for item in use.term.items]
    return any(isinstance(item, ast.At | ast.Parts | ast.NamedGroup) for item in items)


def agrees(case: Drawn, text: str, name: str, gradient: np.ndarray, generator: np.random.Generator) -> bool:
    """Whether a gradient is the slope along a random direction, if differences can decide that."""
    operand = np.asarray(case.operands[name])
    direction = generator.choice([-1, 1], operand.shape) * generator.uniform(0.5, 1.5, operand.shape)
    if operand.dtype.kind == "c":
        direction = direction + 1j * generator.uniform(-1, 1, operand.shape)

    def slope(step: float) -> float:
        ends = [case.operands[name] + sign * step * direction for sign in (1, -1)]
        values = [case.evaluate(text, {**case.operands, name: end}) for end in ends]
        with np.errstate(invalid="ignore"):
            return float((values[0] - values[1]) / (2 * step))

    base, wide, narrow = float(case.evaluate(text, case.operands)), slope(1e-5), slope(1e-6)
    scale = max(abs(wide), 1e-3 * abs(base), 1e-6)
    if not np.isfinite([base, wide, narrow]).all() or abs(wide - narrow) > 1e-4 * scale:
        return True
    return abs(float(np.sum((np.conj(gradient) * direction).real)) - wide) <= 2e-4 * scale


def gradients(seed: int) -> int:
    """Check all gradients of a seed, and return how many are not 0."""
    generator = np.random.default_rng(seed)
    case, count = drawn(seed, generator), 0
    if case is None or seed in KINKS:
        return 0
    text = case.with_loss()
    for name, operand in case.operands.items():
        if np.asarray(operand).dtype.kind not in "fc":
            continue
        gradient = gradient_of(case, text, name)
        if gradient is None:
            continue
        assert gradient.dtype == np.asarray(operand).dtype
        assert agrees(case, text, name, gradient, generator), f"seed {seed}, {name}:\n{text}"
        count += bool(np.any(gradient != 0))
    return count


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(BATCH, SEEDS, BATCH))]
)
def test_random_gradients_are_slopes(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")
    assert sum(gradients(seed) for seed in range(first, first + BATCH)) >= 20


@pytest.mark.parametrize("first", [0, pytest.param(BATCH, marks=pytest.mark.slow)])
def test_random_jacobians_contract_to_gradients(first: int) -> None:
    compared = 0
    for seed in range(first, first + BATCH):
        case = drawn(seed, np.random.default_rng(seed))
        if case is None or any(isinstance(label, Unnamed) for label in case.labels):
            continue
        text = case.with_loss()
        for name, operand in case.operands.items():
            if np.asarray(operand).dtype.kind not in "fc" or gradient_of(case, text, name) is None:
                continue
            compared += contracts(case, text, name, f"{name}{whole_term(case, name)}")
    assert compared >= 15


def contracts(case: Drawn, text: str, name: str, use: str) -> bool:
    """Check that the Jacobian of a value, contracted with the weights of the loss, is the gradient.

    Where the value is nan, such as a softmax of -inf alone, so is a Jacobian found in forward mode.
    """
    labels = " ".join(case.labels)
    jacobian = f"r_r = real({case.value}); j_j = grad(r_r, {use}) * {case.weights}"
    total = f"sum[{labels}](j_j)" if labels else "j_j"
    try:
        wanted = case.evaluate(f"{text}\ngrad(loss, {use})", case.operands)
        found = case.evaluate(f"{case.text}\n{jacobian}\n{total}", case.operands)
        value = case.evaluate(f"{case.text}\nreal({case.value})", case.operands)
    except NameExprError as fault:
        check_refusal(fault)
        return False
    largest = np.abs(wanted).max(initial=0)
    if not np.isfinite(largest) or np.isnan(value).any():
        return False
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * (1 + largest), err_msg=case.text)
    return True


def check_refusal(fault: NameExprError) -> None:
    assert fault.code in ANSWERED, str(fault)
