"""Operators on tensors of PyTorch, compared with PyTorch itself: values, dtypes, errors and gradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import nameexpr as ne
from nameexpr.errors import NameExprError

torch = pytest.importorskip("torch")

Call = Callable[[Any, Any], Any]
DTYPES = ["float64", "float32", "bfloat16", "float16", "int64", "int32", "int8", "uint8", "bool", "complex64"]

_UNARY = (
    "exp exp2 expm1 log log10 log1p log2 sqrt rsqrt reciprocal square sigmoid erf erfc erfinv digamma sin "
    "cos tan asin acos atan sinh cosh tanh asinh acosh atanh deg2rad rad2deg abs neg sign sgn ceil floor "
    "trunc frac bitwise_not logical_not isnan isinf isfinite relu round"
)
_BINARY = (
    "add sub mul div pow floor_divide remainder atan2 hypot maximum minimum eq ne lt le gt ge logical_and "
    "logical_or logical_xor bitwise_and bitwise_or bitwise_xor"
)
UNARY, BINARY = _UNARY.split(), _BINARY.split()

CALLS: dict[str, tuple[Call, Call]] = {
    "+ 1": (lambda x, y: x + 1, lambda a, b: a + 1),
    "* 2.5": (lambda x, y: x * 2.5, lambda a, b: a * 2.5),
    "2 -": (lambda x, y: 2 - x, lambda a, b: 2 - a),
    "** 2": (lambda x, y: x**2, lambda a, b: a**2),
    "// 2": (lambda x, y: x // 2, lambda a, b: a // 2),
    "% 3": (lambda x, y: x % 3, lambda a, b: a % 3),
    "1 /": (lambda x, y: 1 / x, lambda a, b: 1 / a),
    "> 0": (lambda x, y: x > 0, lambda a, b: a > 0),
    "< y": (lambda x, y: x < y, lambda a, b: a < b),
    "truncated": (
        lambda x, y: x.div(y, rounding_mode="trunc"),
        lambda a, b: a.div(b, rounding_mode="trunc"),
    ),
    "alpha": (lambda x, y: x.add(y, alpha=2), lambda a, b: a.add(b, alpha=2)),
    "clamp": (lambda x, y: x.clamp(1, 2), lambda a, b: a.clamp(1, 2)),
    "clamp float": (lambda x, y: x.clamp(max=1.5), lambda a, b: a.clamp(max=1.5)),
    "clamp tensor": (lambda x, y: x.clamp(min=y), lambda a, b: a.clamp(min=b)),
    "round(1)": (lambda x, y: x.round(1), lambda a, b: a.round(decimals=1)),
    "sum": (lambda x, y: x.sum("C"), lambda a, b: a.sum(1)),
    "sum of all": (lambda x, y: x.sum(), lambda a, b: a.sum()),
    "sum dtype": (lambda x, y: x.sum("N", dtype="float64"), lambda a, b: a.sum(0, dtype=torch.float64)),
    "prod": (lambda x, y: x.prod("C"), lambda a, b: a.prod(1)),
    "mean": (lambda x, y: x.mean("C", keepdim=True), lambda a, b: a.mean(1, keepdim=True)),
    "std": (lambda x, y: x.std("C"), lambda a, b: a.std(1)),
    "var": (lambda x, y: x.var(["N", "C"], correction=0), lambda a, b: a.var((0, 1), correction=0)),
    "logsumexp": (lambda x, y: x.logsumexp("C"), lambda a, b: a.logsumexp(1)),
    "norm": (lambda x, y: x.norm(2, "C"), lambda a, b: torch.linalg.vector_norm(a, 2, 1)),
    "norm 1": (lambda x, y: x.norm(1), lambda a, b: torch.linalg.vector_norm(a, 1)),
    "all": (lambda x, y: x.all("C"), lambda a, b: a.all(1)),
    "any": (lambda x, y: x.any(), lambda a, b: a.any()),
    "amax": (lambda x, y: x.amax("C"), lambda a, b: a.amax(1)),
    "amin": (lambda x, y: x.amin(), lambda a, b: a.amin()),
    "count_nonzero": (lambda x, y: x.count_nonzero("C"), lambda a, b: a.count_nonzero(1)),
    "nansum": (lambda x, y: x.nansum("C"), lambda a, b: a.nansum(1)),
    "nanmean": (lambda x, y: x.nanmean("C"), lambda a, b: a.nanmean(1)),
    "max": (lambda x, y: x.max("C").values, lambda a, b: a.max(1).values),
    "max indices": (lambda x, y: x.max("C").indices, lambda a, b: a.max(1).indices),
    "min": (lambda x, y: x.min("N").values, lambda a, b: a.min(0).values),
    "median": (lambda x, y: x.median("C").values, lambda a, b: a.median(1).values),
    "median of all": (lambda x, y: x.median(), lambda a, b: a.median()),
    "mode": (lambda x, y: x.mode("C").values, lambda a, b: a.mode(1).values),
    "kthvalue": (lambda x, y: x.kthvalue(2, "C").values, lambda a, b: a.kthvalue(2, 1).values),
    "topk": (lambda x, y: x.topk(2, "C").values, lambda a, b: a.topk(2, 1).values),
    "argmax": (lambda x, y: x.argmax("C"), lambda a, b: a.argmax(1)),
    "argmin of all": (lambda x, y: x.argmin(), lambda a, b: a.argmin()),
    "sort": (lambda x, y: x.sort("C").values, lambda a, b: a.sort(1).values),
    "argsort": (lambda x, y: x.argsort("C", stable=True), lambda a, b: a.argsort(dim=1, stable=True)),
    "quantile": (lambda x, y: x.quantile(0.3, "C"), lambda a, b: a.quantile(0.3, 1)),
    "nanmedian": (lambda x, y: x.nanmedian("C").values, lambda a, b: a.nanmedian(1).values),
    "cumsum": (lambda x, y: x.cumsum("C"), lambda a, b: a.cumsum(1)),
    "cumprod": (lambda x, y: x.cumprod("N"), lambda a, b: a.cumprod(0)),
    "cummax": (lambda x, y: x.cummax("C").values, lambda a, b: a.cummax(1).values),
    "diff": (lambda x, y: x.diff(1, "C"), lambda a, b: a.diff(dim=1)),
    "softmax": (lambda x, y: x.softmax("C"), lambda a, b: a.softmax(1)),
    "log_softmax": (lambda x, y: x.log_softmax("N"), lambda a, b: a.log_softmax(0)),
    "softmax dtype": (
        lambda x, y: x.softmax("C", dtype="float64"),
        lambda a, b: a.softmax(1, dtype=torch.float64),
    ),
    "matmul": (lambda x, y: x.matmul(y.T.rename("C", "M")), lambda a, b: a.matmul(b.T)),
    "mv": (lambda x, y: x.mv(y[0]), lambda a, b: a.mv(b[0])),
    "dot": (lambda x, y: x[0].dot(y[1]), lambda a, b: a[0].dot(b[1])),
    "addmv": (lambda x, y: x[:, 0].addmv(x, y[0], beta=2), lambda a, b: a[:, 0].addmv(a, b[0], beta=2)),
    "tensordot": (
        lambda x, y: x.tensordot(y.rename(N="M"), (["C"], ["C"])),
        lambda a, b: torch.tensordot(a, b, ([1], [1])),
    ),
    "masked_fill": (lambda x, y: x.masked_fill(y == 1, 1), lambda a, b: a.masked_fill(b == 1, 1)),
    "masked_select": (lambda x, y: x.masked_select(y == 1), lambda a, b: a.masked_select(b == 1)),
    "where": (lambda x, y: ne.where(y == 1, x, 2.5), lambda a, b: torch.where(b == 1, a, 2.5)),
    "index_select": (lambda x, y: x.index_select("C", [2, -1, 0]), lambda a, b: a[:, [2, -1, 0]]),
    "index_fill": (
        lambda x, y: x.index_fill("C", [0, -1], 1),
        lambda a, b: a.index_fill(1, torch.tensor([0, 3]), 1),
    ),
    "x[mask]": (lambda x, y: x[y == 1], lambda a, b: a[b == 1]),
    "x[..., None, 1:3]": (lambda x, y: x[..., None, 1:3], lambda a, b: a[..., None, 1:3]),
    "x[[0, 1], 1]": (lambda x, y: x[[0, 1], 1], lambda a, b: a[[0, 1], 1]),
    "flip": (lambda x, y: x.flip("C"), lambda a, b: a.flip(1)),
    "roll": (lambda x, y: x.roll(1, "C"), lambda a, b: a.roll(1, 1)),
    "diagonal": (lambda x, y: x.diagonal(1, "N", "C"), lambda a, b: a.diagonal(1)),
    "cat": (lambda x, y: ne.cat([x, y], "C"), lambda a, b: torch.cat([a, b], 1)),
    "stack": (lambda x, y: ne.stack([x, y]), lambda a, b: torch.stack([a, b])),
    "add_": (lambda x, y: x.clone().add_(y), lambda a, b: a.clone().add_(b)),
    "fill_": (lambda x, y: x.clone().fill_(1), lambda a, b: a.clone().fill_(1)),
    "copy_": (lambda x, y: y.double().copy_(x), lambda a, b: b.double().copy_(a)),
    "std_mean": (lambda x, y: ne.std_mean(x, "C")[0], lambda a, b: torch.std_mean(a, 1)[0]),
    "by name": (lambda x, y: x.by_name * y.T, lambda a, b: a * b),
}
for _name in UNARY:
    CALLS[_name] = (lambda x, y, n=_name: getattr(x, n)(), lambda a, b, n=_name: getattr(a, n)())
for _name in BINARY:
    CALLS[_name] = (lambda x, y, n=_name: getattr(x, n)(y), lambda a, b, n=_name: getattr(a, n)(b))

MEANT = {
    ("copy_", "complex64"): "nameexpr does not drop imaginary parts, which PyTorch does with a warning",
}


def operands(dtype: str) -> tuple[Any, Any]:
    """Return two tensors whose elements no operator rounds to others: small, and none of them twice."""
    a = torch.tensor([[3, 1, 4, 2], [5, 9, 6, 7]], dtype=torch.float64)
    b = torch.tensor([[1, 2, 1, 3], [2, 1, 4, 1]], dtype=torch.float64)
    return a.to(getattr(torch, dtype)), b.to(getattr(torch, dtype))


def answer(call: Call, *given: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call(*given)
        except (NameExprError, RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as wrong:
            return wrong


@pytest.mark.parametrize("name", CALLS)
def test_the_answers_are_those_of_pytorch(name: str) -> None:
    ours, theirs = CALLS[name]
    for dtype in DTYPES:
        a, b = operands(dtype)
        wanted = answer(theirs, a.clone(), b.clone())
        found = answer(ours, ne.tensor(a, names="N C"), ne.tensor(b, names="N C"))
        if (name, dtype) in MEANT:
            assert isinstance(found, NameExprError)
        elif isinstance(wanted, Exception):
            assert isinstance(found, NameExprError), (dtype, wanted, found)
        else:
            assert not isinstance(found, Exception), (dtype, wanted, found)
            assert found.dtype == wanted.dtype and found.shape == wanted.shape, (dtype, wanted, found)
            assert torch.equal(torch.nan_to_num(found.tensor), torch.nan_to_num(wanted)), (dtype, found)


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@pytest.mark.parametrize("dtypes", [(a, b) for a in DTYPES for b in DTYPES])
def test_dtypes_are_promoted_as_pytorch_does(dtypes: tuple[str, str]) -> None:
    a, b = operands(dtypes[0])[0], operands(dtypes[1])[1]
    x, y = ne.tensor(a, names="N C"), ne.tensor(b, names="N C")
    for result, wanted in ((x + y, a + b), (x * y[0, 0], a * b[0, 0]), (x / y, a / b), (x == y, a == b)):
        assert result.dtype == wanted.dtype
        assert wanted.dtype == torch.complex32 or torch.equal(result.tensor, wanted)


_DIFFERENTIABLE = (
    "exp log sqrt sigmoid tanh sin erf abs relu square add mul div pow atan2 maximum sum mean std var "
    "logsumexp norm prod amax max sort topk median quantile cumsum cumprod cummax softmax log_softmax "
    "matmul mv dot addmv tensordot masked_fill where index_select index_fill flip roll diagonal cat stack "
    "diff nanmean alpha"
)


@pytest.mark.parametrize("name", _DIFFERENTIABLE.split())
def test_gradients_are_those_of_the_values(name: str) -> None:
    a, b = operands("float64")
    generator = torch.Generator().manual_seed(1)
    b = b + torch.rand(b.shape, generator=generator, dtype=torch.float64) / 4

    def bare(a: Any, b: Any) -> Any:
        return CALLS[name][0](ne.tensor(a, names="N C"), ne.tensor(b, names="N C")).tensor

    assert torch.autograd.gradcheck(bare, (a.requires_grad_(), b.requires_grad_()))
