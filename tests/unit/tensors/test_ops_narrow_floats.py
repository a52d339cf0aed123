"""Every operator on float16 and bfloat16, compared with the same call in float32 that is rounded once.

The data overflow, stall or underflow where something is added, multiplied or squared in the narrow dtype.
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.tensors.ops import OPS

BFLOAT16: Any = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
NARROW = (pytest.param(np.float16, id="float16"), pytest.param(BFLOAT16, id="bfloat16"))
KINDS = ("large", "even", "tiny", "huge", "ratios", "units", "odd")
Call = Callable[[Any, Any], Any]
SHAPE = (50, 100)

for _name in ne.__all__:
    getattr(ne, _name)  # operators are known once their modules are loaded, and those load on use

ALONG = ("sum", "prod", "mean", "std", "var", "logsumexp", "all", "any", "amax", "amin", "count_nonzero")
WITHOUT_NAN = ("nansum", "nanmean", "nanstd", "nanvar")
CHOSEN = ("median", "nanmedian", "mode", "kthvalue", "max", "min", "argmax", "argmin", "sort", "argsort")
EACH = (
    *("exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "sqrt", "rsqrt", "reciprocal", "square"),
    *("sigmoid", "relu", "erf", "erfc", "erfinv", "digamma", "abs", "neg", "positive", "sign", "sgn", "ceil"),
    *("floor", "trunc", "frac", "logical_not", "isnan", "isinf", "isfinite", "round", "sin", "cos", "tan"),
    *("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "deg2rad", "rad2deg"),
    *("clone", "detach", "contiguous", "bool", "double", "t", "cpu"),
)
PAIRED = (
    *("add", "sub", "mul", "div", "pow", "atan2", "floor_divide", "remainder", "hypot", "maximum", "minimum"),
    *("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"),
)


def flat(x: Any) -> Any:
    """Return all cells in one dim."""
    return x.flatten(["N", "C"], "M")


def batches(x: Any) -> Any:
    """Return two batches of 25 rows."""
    return x.unflatten("N", (("B", 2), ("N", 25))).rename(None)


CALLS: dict[str, list[Call]] = {
    **{name: [lambda x, _, name=name: getattr(x, name)("C")] for name in (*ALONG, *WITHOUT_NAN)},  # type: ignore[misc]
    **{name: [lambda x, _, name=name: getattr(x, name)()] for name in EACH},  # type: ignore[misc]
    **{name: [lambda x, y, name=name: getattr(x, name)(y)] for name in PAIRED},  # type: ignore[misc]
    "cumsum": [lambda x, _: x.cumsum("N"), lambda x, _: flat(x).cumsum(0)],
    "cumprod": [lambda x, _: x.cumprod("N"), lambda x, _: x.cumprod("C")],
    "cummax": [lambda x, _: x.cummax("C")],
    "cummin": [lambda x, _: x.cummin("N")],
    "softmax": [lambda x, _: x.softmax("C"), lambda x, _: x.softmax("N")],
    "log_softmax": [lambda x, _: x.log_softmax("C")],
    "norm": [lambda x, _, p=p: x.norm(p, "C") for p in (0, 1, 2, 3, 0.5, np.inf, -np.inf)],  # type: ignore[misc]
    "std_mean": [lambda x, _: ne.std_mean(x, "C")],
    "var_mean": [lambda x, _: ne.var_mean(x, "N")],
    "median": [lambda x, _: x.median("C"), lambda x, _: x.median()],
    "nanmedian": [lambda x, _: x.nanmedian("C"), lambda x, _: x.nanmedian()],
    "mode": [lambda x, _: x.mode("C")],
    "quantile": [lambda x, _: x.quantile(0.3, "C"), lambda x, _: x.quantile([0.5, 1], "N")],
    "nanquantile": [lambda x, _: x.nanquantile(0.3, "C")],
    "diff": [lambda x, _: x.diff("C")],
    "kthvalue": [lambda x, _: x.kthvalue(7, "C")],
    "topk": [lambda x, _: x.topk(5, "C").values, lambda x, _: x.topk(5, "C", largest=False).values],
    "max": [lambda x, _: x.max(), lambda x, _: x.max("C")],
    "min": [lambda x, _: x.min(), lambda x, _: x.min("C")],
    "argmax": [lambda x, _: x.argmax(), lambda x, _: x.argmax("C")],
    "argmin": [lambda x, _: x.argmin(), lambda x, _: x.argmin("C")],
    "sort": [lambda x, _: x.sort("C"), lambda x, _: x.sort("C", descending=True)],
    "argsort": [lambda x, _: x.argsort("C")],
    "clamp": [lambda x, y: x.clamp(-1, 250), lambda x, y: x.clamp(min=y)],
    "matmul": [lambda x, y: x.matmul(y.t().rename(None)), lambda x, y: x[0].matmul(y[0].rename(None))],
    "mm": [lambda x, y: x.mm(y.t().rename(None))],
    "mv": [lambda x, y: x.mv(y[0].rename(None))],
    "bmm": [lambda x, y: batches(x).bmm(batches(y).transpose(1, 2))],
    "dot": [lambda x, y: x[0].dot(y[0]), lambda x, y: flat(x).dot(flat(y))],
    "addmm": [
        lambda x, y: x[:, :50].rename(None).addmm(x.rename(None), y.t().rename(None), alpha=0.01, beta=3)
    ],
    "addmv": [lambda x, y: x[:, 0].rename(None).addmv(x.rename(None), y[0].rename(None), alpha=0.01)],
    "tensordot": [lambda x, y: ne.tensordot(x, y.rename(N="M"), (["C"], ["C"]))],
    "where": [lambda x, y: x.where(x > 1, y), lambda x, y: x.where(x > 1, 0.0)],
    "masked_fill": [lambda x, y: x.masked_fill(y > 1, 2.5)],
    "masked_select": [lambda x, y: x.masked_select(y > 1)],
    "index_fill": [lambda x, _: x.index_fill("C", [0, 3], 2.5)],
    "index_select": [lambda x, _: x.index_select("C", [0, 3])],
    "gather": [lambda x, y: x.gather("C", y.argsort("C"))],
    "fill_": [lambda x, _: x.clone().fill_(2.5)],
    "zero_": [lambda x, _: x.clone().zero_()],
    "copy_": [lambda x, y: x.clone().copy_(y)],
    "flip": [lambda x, _: x.flip("C")],
    "roll": [lambda x, _: x.roll(3, "C")],
    "cat": [lambda x, y: ne.cat([x, y], "C")],
    "stack": [lambda x, y: ne.stack([x, y], 0)],
    "equal": [lambda x, y: x.equal(y), lambda x, _: x.equal(x.clone())],
    "item": [lambda x, _: x[0, 0].item()],
    "tolist": [lambda x, _: x[0].tolist()],
    "full_like": [lambda x, _: ne.full_like(x, 2.5)],
    "ones_like": [lambda x, _: ne.ones_like(x)],
    "zeros_like": [lambda x, _: ne.zeros_like(x)],
}
CALLS["sum"] += [lambda x, _: x.sum(), lambda x, _: x.sum("N"), lambda x, _: x.sum(dtype="float64")]
CALLS["mean"] += [lambda x, _: x.mean(), lambda x, _: x.mean("N"), lambda x, _: x.mean(dtype="float64")]
CALLS["prod"] += [lambda x, _: x.prod("N"), lambda x, _: x.prod()]
CALLS["std"] += [lambda x, _: x.std(), lambda x, _: x.std("N", correction=0)]
CALLS["logsumexp"] += [lambda x, _: x.logsumexp(["N", "C"])]
CALLS["add"] += [lambda x, y: x.add(y, alpha=300), lambda x, _: x + 2.5, lambda x, _: 2 + x]
CALLS["sub"] += [lambda x, y: x.sub(y, alpha=0.3), lambda x, _: 2.5 - x]
CALLS["div"] += [lambda x, y, m=m: x.div(y, rounding_mode=m) for m in ("trunc", "floor")]  # type: ignore[misc]
CALLS["lt"] += [lambda x, _: x < 0.5, lambda x, _: x[:, 3] < x.amax("C")]

MOVED = """
select unbind isel squeeze diagonal narrow split chunk expand transpose swapaxes permute movedim unsqueeze
align_to align_as flatten unflatten names dims has_names rename rename_ refine_names resize_ resize_as_
"""
"""What moves cells or is about names: values are as they were."""
OTHERS = """
to type_as float byte char short int long half bfloat16 cuda bernoulli bernoulli_ normal normal_ log_normal_
uniform_ exponential_ cauchy_ random_ rand randn rand_like randn_like requires_grad_ detach_ tensor zeros ones
empty full empty_like arange bitwise_not bitwise_and bitwise_or bitwise_xor
"""
"""Conversions, random numbers, what is given no cells, and what floats do not have."""


def data(kind: str, dtype: Any, seed: int) -> Any:
    """Return 5,000 cells whose sums, squares or products leave the dtype in some way."""
    rng = np.random.default_rng(seed)
    cells = {
        "large": rng.normal(300, 100, SHAPE),
        "even": np.full(SHAPE, 0.1),
        "tiny": rng.normal(0, 1e-4, SHAPE),
        "huge": rng.choice([6e4, -6e4], SHAPE),
        "ratios": rng.normal(1, 0.2, SHAPE),
        "units": rng.uniform(-1, 1, SHAPE),
        "odd": rng.choice(
            [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5, 3e4],
            SHAPE,
            p=[0.01] * 3 + [0.2, 0.2, 0.2, 0.2, 0.17],
        ),
    }[kind]
    return ne.from_numpy(cells.astype(dtype), names="N C")


def leaves(result: Any) -> Iterator[Any]:
    """Yield the arrays of a result."""
    if isinstance(result, tuple | list) and not isinstance(result, ne.NamedTensor):
        for part in result:
            yield from leaves(part)
    else:
        yield result.numpy() if isinstance(result, ne.NamedTensor) else np.asarray(result)


def ranks(x: Any) -> Any:
    """Return where each narrow float stands in the order of all."""
    bits = x.view(np.int16).astype(np.int64)
    return np.where(bits < 0, -32768 - bits, bits)


def agrees(found: Any, wide: Any, dtype: Any) -> bool:
    """Whether a result is the one in float32, rounded: to the next float, since float32 is rounded too."""
    if wide.dtype != np.float32:
        return bool(
            found.dtype == wide.dtype and np.array_equal(found, wide, equal_nan=wide.dtype.kind == "f")
        )
    with np.errstate(over="ignore"):
        expected = wide.astype(dtype)
    if found.dtype != dtype or found.shape != expected.shape:
        return False
    missing = np.isnan(wide)
    apart = np.abs(ranks(np.ascontiguousarray(found)) - ranks(np.ascontiguousarray(expected)))
    return bool((np.isnan(found) == missing).all() and (apart[~missing] <= 1).all())


def computed(call: Call, x: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        return call(x, y)


def test_every_operator_is_looked_at() -> None:
    answers = {op.name for op in OPS.values() if op.rule == "answers"}
    known = {*CALLS, *MOVED.split(), *OTHERS.split(), *answers}
    assert {op.name for op in OPS.values() if not op.twin_of} == known


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("name", CALLS)
def test_every_operator_rounds_what_float32_gives(name: str, dtype: Any) -> None:
    for kind in KINDS:
        x, y = data(kind, dtype, 1), data(kind, dtype, 2)
        for number, call in enumerate(CALLS[name]):
            found = list(leaves(computed(call, x, y)))
            wide = list(leaves(computed(call, x.float(), y.float())))
            assert len(found) == len(wide)
            assert all(agrees(*pair, x.dtype) for pair in zip(found, wide, strict=True)), (kind, number)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("name", [op.name for op in OPS.values() if op.twin_of in {*EACH, *PAIRED}])
def test_twins_write_what_their_operators_give(name: str, dtype: Any) -> None:
    x, y = data("odd", dtype, 1), data("odd", dtype, 2)
    operands = (y,) if name[:-1] in PAIRED else ()
    expected = computed(lambda x, _: getattr(x, name[:-1])(*operands), x, y)
    if expected.dtype in (x.dtype, np.bool_):
        written = computed(lambda x, _: getattr(x.clone(), name)(*operands), x, y)
        assert np.array_equal(written.double().numpy(), expected.double().numpy(), equal_nan=True)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("given", ["float64", "float32", "int64"])
def test_a_narrow_dtype_that_is_asked_for_is_rounded_to_once(given: str, dtype: Any) -> None:
    x = ne.ones(5000).to(given)
    for found in (x.sum(dtype=dtype), x.mean(dtype=dtype) * 5000, x.cumsum(0, dtype=dtype)[-1]):
        assert found.dtype == dtype
        assert found.item() == np.asarray(5000, dtype).item()
    assert x.prod(dtype=dtype) == x.cumprod(0, dtype=dtype)[-1] == 1


@pytest.mark.parametrize("dtype", NARROW)
def test_sums_are_those_of_exact_arithmetic(dtype: Any) -> None:
    cells = np.random.default_rng(5).normal(3, 1, 5000).astype(dtype)
    x = ne.from_numpy(cells)
    exact = [float(cell) for cell in cells]
    mean = math.fsum(exact) / len(exact)
    spread = math.sqrt(math.fsum((cell - mean) ** 2 for cell in exact) / (len(exact) - 1))
    length = math.sqrt(math.fsum(cell * cell for cell in exact))
    powers = math.log(math.fsum(map(math.exp, exact)))
    for found, truth in (
        (x.sum(), math.fsum(exact)),
        (x.mean(), mean),
        (x.std(), spread),
        (x.norm(), length),
        (x.logsumexp(0), powers),
        (x.cumsum(0)[-1], math.fsum(exact)),
        (x.dot(x), length**2),
    ):
        assert found.item() == np.asarray(truth, dtype).item()


def test_scores_of_pytorch_are_met() -> None:
    half = ne.tensor([300.0, 400.0]).half()
    assert half.norm() == 500
    assert ne.tensor([0.0, 1000.0]).half().std() == 707
    assert ne.zeros(70000).half().logsumexp(0).item() == np.float16(math.log(70000))
    ones = ne.ones(70000).bfloat16()
    assert (ones.sum().item(), ones.norm().item(), ones.cumsum(0)[-1].item()) == (70144, 264, 70144)


def test_nan_of_bfloat16_warns_of_nothing() -> None:
    x = ne.tensor([1.0, float("nan"), 3.0]).bfloat16()
    with np.errstate(all="raise"):
        x.max(), x.min(), x.max(0), x.argmin(), x.amax(), x.sort(0), x.cummax(0), x.median(0), x.topk(2)
        x < x.flip(0), x >= 1.5, x.maximum(x), x.minimum(2.0), x.clamp(0, 1), x.eq(x)


def test_numbers_of_python_are_weak_beside_bfloat16() -> None:
    x = ne.ones(3).bfloat16()
    assert {(x * 2.5).dtype, (2.5 - x).dtype, (x + 2).dtype, x.clamp(0.5, 2).dtype} == {BFLOAT16}
    assert {x.where(x > 0, 0.0).dtype, x.add(2.5, alpha=0.5).dtype, (x**0.5).dtype} == {BFLOAT16}
    assert ne.ones(3, dtype="float32").add(2.0, alpha=0.5).dtype == np.float32


def test_bfloat16_is_a_default_dtype() -> None:
    ne.set_default_dtype("bfloat16")
    try:
        counted = ne.arange(5000)
        assert counted.norm().item() == np.asarray(math.sqrt(sum(n * n for n in range(5000))), BFLOAT16)
        assert (counted * 0.5).dtype == counted.sqrt().dtype == BFLOAT16
        assert ne.full((3,), 0.5).bernoulli().dtype == BFLOAT16
    finally:
        ne.set_default_dtype("float64")


def test_bfloat16_is_known_by_its_name_alone() -> None:
    code = """
import sys
import nameexpr as ne
assert "ml_dtypes" not in sys.modules
assert ne.zeros(2, dtype="bfloat16").dtype.name == ne.ones(2).to("bfloat16").dtype.name == "bfloat16"
"""
    subprocess.run([sys.executable, "-c", code], check=True)
