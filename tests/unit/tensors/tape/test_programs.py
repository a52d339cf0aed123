"""Whole programs on the tape: what is kept and freed, threads, values that are lost or written over."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.errors import NameExprError
from nameexpr.tensors.tape.versions import LOG
from nameexpr.tensors.writing import WATCHED


def leaf(*values: float) -> Any:
    return ne.tensor(list(map(float, values)), names="C").requires_grad_()


def test_a_chain_of_20000_operators_is_no_recursion() -> None:
    x = y = leaf(1, 2)
    for number in range(20_000):
        y = y + 1.0 if number % 2 else y[...] if number % 8 == 0 else y.neg()
    y.sum().backward()
    assert abs(x.grad).tolist() == [1, 1]
    for _ in range(5_000):
        y = y * 1.0
    del y


def test_a_result_that_is_read_many_times_adds_up() -> None:
    x = leaf(1, 2)
    a = x * 2
    b = a + a * x
    loss = (b * a).sum()  # 4 x**2 + 4 x**3
    loss.backward(retain_graph=True)
    assert x.grad.tolist() == [20, 64]
    loss.backward()
    assert x.grad.tolist() == [40, 128]


def test_tensors_are_freed_without_the_garbage_collector() -> None:
    gc.collect()
    LOG.epoch = None  # the nodes of other tests, some of which a report may keep, are in other epochs
    before = set(LOG.alive)
    gc.disable()
    try:
        x = leaf(1, 2)
        y = (x * 2).exp()
        assert set(LOG.alive) > before
        y.register_hook(lambda gradient: gradient * 2)
        y.retain_grad()
        parts = ne.cat([y, y[1:]]).split(1)
        ne.stack([*parts]).sum().backward()
        references = [weakref.ref(x), weakref.ref(y)]
        del x, y, parts
        assert [reference() for reference in references] == [None, None]
    finally:
        gc.enable()
    assert set(LOG.alive) <= before
    assert bool(WATCHED) == bool(LOG.alive)


def test_threads_add_to_one_leaf() -> None:
    x = leaf(1, 2)

    def work() -> None:
        for _ in range(50):
            (x * 2).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.tolist() == [400, 400]


def zeros() -> Any:
    return ne.zeros(2, 3, names="N C")


MASK = ne.tensor([[True, False, True]] * 2, names="N C")
WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "add_": lambda x, w: x.add_(w),
    "atan2_": lambda x, w: x.atan2_(w),
    "clamp_": lambda x, w: x.clamp_(w),
    "clamp": lambda x, w: x.clamp(max=w),
    "fill_": lambda x, w: x.fill_(w.sum()),
    "copy_": lambda x, w: x.copy_(w),
    "masked_fill_": lambda x, w: x.masked_fill_(MASK, w.sum()),
    "masked_fill": lambda x, w: x.masked_fill(MASK, w.sum()),
    "index_fill": lambda x, w: x.index_fill("C", [0], w.sum()),
    "index_fill_": lambda x, w: x.index_fill_("C", [0], w.sum()),
    "addmm_": lambda x, w: x.addmm_(ne.ones(2, 1), w.unsqueeze(0, "N").rename(None)),
}


@pytest.mark.parametrize("name", sorted(WRITES))
def test_a_recorded_value_in_a_plain_tensor_is_recorded(name: str) -> None:
    w = leaf(-1, -2, -3)
    x = zeros().exp() if "clamp" not in name else zeros() - 10.0
    y = WRITES[name](x, w)
    assert y.requires_grad
    assert x.requires_grad == name.endswith("_")


@pytest.mark.parametrize("name", sorted(name for name in WRITES if name.endswith("_")))
def test_a_recorded_value_in_a_plain_tensor_with_views_is_refused(name: str) -> None:
    x = zeros()
    view = x[0]
    with pytest.raises(NameExprError, match="NE694"):
        WRITES[name](x, leaf(1, 2, 3))
    assert not view.any()


def test_an_array_may_change_after_it_was_read() -> None:
    """An array of NumPy does not tell, so that its elements are copied; a tensor is an error."""
    for operator in ("mul", "matmul", "dot"):
        x, array = leaf(1, 2), np.array([3.0, 4.0])
        y = getattr(x, operator)(array) if operator == "mul" else array @ x
        array[:] = 0
        y.sum().backward()
        assert x.grad.tolist() == [3, 4]
    x, other = leaf(1, 2), ne.tensor([3.0, 4.0], names="C")
    y = (x * other).sum()
    other[0] = 0
    with pytest.raises(NameExprError, match="NE693"):
        y.backward()


def test_gradients_by_intermediate_results() -> None:
    x = leaf(1, 2)
    y = x * 2
    (y * y).sum().backward(inputs=[y])
    assert x.grad is None
    assert y.grad.tolist() == [4, 8]


def test_no_grad_without_brackets_decorates() -> None:
    @ne.no_grad
    def double(x: Any) -> Any:
        return x * 2

    assert not double(leaf(1)).requires_grad
    assert ne.is_grad_enabled()


def test_requires_grad_is_assigned() -> None:
    x = ne.ones(2, names="C")
    x.requires_grad = True
    (x * 2).sum().backward()
    assert x.grad.names == ("C",)
    x.requires_grad = False
    assert not x.requires_grad
    with ne.no_grad():
        assert ne.zeros(2, names="C").exp(out=leaf(5, 5)).requires_grad


def test_arrays_like_a_recorded_tensor_are_constants() -> None:
    for function in (np.zeros_like, np.ones_like, np.empty_like):
        assert function(leaf(1, 2)).names == ("C",)


def test_a_gradient_has_the_names_that_its_tensor_has_now() -> None:
    x = leaf(1, 2)
    (x * x).sum().backward()
    x.rename_(C="D")
    assert x.grad.names == ("D",)
    x.names = ("E",)
    assert x.grad.names == ("E",)


def test_contexts_are_nested() -> None:
    with ne.no_grad():
        with ne.enable_grad():
            assert ne.is_grad_enabled()
        assert not ne.is_grad_enabled()
        with ne.no_grad():
            pass
        assert not ne.is_grad_enabled()
    assert ne.is_grad_enabled()


def test_a_gradient_that_a_hook_keeps_does_not_change() -> None:
    x, seen = leaf(1, 2), []
    x.register_hook(seen.append)
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    assert [gradient.tolist() for gradient in seen] == [[2, 2], [3, 3]]


def test_what_does_nothing_returns_the_tensor_itself() -> None:
    x = leaf(1, 2)
    assert x.to("float64") is x
    assert x.contiguous() is x
