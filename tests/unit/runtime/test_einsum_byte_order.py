"""Operands of foreign byte order: what is computed is native, and what is only moved stays as it was, unless
`dtype=` asks for another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.ops import REDUCTIONS

FOREIGN = ">" if np.little_endian else "<"
KINDS = ["f2", "f4", "f8", "c8", "c16", "i2", "i4", "i8", "u4"]
MOVES = ["a b -> a b", "a b -> b a", "a b -> 2 a b", "a b -> (b a)", "a (b c=1) -> a c b", "a b -> 1 a b"]
PRODUCTS = [
    "a b -> a : sum",
    "a b -> b : prod",
    "a b, a c -> b c",
    "a b, a b -> a b",
    "a b, c b -> a c : max",
]
OTHER_DTYPES = {"any", "all", "argmax", "argmin", "count_nonzero"}


def foreign(kind: str, shape: tuple[int, ...] = (3, 4)) -> np.ndarray:
    return (np.arange(np.prod(shape)).reshape(shape) % 5 + 1).astype(FOREIGN + kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", [*MOVES, *PRODUCTS])
def test_with_dtype_the_result_has_it_in_native_order(text: str, kind: str) -> None:
    operands = [foreign(kind)] * (1 + text.count(","))
    for order in ("=", FOREIGN):
        for wanted in (kind, {"f": "f8", "c": "c16", "i": "i8", "u": "u8"}[kind[0]]):
            for options in ({}, {"order": "C"}, {"memory_limit": 10**6}):
                result = ne.einsum(text, *operands, dtype=order + wanted, **options)  # type: ignore[arg-type]
                assert result.dtype == np.dtype(wanted) and result.dtype.isnative
                plain = [operand.astype(kind) for operand in operands]
                np.testing.assert_array_equal(result, ne.einsum(text, *plain, dtype=wanted))


@pytest.mark.parametrize("text", ["a a -> a", "a a a -> a", "a a -> a a", "a -> a a", "a a -> : sum"])
def test_diagonals_are_cast_as_well(text: str) -> None:
    x = foreign("f4", (3,) * text.partition("->")[0].count("a"))
    result = ne.einsum(text, x, dtype="f4")
    assert result.dtype == np.float32 and result.dtype.isnative
    np.testing.assert_array_equal(result, ne.einsum(text, x.astype("f4")))


@pytest.mark.parametrize("shape", [(3, 4), (3, 0), (0, 4), (0, 0), (20, 5)])
@pytest.mark.parametrize("reducer", sorted(REDUCTIONS))
def test_what_is_reduced_is_native(reducer: str, shape: tuple[int, int]) -> None:
    for kind in KINDS:
        x, text = foreign(kind, shape), f"a b -> a : {reducer}"
        try:
            want: Any = ne.einsum(text, x.astype(kind))
        except ne.NameExprError as fault:
            with pytest.raises(type(fault)):
                ne.einsum(text, x)
            continue
        result = ne.einsum(text, x)
        assert result.dtype == want.dtype and result.dtype.isnative
        np.testing.assert_allclose(result, want, rtol=1e-3)
        if reducer not in OTHER_DTYPES and kind[0] == "f":
            assert ne.einsum(text, x, dtype=kind).dtype == np.dtype(kind)


@pytest.mark.parametrize("text", MOVES)
def test_what_is_only_moved_keeps_its_dtype(text: str) -> None:
    x = foreign("f4")
    result = ne.einsum(text, x)
    assert result.dtype == x.dtype
    assert np.shares_memory(result, x) == (text not in {"a b -> 2 a b", "a b -> (b a)"})


def test_bound_operands_and_tensors_are_cast_too() -> None:
    x = foreign("f4")
    tensor = ne.einsum("a b -> b a", ne.from_numpy(x, names="a b"), dtype=np.float32)
    assert tensor.numpy().dtype.isnative and tensor.names == ("b", "a")
    bound = ne.compile("a b, a b -> b a", dtype=np.float32).bind({0: x})
    assert bound(x).dtype == np.float32 and bound(x).dtype.isnative
    assert ne.compile("a b -> b a", dtype=np.float32).bind({0: x})().dtype.isnative


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_operators_and_formulas_compute_in_native_order(kind: str) -> None:
    x = foreign(kind)
    tensor = ne.from_numpy(x, names="a b")
    for name in ("mean", "softmax", "log_softmax", "logsumexp", "sum", "std", "prod", "cumsum"):
        made = getattr(tensor, name)("b")
        assert made.numpy().dtype.isnative, name
        want = getattr(ne.from_numpy(x.astype(kind), names="a b"), name)("b")
        np.testing.assert_array_equal(made.numpy(), want.numpy())
    for name in ("mean", "softmax", "log_softmax", "logsumexp", "sum", "std", "median", "cumsum"):
        formula = f"{name}[b](x[a b])"
        assert ne.evaluate(formula, x=x).dtype.isnative, name
        np.testing.assert_array_equal(ne.evaluate(formula, x=x), ne.evaluate(formula, x=x.astype(kind)))


def test_unsigned_integers_are_added_as_such() -> None:
    x = ne.from_numpy(np.array([2**63, 5], FOREIGN + "u8"))
    assert int(x.sum()) == int(x.cumsum(0)[-1]) == 2**63 + 5
    assert x.sum().dtype == x.cumsum(0).dtype == np.uint64
