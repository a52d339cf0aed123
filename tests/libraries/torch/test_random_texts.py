"""Random expressions and formulas have NumPy's answers on PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from libraries.torch.agreement import compare_expression, compare_formula  # noqa: E402
from oracle.generate import expressions, formulas  # noqa: E402
from oracle.reference.expressions import Named  # noqa: E402

SEEDS = 300


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
    """Make floats of integers as NumPy does."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def _runs(operands: Any) -> bool:
    """Return whether there are arrays among the operands, none of which has names."""
    has_names = any(isinstance(one, Named) for one in operands)
    return not has_names and any(isinstance(one, np.ndarray) and one.ndim for one in operands)


def test_random_expressions_agree() -> None:
    cases = [expressions.seeded_case(seed) for seed in range(SEEDS)]
    cases = [case for case in cases if not callable(case.reduce)]  # these are written for NumPy
    found = {case.seed: compare_expression(case) for case in cases if _runs(case.operands)}
    assert {seed: one for seed, one in found.items() if one and not one.startswith("lacks")} == {}
    assert list(found.values()).count("") > 0.9 * len(found)


def test_random_formulas_agree() -> None:
    cases = [formulas.seeded_case(seed) for seed in range(SEEDS)]
    found = {case.seed: compare_formula(case) for case in cases if _runs(case.operands.values())}
    assert {seed: one for seed, one in found.items() if one and not one.startswith("lacks")} == {}
    assert list(found.values()).count("") > 0.95 * len(found)
