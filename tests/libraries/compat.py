"""What `nameexpr.compat` has to compute on arrays of a library, which gives arrays of the same type."""

from __future__ import annotations

from typing import Any

import numpy as np

from nameexpr.compat.einops import asnumpy, einsum, pack, rearrange, reduce, repeat, unpack
from nameexpr.compat.opt_einsum import contract, contract_expression


def check_contractions(library: Any) -> None:
    """Compare contractions of a library's arrays with products of NumPy's; `library` is its namespace."""
    rng = np.random.default_rng(7)
    operands = [rng.normal(size=shape) for shape in ((2, 3), (3, 4), (4, 5))]
    arrays = [library.asarray(one.astype("f4")) for one in operands]
    for _ in range(2):
        result = contract("ij,jk,kl", *arrays)
        assert type(result) is type(arrays[0])
        np.testing.assert_allclose(np.asarray(result), operands[0] @ operands[1] @ operands[2], rtol=1e-4)
    result = contract_expression("ij,j1->1", (2, 3), (1, 5))(arrays[0], library.ones((1, 5)))
    np.testing.assert_allclose(np.asarray(result), np.full(5, operands[0].sum()), rtol=1e-4)
    assert tuple(contract("ij->ji", arrays[0]).shape) == (3, 2)


def check_patterns(library: Any) -> None:
    """Compare the results of patterns on a library's arrays with those of NumPy's functions."""
    x = np.arange(24.0, dtype="f4").reshape(2, 4, 3)
    own = library.asarray(x)
    packed, shapes = pack([own, own[:, 0]], "a * c")
    results = {
        "rearrange": (
            rearrange(own, "a (b d) c -> (a d) b c", d=2),
            x.reshape(2, 2, 2, 3).swapaxes(1, 2).reshape(4, 2, 3),
        ),
        "reduce": (reduce([own[0], own[1]], "a b c -> c", "max"), x.max((0, 1))),
        "repeat": (repeat(own, "a b c -> a (b 2) c"), x.repeat(2, 1)),
        "einsum": (einsum(own, own, "a b c, a d c -> b d"), np.einsum("abc,adc->bd", x, x)),
        "trace": (einsum(own[:, :2], "a a c ->"), np.einsum("aac->", x[:, :2])),
        "pack": (packed, np.concatenate([x, x[:, :1]], 1)),
        "unpack": (unpack(packed, shapes, "a * c")[1], x[:, 0]),
    }
    for name, (result, expected) in results.items():
        assert type(result) is type(own), name
        np.testing.assert_allclose(asnumpy(result), expected, rtol=1e-5, err_msg=name)
