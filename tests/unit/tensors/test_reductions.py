"""Reductions on generated tensors, compared with loops over Python's numbers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne
from oracle.operators import (
    Array,
    Expected,
    Names,
    Refused,
    checked_written,
    named_shapes,
    removed_names,
    values,
)

Row = Sequence[float]


def mean(row: Row) -> float:
    return math.fsum(row) / len(row) if row else math.nan


def spread(correction: float) -> Callable[[Row], float]:
    """The variance with a correction; of too few elements 0 / 0 or x / 0."""

    def var(row: Row) -> float:
        total = math.fsum((v - mean(row)) ** 2 for v in row)
        divisor = max(0.0, len(row) - correction)
        return total / divisor if divisor else math.inf if total else math.nan

    return var


def logsumexp(row: Row) -> float:
    if not row:
        return -math.inf
    return max(row) + math.log(math.fsum(math.exp(v - max(row)) for v in row))


def p_norm(p: float) -> Callable[[Row], float]:
    return lambda row: float(sum(abs(v) ** p for v in row)) ** (1 / p)


LOOPS: dict[str, tuple[Callable[[Row], Any], dict[str, Any]]] = {
    "sum": (sum, {}),
    "prod": (math.prod, {}),
    "mean": (mean, {}),
    "var": (spread(1), {}),
    "std": (lambda row: math.sqrt(spread(1)(row)), {}),
    "logsumexp": (logsumexp, {}),
    "all": (all, {}),
    "any": (any, {}),
    "amax": (max, {}),
    "amin": (min, {}),
    "count_nonzero": (lambda row: sum(v != 0 for v in row), {}),
    "norm": (p_norm(2), {}),
}
VARIANTS: dict[str, list[tuple[Callable[[Row], Any], dict[str, Any]]]] = {
    "var": [
        (spread(0), {"correction": 0}),
        (spread(0), {"unbiased": False}),
        (spread(2.5), {"correction": 2.5}),
    ],
    "std": [(lambda row: math.sqrt(spread(0)(row)), {"correction": 0})],
    "norm": [
        (p_norm(1), {"p": 1}),
        (p_norm(3), {"p": 3}),
        (lambda row: sum(v != 0 for v in row), {"p": 0}),
        (lambda row: max(map(abs, row)), {"p": math.inf}),
        (lambda row: min(map(abs, row)), {"p": -math.inf}),
    ],
}
RESULTS: dict[str, Any] = {
    "sum": np.int64,
    "prod": np.int64,
    "all": bool,
    "any": bool,
    "count_nonzero": np.int64,
}


def reduced(array: Array, dims: Sequence[int], loop: Callable[[Row], Any], *, keepdim: bool) -> Array:
    """Each result from the list of elements that it combines."""
    kept = [place for place in range(array.ndim) if place not in dims]
    if 0 in [array.shape[place] for place in dims]:
        loop = _of_nothing(loop)
    result = np.empty([array.shape[place] for place in kept])
    for cell in np.ndindex(result.shape):
        index = dict(zip(kept, cell, strict=True))
        part = array[tuple(index.get(place, slice(None)) for place in range(array.ndim))]
        result[cell] = loop(part.ravel().tolist())
    if keepdim:
        return result.reshape([1 if place in dims else size for place, size in enumerate(array.shape)])
    return result


def _of_nothing(loop: Callable[[Row], Any]) -> Callable[[Row], Any]:
    """The largest of no elements is rejected, even where there is no result to write it into."""
    try:
        value = loop([])
    except ValueError as empty:
        raise Refused(str(empty)) from empty
    return lambda row: value


def result_dtype(verb: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    if verb in ("all", "any", "count_nonzero") or (verb in RESULTS and dtype.kind in "ib"):
        return np.dtype(RESULTS[verb])
    if dtype.kind in "ib" and verb in ("mean", "var", "std", "logsumexp", "norm"):
        return np.dtype(np.float64)
    return dtype


@st.composite
def some_dims(draw: st.DrawFn, names: Names) -> tuple[Any, tuple[int, ...]]:
    """Dims as an argument, by name or position, and their positions."""
    if not names or draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from([None, [], ()])), tuple(range(len(names)))
    dims = draw(st.lists(st.sampled_from(range(len(names))), min_size=1, unique=True))
    words: list[Any] = [names[place] if names[place] and draw(st.booleans()) else place for place in dims]
    words = [word - len(names) if isinstance(word, int) and draw(st.booleans()) else word for word in words]
    if len(words) == 1 and draw(st.booleans()):
        word = words[0]
        return (np.int64(word) if isinstance(word, int) and draw(st.booleans()) else word), tuple(dims)
    if all(isinstance(word, str) for word in words) and draw(st.booleans()):
        return " ".join(words), tuple(dims)
    return draw(st.sampled_from([words, tuple(words)])), tuple(dims)


def assert_reduced(
    call: Callable[[], Any], wanted: Callable[[], Array], names: Names, dtype: Any, what: str
) -> None:
    try:
        with np.errstate(all="ignore"):
            array = wanted()
    except Refused:
        with pytest.raises(ne.NameExprError):
            pytest.fail(f"{what} gave {call()}")
        return
    result = call()
    assert result.names == names, what
    assert result.dtype == dtype, what
    assert result.shape == array.shape, what
    np.testing.assert_allclose(result.numpy().astype(float), array, rtol=1e-6, atol=1e-9, err_msg=what)


@settings(max_examples=150)
@given(st.data())
def test_reductions(data: st.DataObject) -> None:
    names, shape = data.draw(named_shapes())
    dtype = data.draw(st.sampled_from([np.dtype(kind) for kind in (float, np.int64, bool, np.float32)]))
    dim, dims = data.draw(some_dims(names))
    keepdim = data.draw(st.booleans())
    array = values(data.draw(st.integers(0, 99)), shape, dtype)
    x = ne.from_numpy(array.copy(), names=names)
    for verb, first in LOOPS.items():
        for loop, options in [first, *VARIANTS.get(verb, [])]:
            options = {**options, "keepdim": keepdim, "dim": dim}
            if dim is None and verb in ("prod", "logsumexp"):
                options["dim"] = []

            def wanted(loop: Any = loop) -> Array:
                return reduced(array, dims, loop, keepdim=keepdim)

            right = removed_names(names, dims, keepdim), result_dtype(verb, dtype)
            what = f"{dtype} {shape} {names}: {verb} {options}"
            assert_reduced(lambda v=verb, o=options: getattr(x, v)(**o), wanted, *right, what)
            assert_reduced(lambda v=verb, o=options: getattr(ne, v)(x, **o), wanted, *right, what)
    np.testing.assert_array_equal(x.numpy(), array)


@settings(max_examples=40)
@given(st.data())
def test_out_of_reductions(data: st.DataObject) -> None:
    names, shape = data.draw(named_shapes(most=3))
    dim, dims = data.draw(some_dims(names))
    array = values(3, shape)
    x = ne.from_numpy(array, names=names)
    result = Expected(removed_names(names, dims, keepdim=False), reduced(array, dims, sum, keepdim=False))
    size, rank = result.array.shape, result.array.ndim
    targets = [ne.from_numpy(np.full(size, 9.0), names=result.names), ne.from_numpy(np.full(size, 9.0))]
    targets += [ne.from_numpy(np.full((5, 5), 9.0), names="A B"), ne.from_numpy(np.full(size, 9))]
    targets += [ne.from_numpy(np.full(size, 9.0), names=["Z"] * (rank > 0) + [None] * (rank - 1))]
    for out in targets:
        before = Expected(out.names, out.numpy().copy())
        try:
            after = checked_written(out, result, is_out=True)
        except Refused:
            after = before
            with pytest.raises(ne.NameExprError):
                x.sum(dim, out=out)
        else:
            assert x.sum(dim, out=out) is out
        assert out.names == after.names
        np.testing.assert_array_equal(out.numpy(), after.array)


@settings(max_examples=60)
@given(st.data())
def test_std_mean_and_var_mean_are_pairs(data: st.DataObject) -> None:
    names, shape = data.draw(named_shapes())
    dim, _ = data.draw(some_dims(names))
    x = ne.from_numpy(values(5, shape), names=names)
    for verb in ("std", "var"):
        for options in ({}, {"keepdim": True}, {"correction": 0}):
            pair = getattr(ne, verb + "_mean")(x, dim, **options)
            kept = {"keepdim": options.get("keepdim", False)}
            for one, other in zip(pair, (getattr(x, verb)(dim, **options), x.mean(dim, **kept)), strict=True):
                assert one.names == other.names
                np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.parametrize("verb", LOOPS)
@pytest.mark.parametrize(
    "dim", ["Q", ["N", "Q"], ["N", "N"], ["N", 0], [0, -2], 2, -3, [None], 1.5, True, "N Q"]
)
def test_a_bad_dim_is_an_error_of_ours(verb: str, dim: Any) -> None:
    x = ne.tensor([[1.0, 2.0], [3.0, 4.0]], names="N C")
    if dim is True and verb in ("std", "var"):
        return  # their first argument may be `unbiased`
    with pytest.raises(ne.NameExprError):
        getattr(x, verb)(dim=dim)


def test_the_dim_of_prod_and_logsumexp_is_not_none() -> None:
    x = ne.tensor([[1.0, 2.0]], names="N C")
    assert x.prod().item() == 2.0
    for refused in (lambda: x.prod(None), lambda: x.logsumexp(None)):
        with pytest.raises(ne.NameExprError):
            refused()


def test_a_bool_in_the_place_of_the_dim_is_unbiased() -> None:
    x = ne.tensor([[1.0, 3.0], [5.0, 9.0]], names="N C")
    flat = [1.0, 3.0, 5.0, 9.0]
    assert x.var(False).item() == pytest.approx(statistics.pvariance(flat))
    assert x.var(True).item() == pytest.approx(statistics.variance(flat))
    assert x.std("C", False).tolist() == pytest.approx([1.0, 2.0])
    with pytest.raises(ne.NameExprError, match="NE673"):
        x.std("C", unbiased=True, correction=1)


@pytest.mark.parametrize(("verb", "of_nothing"), [("sum", 0), ("prod", 1), ("all", True), ("any", False)])
def test_sums_of_integers_are_int64_unless_told_otherwise(verb: str, of_nothing: Any) -> None:
    for dtype in ("int8", "uint8", "int32", "bool"):
        x = ne.tensor([[100, 100]], dtype=dtype, names="N C")
        if verb in ("sum", "prod"):
            assert getattr(x, verb)("C").dtype == np.int64
            assert getattr(x, verb)("C", dtype="int8").dtype == np.int8
            assert getattr(x, verb)("C", dtype="float32").dtype == np.float32
    assert ne.tensor([100, 100], dtype="int8").sum().item() == 200
    assert ne.tensor([2**63], dtype="uint64").sum().item() == 2**63
    assert getattr(ne.zeros(0, dtype="int64"), verb)().item() == of_nothing


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "uint64"])
@pytest.mark.parametrize("axis", [0, 1, None, (0, 1)])
def test_mean_std_and_var_of_integers_are_those_of_numpy(dtype: str, axis: Any) -> None:
    array = np.array([[100, 100, 3], [0, 120, 1]]).astype(dtype)
    x, dim = ne.tensor(array, names="N C"), list(axis) if isinstance(axis, tuple) else axis
    for mine, theirs in (
        (x.mean(dim), np.mean(array, axis)),
        (x.std(dim), np.std(array, axis, ddof=1)),
        (x.var(dim, correction=0), np.var(array, axis)),
    ):
        assert mine.dtype == np.float64
        np.testing.assert_allclose(mine.numpy(), theirs, rtol=1e-15)


def test_a_mean_of_integers_has_the_default_dtype_and_is_rounded_once() -> None:
    array = np.full(2**24 + 2, 2**24 + 1)
    ne.set_default_dtype(ne.float32)
    try:
        x = ne.from_numpy(array)
        assert [x.mean().dtype, x.std().dtype, x.var(correction=0).dtype] == [np.float32] * 3
        assert x.mean().item() == np.float32(array.mean()) and x.var().item() == 0
        assert ne.arange(3).mean(dtype="float64").dtype == np.float64
    finally:
        ne.set_default_dtype(ne.float64)


def test_nan_is_passed_on() -> None:
    x = ne.tensor([[1.0, math.nan], [2.0, 3.0]], names="N C")
    for verb in ("sum", "prod", "mean", "amax", "amin", "norm", "std", "logsumexp"):
        result = getattr(x, verb)(dim="C").tolist()
        assert math.isnan(result[0]) and not math.isnan(result[1]), verb
    assert x.any("C").tolist() == [True, True] and x.count_nonzero("C").tolist() == [2, 2]


def test_infinities_are_numbers() -> None:
    x = ne.tensor([[math.inf, 1.0], [-math.inf, -math.inf]], names="N C")
    assert x.logsumexp("C").tolist() == [math.inf, -math.inf]
    assert x.amax("N").tolist() == [math.inf, 1.0]
    assert ne.tensor([1000.0, 1000.0]).logsumexp(0).item() == pytest.approx(1000 + math.log(2))


ONLY_DIM = ("sum", "prod", "mean", "std", "var", "logsumexp", "all", "any", "amax", "amin", "count_nonzero")


@pytest.mark.parametrize("verb", [*ONLY_DIM, "norm", "squeeze", "flip"])
@pytest.mark.parametrize("dim", [0, -1])
def test_a_0d_tensor_has_dim_0_in_a_list_too(verb: str, dim: int) -> None:
    method = getattr(ne.tensor(2.0), verb)
    reduced = (lambda dim: method(dim=dim)) if verb == "norm" else method
    alone = reduced(dim)
    for listed in ([dim], (dim,)):
        result = reduced(listed)
        assert result.shape == () and result.dtype == alone.dtype
        np.testing.assert_equal(result.item(), alone.item())


def test_functions_take_lists_of_dims_of_a_0d_tensor() -> None:
    x = ne.tensor(2.0)
    for pair in (ne.var_mean(x, [0], correction=0), ne.std_mean(x, [-1], correction=0)):
        assert [part.tolist() for part in pair] == [0.0, 2.0]
    assert np.sum(x, axis=(0,)).item() == np.mean(x, axis=(-1,), keepdims=True).item() == 2.0
    assert np.add.reduce(x, axis=(0,)).item() == 2.0
