"""NamedTensors around arrays of Dask: PyTorch's recorded answers, laziness, names, texts, and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np
import pytest

import nameexpr as ne
from conformance.recording import Entry, entries, rows
from conformance.replay import DEVIATIONS, Deviation, Library, described, replayed
from nameexpr.errors import NameExprError

da = pytest.importorskip("dask.array")
import dask  # noqa: E402

REFUSED = frozenset({"data_ptr", "stride", "is_contiguous", "masked_select"})
"""The recorded operators that arrays of Dask lack."""


def made(array: Any, names: Any = None) -> Any:
    array = np.asarray(array)
    return ne.tensor(da.from_array(array, chunks=2 if array.size else -1), names=names)


def normal(*sizes: int) -> Any:
    return np.random.default_rng(1).normal(size=sizes)


def code_of(call: Callable[[], Any]) -> str:
    with pytest.raises(NameExprError) as caught:
        call()
    return caught.value.code


@contextmanager
def not_computing() -> Iterator[None]:
    """Raise an error if Dask computes anything."""

    def scheduler(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("something was computed")

    with dask.config.set(scheduler=scheduler):
        yield


def is_refused(entry: Entry) -> bool:
    return entry["case"]["op"] in REFUSED


DASK_DEVIATIONS = {
    **DEVIATIONS,
    "what Dask lacks": Deviation(
        "an error names the operator",
        is_refused,
        lambda _: {"raise": "NameExprError", "text": "Dask does not have it"},
    ),
}
DASK = Library(made, lambda case: case, DASK_DEVIATIONS)


def is_carried(entry: Entry) -> bool:
    """Return whether a call neither writes nor draws, nor has an index that is found wrong when computed."""
    case = entry["case"]
    if case["op"] == "index_fill" and "out of bounds" in entry["expect"].get("text", ""):
        return False
    if case["family"] in ("random", "fill", "factory") or "out" in case["kwargs"]:
        return False
    return case["op"] == "rename_" or not case["op"].endswith("_")


@pytest.mark.parametrize("row", [*rows(), "t"])
def test_the_answers_are_pytorchs(row: str) -> None:
    found = replayed([each for each in entries() if each["case"]["op"] == row and is_carried(each)], DASK)
    assert not found, "\n".join(map(described, found))


def test_most_of_the_recording_is_replayed() -> None:
    assert sum(map(is_carried, entries())) > 1600


def test_nothing_is_computed_while_building() -> None:
    y, z = normal(4, 6), normal(6, 3)
    x, w = made(y, "N C"), made(z, "C K")
    place = ne.tensor(da.from_array(np.array([2, 0]), chunks=1), names="P")
    with not_computing():
        results = [
            ((x * 2 + 1).exp().sum("C"), np.exp(y * 2 + 1).sum(1)),
            (x @ w, y @ z),
            (x.align_to("C", "N"), y.T),
            (x.var("N"), y.var(0, ddof=1)),
            (x.logsumexp("C"), np.log(np.exp(y).sum(1))),
            (x.median("C").values, np.sort(y, 1)[:, 2]),
            (x.sort("C", descending=True).values, -np.sort(-y, 1)),
            (x.cumsum("N"), y.cumsum(0)),
            (x.quantile([0.25, 1.0], "C"), np.quantile(y, [0.25, 1.0], 1)),
            (x.flatten(["N", "C"], "F"), y.ravel()),
            (x[1:, ::2], y[1:, ::2]),
            (x[[2, -1]], y[[2, -1]]),
            (x[:, place], y[:, [2, 0]]),
            (x.index_select("C", place), y[:, [2, 0]]),
            (x[0, :, None][[1, 2]], y[0, :, None][[1, 2]]),
            (ne.where(x > 0, x, 0.0), np.where(y > 0, y, 0)),
            (ne.cat([x, x], "N"), np.concatenate([y, y])),
            (ne.einsum("N C, C K -> K N", x, w), (y @ z).T),
            (ne.einsum("N C, C K -> K N", x, w.tensor), (y @ z).T),
            (ne.evaluate("y[C N] = x[N C] - mean[C](x[N C])", x=x), (y - y.mean(1)[:, None]).T),
        ]
        assert "..." in repr(x) and "chunksize=(2, 2)" in repr(x) and x.chunks == ((2, 2), (2, 2, 2))
        assert "table" in x._repr_html_()
        assert x.to_xarray().data is x.tensor and x.to_xarray().dims == ("N", "C")
    for found, wanted in results:
        assert type(found) is type(x)
        assert type(found.compute()) is ne.NamedTensor and found.compute().names == found.names
        np.testing.assert_allclose(found.numpy(), wanted, atol=1e-12)
    assert results[0][0].names == ("N",) and results[17][0].names == ("K", "N")


def test_sharing_and_persisting() -> None:
    x = made(normal(4, 6), "N C")
    both = dask.compute(x, x.sum("C"))
    assert [each.names for each in both] == [("N", "C"), ("N",)] and both[1].equal(x.sum("C").compute())
    (kept,) = dask.persist(x)
    for one in (kept, x.persist()):
        assert type(one) is type(x) and one.names == x.names and one.equal(x)


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("NE688", lambda x: x.add_(1)),
        ("NE688", lambda x: x.fill_(1)),
        ("NE688", lambda x: x.normal_()),
        ("NE688", lambda x: x.masked_fill_(x > 0, 1)),
        ("NE688", lambda x: x.add(1, out=x.clone())),
        ("NE688", lambda x: x.__setitem__(0, 1)),
        ("NE689", lambda x: x.bernoulli(0.5)),
        ("NE689", lambda x: ne.rand_like(x)),
        ("NE689", lambda x: x.stride()),
        ("NE689", lambda x: x.data_ptr()),
        ("NE689", lambda x: x.__dlpack__()),
        ("NE689", lambda x: x[[0, 1], [1, 2]]),
        ("NE689", lambda x: x[np.ones((4, 6), bool)]),
        ("NE510", lambda x: x[x > 0]),
        ("NE510", lambda x: x.masked_select(x > 0)),
        ("NE510", lambda x: ne.tensor(x.tensor[x.tensor > 0])),
        ("NE503", lambda x: ne.tensor(da.ma.masked_equal(x.tensor, 1))),
        ("NE507", lambda x: x + x.compute()),
        ("NE507", lambda x: x.compute() + x),
        ("NE507", lambda x: x.compute() + x.tensor),
        ("NE507", lambda x: ne.einsum("N C, N C -> N", x, x.compute())),
        ("NE678", lambda x: x.to("cuda")),
        ("NE679", lambda x: x.requires_grad_()),
        ("NE802", lambda x: x[:, [7]]),
        ("NE802", lambda x: x.index_select("C", [-7])),
        ("NE677", lambda x: x.quantile(2, "C")),
        ("NE370", lambda x: x + x[:3].rename(N="N")),
    ],
)
def test_what_is_refused(code: str, call: Callable[[Any], Any]) -> None:
    x = made(normal(4, 6), "N C")
    assert code_of(lambda: call(x)) == code


@pytest.mark.parametrize("index", [6, -7])
def test_lazy_indices_are_checked_when_they_are_computed(index: int) -> None:
    x = made(normal(4, 6), "N C")
    place = made(np.array([0, index]))
    for found in (x.index_select("C", place), x[:, place], x.index_fill("C", place, 0.0)):
        assert code_of(found.compute) == "NE805"
