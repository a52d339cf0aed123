"""Whatever has an `out=` writes the result that it would have returned into it, and returns it.

The lists are complete: a method or function with an `out` parameter that is called in no test fails here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from oracle.operators import BINARY, UNARY

Call = Callable[..., Any]

X = ne.tensor([[0.5, -1.0], [2.0, 0.25]], names="N C")
Y = ne.tensor([[1.5, 2.0], [0.5, 3.0]], names="C D")
CUBE = ne.tensor(np.arange(8.0).reshape(2, 2, 2), names="B R S")
CUBES = ne.tensor(np.arange(8.0).reshape(2, 2, 2), names="B T U")
ROW = ne.tensor([1.0, 2.0], names="D")
SEEDED = {"bernoulli", "normal", "rand", "randn"}

CALLS: dict[str, tuple[Call, Call]] = {
    verb: (getattr(ne.NamedTensor, verb), lambda call, **o: call(X, **o))
    for verb in (
        "sum",
        "prod",
        "mean",
        "std",
        "var",
        "all",
        "any",
        "amax",
        "amin",
        "norm",
        "count_nonzero",
        "nansum",
        "nanmean",
        "nanstd",
        "nanvar",
        "round",
    )
}
CALLS |= {
    "sum along a dim": (ne.NamedTensor.sum, lambda call, **o: call(X, "C", **o)),
    "logsumexp": (ne.NamedTensor.logsumexp, lambda call, **o: call(X, "C", **o)),
    "cumsum": (ne.NamedTensor.cumsum, lambda call, **o: call(X, "C", **o)),
    "cumprod": (ne.NamedTensor.cumprod, lambda call, **o: call(X, "C", **o)),
    "matmul": (ne.NamedTensor.matmul, lambda call, **o: call(X, Y, **o)),
    "mm": (ne.NamedTensor.mm, lambda call, **o: call(X, Y, **o)),
    "mv": (ne.NamedTensor.mv, lambda call, **o: call(X, ROW, **o)),
    "bmm": (ne.NamedTensor.bmm, lambda call, **o: call(CUBE, CUBES, **o)),
    "dot": (ne.NamedTensor.dot, lambda call, **o: call(ROW, ROW, **o)),
    "addmm": (ne.NamedTensor.addmm, lambda call, **o: call(ROW, X, Y, beta=2, alpha=3, **o)),
    "addmv": (ne.NamedTensor.addmv, lambda call, **o: call(ROW.rename("N"), X, ROW, **o)),
    "clamp": (ne.NamedTensor.clamp, lambda call, **o: call(X, 0, 1, **o)),
    "clip": (ne.NamedTensor.clip, lambda call, **o: call(X, 0, 1, **o)),
    "round to decimals": (ne.NamedTensor.round, lambda call, **o: call(X, 1, **o)),
    "masked_fill": (ne.NamedTensor.masked_fill, lambda call, **o: call(X, X > 0, 7, **o)),
    "masked_select": (ne.NamedTensor.masked_select, lambda call, **o: call(X, X > 0, **o)),
    "index_fill": (ne.NamedTensor.index_fill, lambda call, **o: call(X, "C", [1], 7, **o)),
    "bernoulli": (ne.NamedTensor.bernoulli, lambda call, **o: call(X, 0.5, **o)),
    "div": (ne.NamedTensor.div, lambda call, **o: call(X, X.abs(), rounding_mode="floor", **o)),
    "add": (ne.NamedTensor.add, lambda call, **o: call(X, X, alpha=2.5, **o)),
    "sub": (ne.NamedTensor.sub, lambda call, **o: call(X, X, alpha=2.5, **o)),
    "cat": (ne.cat, lambda call, **o: call([X, X], "C", **o)),
    "stack": (ne.stack, lambda call, **o: call([X, X], name="Z", **o)),
    "normal": (ne.normal, lambda call, **o: call(X, 1.0, **o)),
}
CALLS |= {
    name: (getattr(ne, name), lambda call, **o: call(2, 3, names="N C", **o))
    for name in ("zeros", "ones", "rand", "randn", "empty")
}


@pytest.mark.parametrize("name", CALLS)
def test_out_holds_the_result(name: str) -> None:
    function, call = CALLS[name]
    ne.manual_seed(3)
    wanted = call(function)
    blank = np.full(wanted.shape, 9).astype(wanted.dtype)
    for out in (ne.from_numpy(blank.copy()), ne.from_numpy(blank.copy(), names=wanted.names)):
        array = out.numpy()
        ne.manual_seed(3)
        assert call(function, out=out) is out
        assert out.names == wanted.names and out.numpy() is array
        if name != "empty":
            np.testing.assert_array_equal(array, wanted.numpy())


@pytest.mark.parametrize("name", CALLS)
def test_an_out_with_other_names_is_refused_and_left_alone(name: str) -> None:
    function, call = CALLS[name]
    wanted = call(function)
    others = [ne.from_numpy(np.full((5,), 9.0), names="other")]
    if wanted.ndim:
        others.append(ne.from_numpy(np.full(wanted.shape, 9.0), names=["other", *[None] * (wanted.ndim - 1)]))
    for out in others:
        names = out.names
        with pytest.raises(ne.NameExprError):
            call(function, out=out)
        assert out.names == names and (out.numpy() == 9).all()


def has_out(function: Any) -> bool:
    try:
        return "out" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def test_every_out_is_tested() -> None:
    methods = {
        name for name, value in inspect.getmembers(ne.NamedTensor) if name[0] != "_" and has_out(value)
    }
    methods = {name for name in methods if not name.endswith("_")}
    public = [getattr(ne, name) for name in dir(ne) if name[0] != "_"]
    functions = {value.__name__ for value in public if has_out(value)}
    tested = {*UNARY, *BINARY, *CALLS}
    assert methods - tested == set()
    assert functions - tested <= {"einsum"}


@pytest.mark.parametrize("dtype", ["i4", "i8", "u4", "f4", "f8"])
@pytest.mark.parametrize("negate", ["neg_", "out", "ufunc"])
def test_a_strided_view_is_negated_in_place(dtype: str, negate: str) -> None:
    """NumPy 2.2 to 2.4 gives wrong numbers for np.negative(x, out=x) of a strided x."""
    array = np.arange(1, 41).reshape(10, 4).astype(dtype)
    x = ne.from_numpy(array.copy(), names="N C")
    view = x.select("C", 1)
    if negate == "neg_":
        view.neg_()
    elif negate == "out":
        ne.neg(view, out=view)
    else:
        np.negative(view, out=view)
    array[:, 1] = 0 - array[:, 1]
    assert np.array_equal(x.numpy(), array)


@pytest.mark.parametrize("ufunc", [np.isinf, np.isnan, np.signbit])
def test_numbers_are_asked_into_a_strided_view(ufunc: np.ufunc) -> None:
    """NumPy 2.2 to 2.5 leaves most elements of a strided out= as they were."""
    array = np.where(np.arange(40) % 3, -np.inf, np.nan)
    target = ne.from_numpy(np.ones((40, 3), bool), names="N C")
    with np.errstate(all="ignore"):  # nothing can raise, so NumPy may write into the view itself
        ufunc(ne.tensor(array, names="N"), out=target.select("C", 1))
    expected = [[True, bool(ufunc(value)), True] for value in array]
    assert target.numpy().tolist() == expected
