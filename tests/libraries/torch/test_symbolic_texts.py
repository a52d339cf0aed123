"""Random texts that are traced for operands of all sizes have NumPy's answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

torch = pytest.importorskip("torch")

from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

from libraries.torch.agreement import compare_expression, compare_formula  # noqa: E402
from oracle.generate import expressions, formulas  # noqa: E402
from oracle.reference.expressions import Named  # noqa: E402
from searching import is_wide  # noqa: E402

SEEDS = 60 if is_wide() else 30
EINSUM, EVALUATE = ne.einsum, ne.evaluate


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
    """Make floats of integers as NumPy does."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def traced(call: Any, operands: Mapping[Any, Any]) -> Any:
    """Return the value of a call on operands: traced with symbols for sizes, if some are tensors."""
    tensors = {key: one for key, one in operands.items() if isinstance(one, torch.Tensor)}
    if not tensors:
        return call(operands)

    def run(*given: Any) -> Any:
        return call({**operands, **dict(zip(tensors, given, strict=True))})

    return make_fx(run, tracing_mode="symbolic")(*tensors.values())(*tensors.values())


def einsum(text: str, *operands: Any, **options: Any) -> Any:
    given = dict(enumerate(operands))
    return traced(lambda every: EINSUM(text, *every.values(), **options), given)


def evaluate(text: str, operands: Mapping[str, Any], **options: Any) -> Any:
    return traced(lambda every: EVALUATE(text, operands=every, **options), operands)


def _runs(operands: Any) -> bool:
    has_names = any(isinstance(one, Named) for one in operands)
    return not has_names and any(isinstance(one, np.ndarray) and one.ndim for one in operands)


def test_random_expressions_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ne, "einsum", einsum)
    cases = [expressions.seeded_case(seed) for seed in range(SEEDS)]
    cases = [case for case in cases if _runs(case.operands) and not callable(case.reduce)]
    found = {case.seed: compare_expression(case) for case in cases}
    assert {seed: one for seed, one in found.items() if one and not one.startswith("lacks")} == {}
    assert list(found.values()).count("") > 0.9 * len(found)


def test_random_formulas_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ne, "evaluate", evaluate)
    cases = [formulas.seeded_case(seed) for seed in range(SEEDS)]
    found = {case.seed: compare_formula(case) for case in cases if _runs(case.operands.values())}
    assert {seed: one for seed, one in found.items() if one and not one.startswith("lacks")} == {}
    assert list(found.values()).count("") > 0.95 * len(found)
