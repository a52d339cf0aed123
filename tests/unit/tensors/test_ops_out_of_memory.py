"""A result that no memory holds is rejected in our own words, by every operator that makes one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

SIDE = 1 << 25  # the elements of a square of it need more bytes than a processor addresses, even of one byte


def huge(value: Any = 1.5, *, names: object = "N C") -> ne.NamedTensor:
    """Return a tensor that takes no memory itself."""
    return ne.from_numpy(np.broadcast_to(np.asarray(value), (SIDE, SIDE)), names=names)


CALLS: dict[str, Callable[[], Any]] = {
    name: lambda name=name: getattr(huge(), name)("C")
    for name in ("sort", "argsort", "median", "nanmedian", "mode")
}
CALLS |= {name: lambda name=name: getattr(huge(), name)("C") for name in ("cumsum", "cumprod")}
CALLS |= {
    name: lambda name=name: getattr(huge(), name)()
    for name in ("clone", "contiguous", "float", "half", "long", "bool", "exp", "abs", "median", "nanmedian")
}
CALLS |= {
    "topk": lambda: huge().topk(SIDE, "C"),
    "kthvalue": lambda: huge().kthvalue(1, "C"),
    "gather": lambda: huge().gather("C", huge(np.int64(0))),
    "where": lambda: huge().where(huge(True), 0),
    "ne.where": lambda: ne.where(huge(True), 1.0, 2.0),
    "roll": lambda: huge().roll(1, "C"),
    "flatten": lambda: huge().flatten(["N", "C"], "F").clone(),
    "tensordot": lambda: ne.tensordot(huge(), ne.tensor([1.0, 2.0], names="K"), 0),
    "masked_fill": lambda: huge().masked_fill(huge(True), 0),
    "index_fill": lambda: huge().index_fill("C", [0], 1),
    "index_select": lambda: huge().index_select("C", np.broadcast_to(0, (SIDE,))),
    "item": lambda: huge()[np.broadcast_to(0, (SIDE,))],
    "bernoulli": lambda: huge().bernoulli(0.5),
    "equal": lambda: huge().equal(huge()),
    "normal": lambda: ne.normal(huge(), 1.0),
    "cat": lambda: ne.cat([huge(), huge()], "N"),
    "np.add": lambda: np.add(huge(), 1),
    "np.sort": lambda: np.sort(huge(), axis="C"),
    "reduce=": lambda: ne.einsum("a b -> a", huge().numpy(), reduce=lambda x, axis: x.copy().sum(axis)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_result_beyond_all_memory_is_refused(name: str) -> None:
    with pytest.raises(ne.NameExprError, match="NE707") as caught:
        CALLS[name]()
    assert isinstance(caught.value, MemoryError)


def test_what_a_reducer_raises_itself_is_passed_on() -> None:
    def refuse(x: Any, axis: Any) -> Any:
        raise LookupError("no")

    with pytest.raises(LookupError):
        ne.einsum("a b -> a", np.ones((2, 3)), reduce=refuse)


@pytest.mark.parametrize("bounds", [(0, np.inf), (-np.inf, 0), (np.nan, 1), (-1.7e308, 1.7e308)])
def test_bounds_without_a_finite_difference_are_refused(bounds: tuple[float, float]) -> None:
    with pytest.raises(ne.NameExprError, match="NE682"):
        ne.zeros(2).uniform_(*bounds)
