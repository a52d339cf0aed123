"""NamedTensors around arrays of JAX: PyTorch's recorded answers, transforms, mixtures, and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from conformance.recording import Entry, entries, rows
from conformance.replay import DEVIATIONS, Deviation, Library, described, replayed
from nameexpr.errors import NameExprError
from searching import one_in

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True)
def wide() -> Iterator[None]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def made(*sizes: int, names: Any = None) -> Any:
    return ne.tensor(jax.numpy.asarray(np.random.default_rng(1).normal(size=sizes)), names=names)


def code_of(call: Callable[[], Any]) -> str:
    with pytest.raises(NameExprError) as caught:
        call()
    return caught.value.code


def is_refused(entry: Entry) -> bool:
    return entry["case"]["op"] in ("mode", "data_ptr", "stride", "is_contiguous")


def refusal(_: Entry) -> dict[str, Any]:
    return {"raise": "NameExprError", "text": "JAX does not have it"}


JAX_DEVIATIONS = {
    **{name: each for name, each in DEVIATIONS.items() if not name.startswith("bfloat16")},
    "what JAX lacks": Deviation("an error names the operator", is_refused, refusal),
}
JAX = Library(
    lambda array, names: ne.tensor(jax.numpy.asarray(array), names=names), lambda case: case, JAX_DEVIATIONS
)


def is_carried(entry: Entry) -> bool:
    """Return whether a call neither writes nor draws, nor returns a device."""
    case = entry["case"]
    if case["family"] in ("random", "fill", "factory") or "out" in case["kwargs"] or case["op"] == "device":
        return False
    return case["op"] == "rename_" or not case["op"].endswith("_")


@pytest.mark.parametrize(("number", "row"), list(enumerate([*rows(), "t"])))
def test_the_answers_are_pytorchs(number: int, row: str) -> None:
    """One in three of the calls, for JAX compiles each shape; all in a wide search (CONTRIBUTING.md)."""
    carried = [each for each in entries() if each["case"]["op"] == row and is_carried(each)]
    found = replayed(one_in(3, carried, number), JAX)
    assert not found, "\n".join(map(described, found))


def test_most_of_the_recording_is_replayed() -> None:
    assert sum(map(is_carried, entries())) > 1600


def test_an_array_is_kept() -> None:
    array = jax.numpy.ones((2, 3))
    x = ne.tensor(array, names="N C")
    assert x.data is array and isinstance(x.sum("C").data, jax.Array)
    assert "library='jax'" in repr(x) and "dtype=float64" in repr(x)
    assert (x + np.ones(3)).names == ("N", "C") and isinstance((np.ones(3) * x).data, jax.Array)
    assert (np.float32(2) * x).tolist() == [[2.0] * 3] * 2


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.add_(1),
        lambda x: x.exp_(),
        lambda x: x.fill_(1),
        lambda x: x.copy_(x),
        lambda x: x.normal_(),
        lambda x: x.random_(),
        lambda x: x.masked_fill_(x > 0, 1),
        lambda x: x.index_fill_("C", [0], 1),
        lambda x: x.add(1, out=x.clone()),
        lambda x: x.cumsum_("C"),
        lambda x: x.__setitem__(0, 1),
    ],
)
def test_nothing_is_written(call: Callable[[Any], Any]) -> None:
    x = made(2, 3, names="N C")
    before = x.tolist()
    assert code_of(lambda: call(x)) == "NE688"
    assert x.tolist() == before and x.names == ("N", "C")


def test_what_jax_lacks_is_refused_by_name() -> None:
    x = made(2, 3, names="N C")
    for call in (
        lambda: x.bernoulli(0.5),
        lambda: ne.rand_like(x),
        lambda: ne.normal(x),
        lambda: x.mode("C"),
    ):
        assert code_of(call) == "NE689"
    assert code_of(lambda: x + ne.tensor(np.ones((2, 3)))) == "NE507"


def test_transforms_keep_names() -> None:
    x, w = made(4, 3, names="B C"), made(3, names="C")
    grad = jax.grad(lambda w: (x * w).exp().sum().data)(w)
    wanted = jax.grad(lambda w: jax.numpy.exp(x.data * w).sum())(w.data)
    assert grad.names == ("C",) and np.allclose(grad.numpy(), wanted)
    compiled = jax.jit(lambda x, w: (x * w).softmax("C").align_to("C", "B"))(x, w)
    assert compiled.names == ("C", "B") and np.allclose(compiled.numpy(), (x * w).softmax("C").T.numpy())
    rows = jax.vmap(lambda row: (row * w).sum("C"))(x)
    assert rows.names == (None,) and np.allclose(rows.numpy(), (x * w).sum("C").numpy())
    assert code_of(lambda: jax.jit(lambda x: x.sum().item())(x)) == "NE509"
    leaves, structure = jax.tree_util.tree_flatten({"x": x})
    assert leaves[0] is x.data and jax.tree_util.tree_unflatten(structure, leaves)["x"].names == x.names
    assert jax.tree_util.tree_unflatten(structure, [None])["x"]._data is None


def test_indices_that_are_known_are_checked() -> None:
    x = made(2, 3, names="N C")
    assert code_of(lambda: x.index_select("C", [0, 3])) == "NE802"
    assert code_of(lambda: x[:, jax.numpy.array([3])]) == "NE802"
    assert x.index_select("C", [-1]).tolist() == x[:, [2]].tolist()


def test_texts_give_tensors_with_names() -> None:
    x, w = made(2, 3, names="N C"), made(3, 4, names="C K")
    y = ne.einsum("N C, C K -> N K", x, w)
    assert type(y) is type(x) and y.names == ("N", "K") and np.allclose(y.numpy(), x.numpy() @ w.numpy())
