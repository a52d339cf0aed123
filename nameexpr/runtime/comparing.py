"""Gradients of formulas compared with differences of their values, along some directions for each operand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from nameexpr.compiler.pipeline import read_formula
from nameexpr.records import field, record
from nameexpr.runtime.differences import Slope, slope_of
from nameexpr.runtime.evaluate import evaluate
from nameexpr.runtime.operands import array_of, names_of
from nameexpr.syntax import ast

MOST = 8
"""The number of elements of an operand that are varied one by one; of larger ones as many, and all at once
along random directions.
"""
DIRECTIONS = 2
TOLERANCE = 1e-6
"""The largest error of a gradient that is right, relative to the largest gradient of its operand."""
UNKNOWN = 1e-2
"""The uncertainty of differences from which they decide nothing."""


@record
class GradientRow:
    """A gradient, and the slope that differences give.

    Attributes
    ----------
    by : str
        What is varied: an element, such as ``w[C=2]``, or a whole operand along a random direction.
    gradient, difference : float
        The two answers.
    error : float
        Their difference, relative to the largest gradient by this operand.
    verdict : str
        ``"right"``, ``"wrong"``, ``"kink"`` where the slopes to both sides differ, so that any gradient
        between them is right, or ``"unknown"`` where differences do not settle.
    statement : str
        The statement that is checked by itself; "" for the value of the formula.
    """

    by: str
    gradient: float
    difference: float
    error: float
    verdict: str
    statement: str = ""


@record
class Subject:
    """A formula without dims, with its operands. `whole` is the formula with the gradients that it has
    statements for, `claimed` the names of these by operand.
    """

    text: str
    operands: Mapping[str, Any]
    sizes: Mapping[str, int]
    whole: str = ""
    claimed: Mapping[str, str] = field(default_factory=dict)

    def value(self, name: str, operand: Any) -> float:
        """Return the value of the formula for another operand."""
        with np.errstate(all="ignore"):
            found = evaluate(self.text, sizes=self.sizes or None, operands={**self.operands, name: operand})
        return float(np.real(array_of(found)))

    def gradient(self, name: str) -> Any:
        """Return the gradient by an operand."""
        from nameexpr.runtime.grad import grad

        given, sizes = self.operands, self.sizes or None
        with np.errstate(all="ignore"):
            if name in self.claimed:
                found = evaluate(self.whole, outputs=(self.claimed[name],), sizes=sizes, operands=given)[0]
            else:
                found = grad(self.text, [name], sizes=sizes)(operands=given)[name]
        return np.asarray(array_of(found))

    def row(self, name: str, generator: np.random.Generator, statement: str = "") -> GradientRow:
        """Return the comparison with the largest error of a gradient by an operand."""
        gradient = self.gradient(name)
        operand = self.operands[name]
        array = np.asarray(array_of(operand))
        largest = float(np.abs(gradient).max(initial=0))
        rows = []
        for title, direction in _directions(name, array, generator, self._labels(name)):
            slope = slope_of(partial(self._along, name, direction), _scale(array))
            known = float(np.sum((np.conj(gradient) * direction).real))
            rows.append(_compared(title, known, slope, largest, statement))
        order = ("wrong", "kink", "unknown", "right")
        return min(rows, key=lambda row: (order.index(row.verdict), -row.error))

    def _along(self, name: str, direction: Any, step: float) -> float:
        operand = self.operands[name]
        return self.value(name, with_array(operand, np.asarray(array_of(operand)) + step * direction))

    def _labels(self, name: str) -> Sequence[str]:
        for use in read_formula(self.text).uses[name]:
            if use.term is not None and all(isinstance(item, ast.Label) for item in use.term.items):
                return [item.name for item in use.term.items if isinstance(item, ast.Label)]
        return ()


def _compared(title: str, gradient: float, slope: Slope, largest: float, statement: str) -> GradientRow:
    """Return a gradient compared with a slope."""
    size = max(abs(slope.value), largest, 1e-12)
    error = abs(gradient - slope.value) / size
    verdict = "right"
    if not error <= TOLERANCE + 3 * slope.uncertainty / size or not np.isfinite(gradient):
        verdict = "wrong"
    if not slope.uncertainty <= UNKNOWN * size or not np.isfinite(slope.value):
        verdict = "unknown"
    if slope.is_kink:
        verdict = "kink"
    return GradientRow(title, gradient, slope.value, error, verdict, statement)


def _directions(
    name: str, array: Any, generator: np.random.Generator, labels: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    """Yield directions to vary an array along: some elements, and all of them."""
    units = (1, 1j) if array.dtype.kind == "c" else (1,)
    flat = range(array.size) if array.size <= MOST else sorted(generator.permutation(array.size)[:MOST])
    for place in flat:
        index = np.unravel_index(place, array.shape)
        words = [str(one) for one in index]
        if labels:
            words = [f"{label}={one}" for label, one in zip(labels, index, strict=True)]
        title = f"{name}[{' '.join(words)}]" if words else name
        for unit in units:
            direction = np.zeros(array.shape, array.dtype)
            direction[index] = unit
            yield title if unit == 1 else f"{title} (imaginary part)", direction
    for _ in range(DIRECTIONS if array.size > MOST else 0):
        signs = generator.choice([-1.0, 1.0], array.shape)
        yield f"{name} (a random direction)", signs * generator.uniform(0.5, 1.5, array.shape)


def _scale(array: Any) -> float:
    return max(float(np.sqrt(np.mean(np.abs(array) ** 2))) if array.size else 1.0, 1e-3)


def with_array(operand: Any, array: Any) -> Any:
    """Return an array as an operand like another one."""
    names = names_of(operand)
    return array if names is None else operand._named(array, names)


def wide(operand: Any) -> Any:
    """Return an operand with floats in float64, so that differences are as exact as they can be."""
    array = array_of(operand)
    array = np.asarray(array) if not isinstance(array, np.ndarray) else array
    if array.dtype.kind not in "fc":
        return operand
    return with_array(operand, array.astype("complex128" if array.dtype.kind == "c" else "float64"))
