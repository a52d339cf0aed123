"""Code of users of NumPy, opt_einsum and einops with a changed import. Never executed."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

from nameexpr.compat.einops import asnumpy, einsum, pack, parse_shape, rearrange, reduce, repeat, unpack
from nameexpr.compat.numpy import einsum as numpy_einsum
from nameexpr.compat.numpy import einsum_path
from nameexpr.compat.opt_einsum import ContractExpression, contract, contract_expression, contract_path

Floats = npt.NDArray[np.float64]


def einops_functions(x: Floats, stack: list[Floats]) -> None:
    assert_type(rearrange(x, "a (b c) -> a b c", b=2), Floats)
    assert_type(rearrange(stack, "a b c -> b a c"), Floats)
    assert_type(reduce(x, "a b -> a", "mean"), Floats)
    assert_type(reduce(x, "a b -> a", np.max), Floats)
    assert_type(repeat(x, "a b -> a b k", k=np.int64(3)), Floats)
    packed, shapes = pack([x, x], "a *")
    assert_type(unpack(packed, shapes, "a *"), list[Any])
    assert_type(parse_shape(x, "a b"), dict[str, Any])
    assert_type(asnumpy(x), npt.NDArray[Any])
    print(einsum(x, x, "a b, a c -> b c"))


def sums_of_products(a: Floats, b: Floats) -> Floats:
    path, text = einsum_path("ij,jk->ik", a, b)
    print(text, contract_path("ij,jk->ik", a, b)[1])
    numpy_einsum(a, [0, 1], b, [1, 2], out=np.empty((2, 2)), optimize=path)
    function = contract_expression("ij,jk->ik", (2, 3), b, constants=[1], optimize="greedy")
    assert_type(function, ContractExpression)
    result: Floats = function(a) + contract("ij,jk->ik", a, b, dtype="f8", order="F", casting="safe")
    return result
