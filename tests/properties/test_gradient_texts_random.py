"""Texts of gradients of random formulas: their values are those of the gradients, and they read back."""

from __future__ import annotations

import re

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.errors import NameExprError
from nameexpr.runtime.entry import DEFAULT
from nameexpr.runtime.formula import FormulaEntry
from nameexpr.syntax.parser.formula import parse_formula
from nameexpr.syntax.unparse import unparse_formula
from properties.test_gradients_random import Drawn, check_refusal, drawn, gradient_of, whole_term

BATCH = 50
SEEDS = 500


def written(case: Drawn, text: str) -> str | None:
    """Return a formula without `grad`; None if it is refused."""
    given = {
        name: array if case.names[name] is None else ne.tensor(array, names=case.names[name])
        for name, array in case.operands.items()
    }
    try:
        return ne.compile(text, sizes=case.sizes).expanded(operands=given)
    except NameExprError as fault:
        if fault.code != "NE539":
            check_refusal(fault)
        return None


def texts(seed: int) -> int:
    """Check the texts of all gradients of a seed, and return how many there are."""
    case, count = drawn(seed, np.random.default_rng(seed)), 0
    if case is None:
        return 0
    loss = case.with_loss()
    for name, operand in case.operands.items():
        if np.asarray(operand).dtype.kind not in "fc" or gradient_of(case, loss, name) is None:
            continue
        text = f"{loss}\ng_g = grad(loss, {name}{whole_term(case, name)})"
        found = written(case, text)
        if found is None:
            continue
        assert not re.search(r"\bgrad\(", found)
        assert unparse_formula(parse_formula(found)) == found
        used = FormulaEntry(found, DEFAULT._replace(sizes=tuple(case.sizes.items()))).tree.operands
        operands = {one: array for one, array in case.operands.items() if one in used}
        try:
            wanted, value = case.evaluate(text, case.operands), case.evaluate(found, operands)
        except NameExprError as fault:
            if "no elements" not in str(fault):
                raise
            continue
        scale = 1 + np.abs(wanted, where=np.isfinite(wanted), out=np.zeros(wanted.shape)).max(initial=0)
        tolerance = 1e-11 if value.dtype == wanted.dtype else 1e-6  # the text has the dtype of its formula
        np.testing.assert_allclose(
            value,
            wanted,
            rtol=tolerance,
            atol=tolerance / 10 * scale,
            err_msg=f"seed {seed}, {name}:\n{text}\n\n{found}",
        )
        count += 1
    return count


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(BATCH, SEEDS, BATCH))]
)
def test_texts_have_the_values_of_random_gradients(first: int) -> None:
    assert sum(texts(seed) for seed in range(first, first + BATCH)) >= 10


if __name__ == "__main__":  # python -m properties.test_gradient_texts_random 5000, in tests/
    import sys

    last = int(sys.argv[1])
    with np.errstate(all="ignore"):
        print(f"{sum(map(texts, range(last)))} texts of {last} seeds have the values of their gradients")
