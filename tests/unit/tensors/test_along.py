"""What runs along one dim, on generated tensors: sums so far, softmax, flip and roll, compared with loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne
from oracle.operators import Array, Names, named_shapes, values

Row = Sequence[float]


def shares(row: Row) -> list[float]:
    """Exponentials divided by their sum."""
    parts = [math.exp(v - max(row)) for v in row]
    return [part / math.fsum(parts) for part in parts]


SCANS: dict[str, Callable[[Row], list[Any]]] = {
    "cumsum": lambda row: list(accumulate(row)),
    "cumprod": lambda row: list(accumulate(row, mul)),
    "softmax": shares,
    "log_softmax": lambda row: [math.log(share) for share in shares(row)],
    "flip": lambda row: list(row)[::-1],
}


def assert_scanned(call: Callable[[], Any], array: Array, names: Names, dtype: Any, what: str) -> None:
    result = call()
    assert result.names == names and result.dtype == dtype, what
    assert result.shape == array.shape, what
    np.testing.assert_allclose(result.numpy().astype(float), array, rtol=1e-9, atol=1e-12, err_msg=what)


def scanned(array: Array, at: int, loop: Callable[[Row], list[Any]]) -> Array:
    """Each row along a dim on its own."""
    moved = np.moveaxis(array, at, -1)
    rows = [loop(row) for row in moved.reshape(-1, array.shape[at]).tolist()] if array.size else []
    return np.moveaxis(np.array(rows, float).reshape(moved.shape), -1, at)


@settings(max_examples=100)
@given(st.data())
def test_scans_keep_names(data: st.DataObject) -> None:
    names, shape = data.draw(named_shapes().filter(lambda dims: dims[0]))
    dtype = data.draw(st.sampled_from([np.dtype(kind) for kind in (float, np.int64, bool)]))
    at = data.draw(st.integers(0, len(names) - 1))
    dim = data.draw(st.sampled_from([at, at - len(names), names[at] or at]))
    array = values(data.draw(st.integers(0, 99)), shape, dtype)
    x = ne.from_numpy(array.copy(), names=names)
    for verb, loop in SCANS.items():
        if verb.endswith("softmax") and dtype.kind != "f":
            with pytest.raises(ne.NameExprError):
                getattr(x, verb)(dim)
            continue
        wide = {"cumsum": np.int64, "cumprod": np.int64}.get(verb, dtype) if dtype.kind in "ib" else dtype
        what = f"{dtype} {shape} {names}: {verb} {dim!r}"
        for call in (getattr(x, verb), lambda d, v=verb: getattr(ne, v)(x, d)):
            assert_scanned(lambda c=call: c(dim), scanned(array, at, loop), names, wide, what)
    shift = data.draw(st.integers(-5, 5))
    assert x.roll(shift, dim).names == names
    np.testing.assert_array_equal(x.roll(shift, dim).numpy(), np.roll(array, shift, at))


def test_scans_in_place_and_out() -> None:
    x = ne.tensor([[1.0, 2.0], [3.0, 4.0]], names="N C")
    assert x.cumsum_("C") is x and x.tolist() == [[1.0, 3.0], [3.0, 7.0]]
    assert x.cumprod_("N") is x and x.tolist() == [[1.0, 3.0], [3.0, 21.0]]
    out = ne.zeros(2, 2)
    assert x.cumsum(0, out=out) is out and out.names == ("N", "C")
    with pytest.raises(ne.NameExprError):
        ne.tensor([True, True]).cumsum_(0)
    for dtype, wide in (("int8", "int64"), ("uint8", "int64"), ("bool", "int64"), ("uint64", "uint64")):
        assert ne.ones(3, dtype=dtype).cumsum(0).dtype == wide
        assert ne.ones(3, dtype=dtype).cumprod(0).dtype == wide
    assert ne.tensor(3.0).cumsum(0).item() == 3.0
    for dim in ("Q", 2, None, ["N"]):
        with pytest.raises(ne.NameExprError):
            x.cumsum(dim)
    assert x.cumsum("C", dtype="float32").dtype == np.float32
