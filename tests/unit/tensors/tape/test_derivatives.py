"""The derivative of every operator that has one, compared with differences of its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.tensors.tape.pointwise import ONE

Function = Callable[..., Any]


def shuffled(*shape: int) -> Any:
    """Return elements that differ by more than the steps of the differences."""
    count = int(np.prod(shape))
    return (np.random.default_rng(5).permutation(count).reshape(shape) + 0.5) / count * 3 - 1.4


SHIFTED = {
    **dict.fromkeys(["log", "log2", "log10", "log1p", "sqrt", "rsqrt", "digamma", "reciprocal"], (2.5, 1)),
    **dict.fromkeys(["asin", "acos", "atanh", "erfinv"], (0.0, 0.5)),
    "acosh": (2.5, 0.5),
}
"""For functions that are not defined everywhere, what elements are multiplied by, and what is added."""
X, Y = shuffled(3, 4), shuffled(4, 3).T.copy() * 0.7 + 2
V = shuffled(4)
CUBE = shuffled(2, 3, 4)


def method(name: str, *args: Any, **kwargs: Any) -> Function:
    """Return a function that calls a method."""
    return lambda x, *others: getattr(x, name)(*others, *args, **kwargs)


def along(name: str, *args: Any, **kwargs: Any) -> Function:
    """Return a function that calls a method and takes its values."""
    return lambda x: getattr(x, name)(*args, **kwargs).values


PAIRS = {
    "add": (X, Y),
    "sub": (X, Y),
    "mul": (X, Y),
    "div": (X, Y),
    "pow": (np.abs(X) + 0.5, Y),
    "atan2": (X, Y),
    "remainder": (X, Y),
    "hypot": (X, Y),
    "maximum": (X, Y - 2),
    "minimum": (X, Y - 2),
    "floor_divide": (X, Y),
}
NAN = np.where(X > 1, np.nan, X)
MASK = ne.tensor(X > 0, names="N C")
INDEX = ne.tensor([[2, 0, 2, 1]], names="N C")
Case = tuple[Function, tuple[Any, ...]]
CASES: dict[str, Case] = {
    **{
        name: (method(name), (X * SHIFTED.get(name, (0, 1))[1] + SHIFTED.get(name, (0, 1))[0],))
        for name in sorted(ONE)
    },
    **{name: (method(name), pair) for name, pair in PAIRS.items()},
    **{f"{name} of a row": (method(name), (a, b[0])) for name, (a, b) in PAIRS.items()},
    "add alpha": (lambda x, y: x.add(y, alpha=3), (X, Y)),
    "sub alpha": (lambda x, y: x.sub(y, alpha=-2), (X, V)),
    "div trunc": (lambda x: x.div(0.7, rounding_mode="trunc"), (X,)),
    "signs": (lambda x, y: 2 - x * (y + 1) / (3 / y) - (-x) + (+y) + abs(x) % 0.7, (X, Y)),
    "powers": (lambda x: x**2 + x**3 + 1.5**x + x**0 + x**1, (X,)),
    "array on the left": (lambda x: np.ones(4) * x + np.exp(x) - [1.0, 2.0, 3.0, 4.0], (X,)),
    "clamp": (lambda x, low, high: x.clamp(low, high), (X, V * 0.1 - 0.5, V * 0.1 + 0.6)),
    "clamp min": (lambda x: x.clamp(min=0.1), (X,)),
    "clip": (lambda x: ne.clip(x, -0.5, 0.5), (X,)),
    "sum": (lambda x: x.sum("C") * 2, (X,)),
    "sum of all": (lambda x: x.sum() * x, (X,)),
    "sum keepdim": (lambda x: x.sum("N", keepdim=True) * x, (X,)),
    "sum axis": (lambda x: x.sum(axis=0), (X,)),
    "mean": (method("mean", "C"), (X,)),
    "mean of two": (method("mean", ["N", "C"]), (CUBE,)),
    "prod": (method("prod", "C"), (X,)),
    "prod with a zero": (method("prod", "C"), (np.where(X > 1.4, 0, X),)),
    "prod with zeros": (method("prod"), (np.where(X > 0.5, 0, X),)),
    "std": (method("std", "C"), (X,)),
    "std of all": (method("std", False), (X,)),
    "var": (method("var", "N", correction=0), (X,)),
    "logsumexp": (method("logsumexp", "C"), (X,)),
    "amax": (method("amax", "C"), (X,)),
    "amin": (method("amin"), (X,)),
    "norm": (method("norm", dim="C"), (X,)),
    **{f"norm {p}": (method("norm", p, "N"), (X,)) for p in (0, 0.5, 1, 1.5, 3, np.inf, -np.inf, -1)},
    "median": (along("median", "C"), (X,)),
    "median of all": (method("median"), (X,)),
    "nanmedian": (along("nanmedian", "C"), (X,)),
    "mode": (along("mode", "C"), (X,)),
    "kthvalue": (along("kthvalue", 2, "C"), (X,)),
    "max": (along("max", "C"), (X,)),
    "max keepdim": (along("max", "N", keepdim=True), (X,)),
    "max of all": (method("max"), (X,)),
    "min": (along("min", "C"), (X,)),
    "topk": (along("topk", 2, "C"), (X,)),
    "sort": (along("sort", "C"), (X,)),
    "sort descending": (along("sort", "N", descending=True), (X,)),
    "cummax": (along("cummax", "C"), (X,)),
    "cummin": (along("cummin", "C"), (X,)),
    "nansum": (method("nansum", "C"), (NAN,)),
    "nanmean": (method("nanmean", "C"), (NAN,)),
    "nanstd": (method("nanstd", "C"), (NAN,)),
    "nanvar": (method("nanvar", "N", correction=0), (NAN,)),
    "quantile": (method("quantile", 0.3, "C"), (X,)),
    "quantiles": (method("quantile", [0.1, 0.8]), (X,)),
    "nanquantile": (method("nanquantile", 0.4, "C"), (NAN,)),
    "std_mean": (lambda x: ne.std_mean(x, "C")[0] * ne.std_mean(x, "C")[1], (X,)),
    "var_mean": (lambda x: ne.var_mean(x, "C")[0] * ne.var_mean(x, "C")[1], (X,)),
    "cumsum": (method("cumsum", "C"), (X,)),
    "cumprod": (method("cumprod", "C"), (X,)),
    "cumprod with zeros": (method("cumprod", "C"), (np.where(abs(X) < 0.5, 0, X),)),
    "diff": (method("diff", "C"), (X,)),
    "diff twice": (method("diff", 2, "C"), (X,)),
    "softmax": (method("softmax", "C"), (X,)),
    "log_softmax": (method("log_softmax", "N"), (X,)),
    "flip": (method("flip", "C"), (X,)),
    "flip both": (method("flip", "C", "N"), (X,)),
    "roll": (method("roll", 1, "C"), (X,)),
    "roll of all": (method("roll", 2), (X,)),
    "rolls": (method("roll", [1, 2], ["N", "C"]), (X,)),
    "select": (method("select", "C", -1), (X,)),
    "narrow": (method("narrow", "C", 1, 2), (X,)),
    "narrow from the end": (method("narrow", "C", -2, 2), (X,)),
    "split": (lambda x: ne.cat([part * at for at, part in enumerate(x.split(3, "C"))], "C"), (X,)),
    "split sizes": (lambda x: x.split([1, 3], "C")[1], (X,)),
    "chunk": (lambda x: x.chunk(2, "C")[0] * x.chunk(2, dim="C")[1], (X,)),
    "unbind": (lambda x: x.unbind("C")[1] * x.unbind("C")[2], (X,)),
    "iteration": (lambda x: ne.stack([row * row for row in x]), (X,)),
    "isel": (lambda x: x.isel(C=2, N=slice(1, None)), (X,)),
    "isel list": (lambda x: x.isel(C=[2, 0, 2]), (X,)),
    "index": (lambda x: x[1] * x[:, 0].sum() + x[..., None, 1:2].sum(), (X,)),
    "index by mask": (lambda x: x[MASK], (X,)),
    "index by arrays": (lambda x: x[[0, 1, 0], [1, 1, 1]], (X,)),
    "squeeze": (lambda x: x.unsqueeze(0, "A").squeeze("A"), (X,)),
    "diagonal": (method("diagonal", 1), (X,)),
    "align_to": (lambda x: x.align_to("C", "B", "N"), (X,)),
    "align_as": (lambda x, v: x * v.align_as(x), (X, V)),
    "flatten": (lambda x: x.flatten(["H", "N"], "M"), (CUBE,)),
    "unflatten": (lambda x: x.unflatten("C", "A=2 B"), (X,)),
    "transpose": (lambda x: x.transpose("N", "C") + x.swapaxes(0, 1), (X,)),
    "permute": (method("permute", "C", "H", "N"), (CUBE,)),
    "movedim": (method("movedim", "C", 0), (CUBE,)),
    "movedim on": (method("movedim", 0, 2), (CUBE,)),
    "t": (lambda x: x.t() + x.T + x.mT, (X,)),
    "mT": (lambda x: x.mT, (CUBE,)),
    "rename": (lambda x: x.rename(N="M").refine_names(...), (X,)),
    "expand": (lambda x: x.unsqueeze(0).expand(5, -1, -1), (X,)),
    "clone": (lambda x: x.clone() * x.copy() * x.contiguous(), (X,)),
    "casts": (lambda x: x.to("complex128").abs() + x.double(), (X,)),
    "masked_fill": (lambda x, v: x.masked_fill(MASK, v.sum()), (X, V)),
    "masked_select": (lambda x: x.masked_select(MASK), (X,)),
    "where": (lambda x, y: ne.where(MASK, x, y) + x.where(MASK, y), (X, Y)),
    "index_fill": (lambda x, v: x.index_fill("C", [0, -1], v.sum()), (X, V)),
    "index_select": (lambda x: x.index_select("C", [2, 0, 2]), (X,)),
    "gather": (lambda x: x.gather("N", INDEX), (X,)),
    "matmul": (lambda x, y: x.matmul(y.rename("M", "C").T), (X, Y)),
    "@": (lambda x, v: x @ v, (X, V)),
    "vector @ matrix": (lambda v, x: v @ x.T, (V, X)),
    "array @": (lambda x: np.ones((2, 3)) @ x, (X,)),
    "batches @": (lambda c, x: c @ x.rename("M", "C").T, (CUBE, X)),
    "@ batches": (lambda v, c: v @ c.mT, (V, CUBE)),
    "batches @ vector": (lambda c, v: c @ v, (CUBE, V)),
    "mm": (lambda x, y: x.mm(y.rename("M", "C").t()), (X, Y)),
    "mv": (lambda x, v: x.mv(v), (X, V)),
    "bmm": (lambda c: c.bmm(c.rename("H", "M", "C").mT), (CUBE,)),
    "dot": (lambda v: v.dot(v.exp()), (V,)),
    "addmm": (
        lambda b, x, y: b.rename(None).addmm(x, y.rename("M", "C").T, beta=2, alpha=0.5),
        (shuffled(3, 3), X, Y),
    ),
    "addmm of a row": (lambda b, x, y: b.rename(None).addmm(x, y.rename("M", "C").T), (shuffled(3), X, Y)),
    "addmv": (lambda b, x, v: b.rename(None).addmv(x, v, alpha=-1), (shuffled(3), X, V)),
    "tensordot": (lambda c, x: c.tensordot(x.rename("N2", "C2"), ([2], [1])), (CUBE, X)),
    "tensordot 2": (lambda c, x: c.tensordot(x.rename("N2", "C2"), ([2, 1], [1, 0])), (CUBE, X)),
    "cat": (lambda x, y: ne.cat([x, y * 2, x], "C"), (X, Y)),
    "cat with a plain one": (lambda x: ne.cat([ne.ones(1, 4, names="N C"), x]), (X,)),
    "stack": (lambda x, y: ne.stack([x, y], 1, name="K"), (X, Y)),
    "by_name": (lambda x, v: (x.T.by_name * x - v).by_position, (X, V)),
    "one": (lambda x: x.sum().exp().reciprocal() * x[0, 0].cumsum(0).softmax(0), (X,)),
}


def tensors(values: tuple[Any, ...]) -> list[Any]:
    """Return arrays as tensors with names."""
    names = {0: (), 1: ("C",), 2: ("N", "C"), 3: ("H", "N", "C")}
    return [ne.tensor(each, names=names[np.ndim(each)] or None) for each in values]


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_gradient_agrees_with_differences(name: str) -> None:
    function, values = CASES[name]
    rng = np.random.default_rng(1)
    leaves = [each.requires_grad_() for each in tensors(values)]
    result = function(*leaves)
    seed = rng.uniform(0.5, 1.5, result.shape)
    result.backward(ne.tensor(seed, names=result.names) if result.ndim else seed.item())
    step, slope, expected = 1e-6, 0.0, 0.0
    for at, (leaf, value) in enumerate(zip(leaves, values, strict=True)):
        assert leaf.grad.names == leaf.names
        direction = rng.normal(size=np.shape(value))
        slope += float(np.sum(np.nan_to_num(leaf.grad.numpy()) * direction))
        ends = []
        for sign in (1, -1):
            moved = list(values)
            moved[at] = value + sign * step * direction
            ends.append(np.sum(np.nan_to_num(np.asarray(function(*tensors(tuple(moved))))) * seed))
        expected += (ends[0] - ends[1]) / (2 * step)
    assert slope == pytest.approx(expected, rel=1e-5, abs=1e-6)
