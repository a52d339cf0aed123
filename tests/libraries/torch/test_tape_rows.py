"""The gradient of every operator that has one against PyTorch's, on random calls; no row is left out."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy as np
import pytest
import torch

import nameexpr as ne
from libraries.torch import tape_draws as draws
from libraries.torch.tape_draws import Call, Dim, Ref, Rng
from nameexpr.errors import NameExprError

pytestmark = [
    pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning"),  # plain tensors warn, too
    pytest.mark.filterwarnings("ignore:grad and param do not obey:UserWarning"),  # PyTorch
]
Draw = Callable[[Rng], Call]
_ONE = (
    "exp expm1 log log10 log1p log2 sqrt rsqrt reciprocal sigmoid erf erfc erfinv sin cos tan asin acos "
    "atan sinh cosh tanh asinh atanh deg2rad rad2deg abs neg sign sgn ceil floor trunc frac round exp2 "
    "square positive relu clone contiguous cpu half float double bfloat16"
)
ROWS: dict[str, Draw] = {
    **dict.fromkeys(_ONE.split(), draws.pointwise),
    **dict.fromkeys(["add", "sub"], draws.scaled),
    "mul": draws.pair,
    "pow": draws.power,
    "remainder": draws.real_pair,
    "floor_divide": draws.floor_divided,
    **dict.fromkeys(["atan2", "maximum", "minimum"], draws.tensors),
    "hypot": draws.hypot,
    "acosh": draws.beyond_one,
    "digamma": draws.beyond_one,
    "div": draws.divided,
    "clamp": draws.clamped,
    **dict.fromkeys(["sum", "mean", "logsumexp"], draws.reduction),
    **dict.fromkeys(["amax", "amin"], draws.filled_reduction),
    **dict.fromkeys(["std", "var", "std_mean", "var_mean"], draws.spread),
    "prod": draws.product,
    **dict.fromkeys(["nansum", "nanmean"], draws.nan_reduction),
    "norm": draws.norm,
    **dict.fromkeys(["cumsum", "cumprod", "softmax", "log_softmax"], draws.along),
    **dict.fromkeys(["cummax", "cummin"], draws.chosen),
    "mode": draws.kept,
    **dict.fromkeys(["max", "min"], draws.of_all_or_along),
    **dict.fromkeys(["median", "nanmedian"], draws.of_distinct(draws.of_all_or_along)),
    "kthvalue": draws.of_distinct(draws.kthvalue),
    "topk": draws.of_distinct(draws.topk),
    "sort": draws.sort,
    "quantile": draws.of_distinct(draws.quantile),
    "nanquantile": draws.of_distinct(draws.nanquantile),
    "nanstd": draws.nanspread("nanstd"),
    "nanvar": draws.nanspread("nanvar"),
    "diff": draws.diff,
    "flip": draws.flip,
    "roll": draws.roll,
    "select": draws.select,
    "narrow": draws.narrow,
    "split": draws.split,
    "chunk": draws.chunk,
    "unbind": draws.unbind,
    "isel": draws.isel,
    "squeeze": draws.squeeze,
    "unsqueeze": draws.unsqueeze,
    "expand": draws.expand,
    "diagonal": draws.diagonal,
    **dict.fromkeys(["transpose", "swapaxes"], draws.two_dims),
    "permute": draws.permute,
    "movedim": draws.movedim,
    "t": draws.matrix,
    "align_to": draws.align_to,
    "align_as": draws.align_as,
    "flatten": draws.flatten,
    "unflatten": draws.unflatten,
    "rename": draws.rename,
    "refine_names": draws.refine,
    "to": draws.cast,
    "type_as": draws.type_as,
    "masked_fill": draws.masked_fill,
    "masked_select": draws.masked_select,
    "where": draws.where,
    "index_fill": draws.index_fill,
    "index_select": draws.index_select,
    "gather": draws.gather,
    "matmul": draws.matmul,
    "mm": draws.matrices("i j, j k"),
    "mv": draws.matrices("i j, j"),
    "bmm": draws.matrices("b i j, b j k"),
    "dot": draws.matrices("j, j"),
    "addmm": draws.add_product("i k, i j, j k"),
    "addmv": draws.add_product("i, i j, j"),
    "tensordot": draws.tensordot,
}
"""How a call of each row is drawn; rows in place have that of the operator that they are the twin of."""
FUNCTIONS = frozenset(name for name in ROWS if isinstance(getattr(ne, name, None), FunctionType))
FILLED = frozenset({"fill_", "zero_", "copy_"})
"""Operators that write over the tensor: tested below."""
_RANDOM = "bernoulli bernoulli_ normal_ log_normal_ uniform_ exponential_ cauchy_ random_"
RANDOM = frozenset(_RANDOM.split())
"""Operators whose results do not depend on the elements."""
_TAPE = (
    "requires_grad requires_grad_ grad grad_fn is_leaf backward retain_grad zero_grad register_hook "
    "register_post_accumulate_grad_hook detach detach_"
)
TAPE = frozenset(_TAPE.split())
_WITHOUT = (
    "is_tensor sizes equal is_complex tolist argsort isnan isinf isfinite dims count_nonzero argmax "
    "argmin logical_and logical_or logical_xor logical_and_ logical_or_ logical_xor_ logical_not "
    "logical_not_ bitwise_and bitwise_or bitwise_xor bitwise_and_ bitwise_or_ bitwise_xor_ bitwise_not "
    "bitwise_not_ ndim size device manual_seed type dim ndimension numel element_size itemsize nbytes "
    "data_ptr stride is_contiguous is_floating_point is_signed item get_device is_cuda is_sparse "
    "is_sparse_csr is_pinned is_shared bool byte char short int long cuda tensor names has_names resize_ "
    "resize_as_ rename_ all any eq ne lt le gt ge"
)
WITHOUT = frozenset(_WITHOUT.split())
"""Operators whose results are bools, integers and answers, or that change sizes or names alone."""


JOINS = frozenset({"cat", "stack"})
"""Tested in `test_tape_indexing`."""
_MAKES = "arange empty empty_like full full_like normal ones ones_like rand rand_like randn randn_like zeros"
MAKES = frozenset([*_MAKES.split(), "zeros_like"])
"""Functions that make tensors."""


def test_every_row_is_classified() -> None:
    for module in ("factories", "functions", "joining", "named_tensor", "random"):
        import_module(f"nameexpr.tensors.{module}")  # they enter their rows
    rows = set(ne.OPS)
    twins = {name for name in rows if ne.OPS[name].twin_of in ROWS}
    groups = [set(ROWS), twins, set(FILLED), set(RANDOM), set(TAPE), set(WITHOUT), set(JOINS), set(MAKES)]
    assert rows == set().union(*groups)
    assert sum(map(len, groups)) == len(rows)


def generator(verb: str, seed: int) -> Rng:
    return np.random.default_rng([seed, zlib.crc32(verb.encode())])


def ours(drawn: Call, *, is_recorded: bool) -> list[Any]:
    """Return the operands of a call as tensors with names."""
    made = [ne.tensor(each.array, names=each.names or None) for each in drawn.operands]
    if is_recorded:
        for each, tensor in zip(drawn.operands, made, strict=True):
            if each.is_leaf:
                tensor.requires_grad_()
    return made


def theirs(drawn: Call) -> list[Any]:
    """Return the operands of a call as tensors of PyTorch."""
    return [torch.tensor(each.array, requires_grad=each.is_leaf) for each in drawn.operands]


def spelt(value: Any, drawn: Call, operands: list[Any], *, by_name: bool) -> Any:
    """Return an argument for ours, with names of dims, or for PyTorch."""
    if isinstance(value, Dim):
        return drawn.operands[0].names[value.at] if by_name else value.at
    if isinstance(value, Ref):
        return operands[value.at]
    if isinstance(value, list):
        return [spelt(each, drawn, operands, by_name=by_name) for each in value]
    return value


def called(drawn: Call, function: Any, operands: list[Any], *, by_name: bool) -> Any:
    args = [spelt(each, drawn, operands, by_name=by_name) for each in drawn.args]
    kwargs = {word: spelt(each, drawn, operands, by_name=by_name) for word, each in drawn.kwargs.items()}
    return function(operands[0], *args, **kwargs)


def results(value: Any) -> list[Any]:
    """Return the tensors of a result whose elements are not integers or bools."""
    parts = list(value) if isinstance(value, tuple | list) else [value]
    kinds = [str(each.dtype).removeprefix("torch.") for each in parts]
    return [part for part, kind in zip(parts, kinds, strict=True) if "float" in kind or "complex" in kind]


def array_of(tensor: Any) -> Any:
    """Return the elements of a tensor, those of a narrow float as float32."""
    if isinstance(tensor, torch.Tensor):
        tensor = tensor.detach()
        return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy(force=True)
    return (tensor.detach().float() if str(tensor.dtype) == "bfloat16" else tensor.detach()).numpy()


TOLERANCE = {"float64": 1e-9, "complex128": 1e-9, "float32": 2e-4, "float16": 2e-2, "bfloat16": 2e-2}


def narrowest(tensors: list[Any]) -> float:
    return max(TOLERANCE.get(str(each.dtype), 0) for each in tensors)


def forms(verb: str, drawn: Call, rng: Rng, *, is_twin: bool) -> tuple[Any, Any]:
    """Return what to call here, a method or a function, and in PyTorch."""
    if is_twin:
        name = f"{verb}_"
        found = drawn.torch or (lambda t, *args, **kwargs: getattr(t.clone(), name)(*args, **kwargs))
        if verb in {"acosh", "asinh", "atanh"}:  # PyTorch refuses them in place
            found = getattr(torch.Tensor, verb)
        return lambda x, *args, **kwargs: getattr(x.clone(), name)(*args, **kwargs), found
    own = lambda x, *args, **kwargs: getattr(x, verb)(*args, **kwargs)  # noqa: E731
    if verb in FUNCTIONS and (not hasattr(ne.NamedTensor, verb) or rng.random() < 0.3):
        own = getattr(ne, verb)
    return own, drawn.torch or getattr(torch.Tensor, verb, None) or getattr(torch, verb)


def compare(verb: str, seed: int, *, is_twin: bool = False) -> bool:
    """Compare the gradients of one random call; False if one of the two refuses the call."""
    rng = generator(verb, seed)
    drawn = ROWS[verb](rng)
    if sum(each.is_leaf for each in drawn.operands) > 1 and rng.random() < 0.25:
        drawn.operands[0] = drawn.operands[0]._replace(is_leaf=False)
    own, other = forms(verb, drawn, rng, is_twin=is_twin)
    plain = theirs(drawn)
    try:
        called(drawn, own, ours(drawn, is_recorded=False), by_name=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of complex numbers that become real
            expected = results(called(drawn, other, plain, by_name=False))
    except (NameExprError, RuntimeError, IndexError, ValueError, TypeError):
        return False
    if not any(each.requires_grad for each in expected):
        return False
    operands = ours(drawn, is_recorded=True)
    found = results(called(drawn, own, operands, by_name=rng.random() < 0.7))
    assert [each.shape for each in found] == [tuple(each.shape) for each in expected]
    assert [each.requires_grad for each in found] == [each.requires_grad for each in expected]
    go_back(rng, found, expected)
    for leaf, like, each in zip(operands, plain, drawn.operands, strict=True):
        if each.is_leaf:
            check_gradient(leaf, like, narrowest([*found, *operands]), str(drawn))
    return True


def go_back(rng: Rng, found: list[Any], expected: list[Any]) -> None:
    """Call `backward` of each result, with the same random gradients."""
    for own, other in zip(found, expected, strict=True):
        given = np.round(rng.normal(size=own.shape), 2)
        own.backward(ne.tensor(given, names=own.names).to(own.dtype), retain_graph=True)
        other.backward(torch.tensor(given).to(other.dtype), retain_graph=True)


def check_gradient(leaf: Any, like: Any, limit: float, what: str) -> None:
    """Compare two gradients; None is 0."""
    expected = np.zeros(leaf.shape) if like.grad is None else array_of(like.grad)
    if leaf.grad is None:
        assert not expected.any()
        return
    assert leaf.grad.names == leaf.names
    assert leaf.grad.dtype == leaf.dtype
    np.testing.assert_allclose(array_of(leaf.grad), expected, rtol=limit, atol=limit, err_msg=what)


@pytest.mark.parametrize("seed", [0, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("verb", sorted(ROWS))
def test_gradients_are_those_of_pytorch(verb: str, seed: int) -> None:
    count = 80 if seed else 10
    compared = sum(compare(verb, seed + number) for number in range(count))
    assert compared >= count // 4


@pytest.mark.parametrize("verb", sorted(name for name in ROWS if f"{name}_" in ne.OPS))
def test_gradients_in_place_are_those_of_pytorch(verb: str) -> None:
    compared = sum(compare(verb, number, is_twin=True) for number in range(8))
    assert compared >= 2
