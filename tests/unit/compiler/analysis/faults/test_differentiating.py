"""Diagnostics for functions that differentiate."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.analysis.faults.differentiating import of_expression

EXPRESSIONS = {
    "N C, C K -> N K": [(2, 3), (3, 4)],
    "N C, N C ->": [(2, 3), (2, 3)],
    "a b -> b : max": [(2, 3)],
    "c y=3 -> y c": [(2, 3)],
    "i, j -> i j": [(2,), (3,)],
}


@pytest.mark.parametrize("text", sorted(EXPRESSIONS))
def test_the_formula_in_place_of_an_expression_has_its_value_and_a_gradient(text: str) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape) for shape in EXPRESSIONS[text]]
    formula = of_expression(text).hint.partition("no dims: ")[2]
    names = ne.compile(formula).operands
    operands = dict(zip(names, arrays, strict=True))
    value, found = ne.value_and_grad(formula, names)(**operands)
    result = ne.einsum(text, *arrays)
    assert float(value) == pytest.approx(float((result**2).mean() if result.ndim else result))
    assert all(found[name].shape == array.shape for name, array in operands.items())


@pytest.mark.parametrize(
    "text", ["N (h d) -> N h d", "... C -> ...", "a -> b", "a, b => a", "(a + b) -> a, b"]
)
def test_an_expression_without_a_simple_formula_has_an_example(text: str) -> None:
    assert "x[N C] * w[C]" in of_expression(text).hint


def test_errors_are_in_the_text_that_was_given() -> None:
    step = ne.grad("z = 2 * b;\n  sum[C](w[C] * z)", "w b")
    with pytest.raises(ne.SizeError) as raised:
        step(w=np.ones((2, 3)), b=1.0)
    assert raised.value.text == "z = 2 * b;\n  sum[C](w[C] * z)"
    (span,) = raised.value.spans
    assert raised.value.text[span.start : span.end] == "C"
