"""Random texts on arrays of JAX against the answers of NumPy, within the bound of the dtype."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.tensors import wrap
from oracle.generate import expressions, formulas
from oracle.reference.formulas import answers
from oracle.reference.rounding import distance

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

EXPRESSIONS, FORMULAS = range(60), range(40)
"""Seeds of each run; thousands of them agree."""
REDUCERS: dict[str, Callable[..., Any]] = {
    "weighted": lambda x, axis: jnp.moveaxis(x, axis, -1) @ jnp.arange(x.shape[axis]),
    "last": lambda x, axis: jnp.take(x, -1, axis),
}


def on_numpy(operand: Any) -> Any:
    """Return an operand with its names."""
    return wrap(operand.array, operand.names) if hasattr(operand, "names") else operand


def on_jax(operand: Any) -> Any:
    """Return an array, or a tensor, as one of JAX; numbers are kept."""
    if hasattr(operand, "names"):
        return ne.tensor(jnp.asarray(operand.array), names=operand.names)
    return jnp.asarray(operand) if isinstance(operand, np.ndarray) else operand


def array_of(operand: Any) -> Any:
    """Return the array of an operand or a result."""
    return getattr(operand, "array", getattr(operand, "_data", operand))


def tuple_of(results: Any) -> tuple[Any, ...]:
    """Return one or several results as a tuple."""
    return results if isinstance(results, tuple) else (results,)


def is_close(actual: Any, expected: Any, cells: int, scale: float) -> bool:
    """Return whether values agree within the bound of the narrower dtype; integers are equal."""
    if actual.dtype.kind in "biu" and expected.dtype.kind in "biu":
        return bool(np.array_equal(actual, expected))
    eps = max(float(np.finfo(one.dtype).eps) for one in (actual, expected) if one.dtype.kind in "fc")
    wide = complex if "c" in (actual.dtype.kind, expected.dtype.kind) else float
    with np.errstate(all="ignore"):
        got, want = actual.astype(wide), expected.astype(wide)
        bound = eps * 16 * np.abs(want) + 4 * eps * (cells + 8) * scale
        is_near = (np.abs(got - want) <= bound) & np.isfinite(want)
    return bool(np.all(is_near | (got == want) | (np.isnan(got) & np.isnan(want))))


@pytest.fixture(autouse=True)
def _quiet(in_64_bits: None) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # of constants that overflow
        yield


@pytest.mark.slow
@pytest.mark.parametrize("seed", EXPRESSIONS)
def test_expressions_agree_with_numpy(seed: int) -> None:
    case = expressions.seeded_case(seed)
    if not any(isinstance(array_of(one), np.ndarray) for one in case.operands):
        return
    expected = tuple_of(case.run(ne.einsum, on_numpy))
    reduce = REDUCERS[case.reduce.__name__] if callable(case.reduce) else case.reduce
    case = replace(case, operands=tuple(map(on_jax, case.operands)), reduce=reduce)
    for one, other in zip(tuple_of(case.run(ne.einsum)), expected, strict=True):
        assert isinstance(array_of(one), jax.Array)
        assert (one.shape, getattr(one, "names", None)) == (other.shape, getattr(other, "names", None))
        assert is_close(np.asarray(array_of(one)), array_of(other), case.cells, case.scale), case.text


@pytest.mark.slow
@pytest.mark.parametrize("seed", FORMULAS)
def test_formulas_agree_with_numpy(seed: int) -> None:
    case = formulas.seeded_case(seed)
    if not any(isinstance(array_of(one), np.ndarray) for one in case.operands.values()):
        return
    expected, bounds = tuple_of(case.run(ne.evaluate, on_numpy)), case.run(answers)
    case = replace(case, operands={name: on_jax(one) for name, one in case.operands.items()})
    for one, other, bound in zip(tuple_of(case.run(ne.evaluate)), expected, bounds, strict=True):
        assert (one.shape, getattr(one, "names", None)) == (other.shape, getattr(other, "names", None))
        array, other = np.asarray(array_of(one)), array_of(other)
        if array.dtype == other.dtype:
            assert np.all(distance(array, bound.array) <= 4 * bound.error), case.text
        else:
            largest = float(np.nanmax(np.where(np.isfinite(other), np.abs(other), 0), initial=1))
            assert is_close(array, other, 1000, largest), case.text
