"""A product is left in the order in which the next step of the plan can read it as matrices."""

from __future__ import annotations

import numpy as np

import nameexpr as ne
from nameexpr.compiler.ir.axes import Contraction
from nameexpr.compiler.lowering.readers import NextStep, reader_of
from nameexpr.compiler.planning.plan import plan_contractions

TEXT = "a b c, c f d, d b e, e f a ->"
RNG = np.random.default_rng(4)


def test_what_the_next_step_does_with_labels() -> None:
    terms = tuple([tuple(term.split()) for term in TEXT.partition("->")[0].split(",")])
    contraction = Contraction(terms, (), tuple("abcdef"), None, dict.fromkeys("abcdef", 28))
    plan = plan_contractions(contraction)
    assert [(step.values, {*step.labels}) for step in plan.steps[:2]] == [
        ((2, 3), {*"dbfa"}),
        ((1, 4), {*"cba"}),
    ]
    assert reader_of(plan, 0) == NextStep(frozenset("ba"), frozenset("fd"))
    assert reader_of(plan, 1) == NextStep(frozenset(), frozenset("cba"))
    assert reader_of(plan, 2) is None


def test_a_product_is_not_copied_for_the_next_step() -> None:
    """With d and b, and f and a, merged, a single product would be a little faster than 28, and be copied."""
    operands = [RNG.standard_normal((28, 28, 28)) for _ in range(4)]
    copied = [step for step in ne.compile(TEXT).plan(*operands).steps if step.what == "copy"]
    assert not [step for step in copied if step.bytes > 28**3 * 8]
    expected = np.einsum(TEXT.replace(" ", ""), *operands, optimize=True)
    np.testing.assert_allclose(ne.einsum(TEXT, *operands), expected)
