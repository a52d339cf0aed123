"""What happens around a call: other processes after a warm-up, and calls that are interrupted."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.runtime import cache

TEXT = "i j, j k -> i k"


def product(size: int) -> float:
    x = np.arange(size * size, dtype=float).reshape(size, size)
    return float(ne.einsum(TEXT, x, x).sum())


def applied(given: tuple[Callable[..., ne.NamedTensor], dict[str, ne.NamedTensor]]) -> ne.NamedTensor:
    function, operands = given
    return function(**operands) if hasattr(function, "operands") else function(*operands.values())


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python warns of forks beside threads
def test_other_processes_work_after_a_warm_up(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        method = "spawn"
    expected = [product(size) for size in (2, 3, 4)]
    x, w = ne.tensor(np.arange(6.0).reshape(2, 3), names="N C"), ne.tensor(np.ones((3, 2)), names="C K")
    products = [ne.compile("N C, C K -> N K"), ne.compile("sum[C](x[N C] * w[C K])")]
    jobs = [(function, {"x": x, "w": w}) for function in products]
    jobs.append((products[0].bind({1: w}), {"x": x}))
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(product, (2, 3, 4)) == expected
        made = pool.map(applied, jobs)
    assert [one.names for one in made] == [("N", "K")] * 3
    assert [one.tolist() for one in made] == [[[3, 3], [12, 12]]] * 3


@pytest.mark.parametrize("fault", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_call_leaves_the_next_one_right(
    fault: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.array([[1.0, 5.0], [2.0, 7.0]])

    def interrupted(*_: object) -> np.ndarray:
        raise fault

    expected = ne.einsum("i j -> i : logsumexp", x)
    bound = cache.calls["i j -> i : logsumexp"].__globals__
    out = np.zeros(2)
    with monkeypatch.context() as patch:
        patch.setitem(bound, "kernels_logsumexp", interrupted)
        with pytest.raises(fault):  # a LimitError is a MemoryError
            ne.einsum("i j -> i : logsumexp", x, out=out)
    assert not out.any()
    np.testing.assert_array_equal(ne.einsum("i j -> i : logsumexp", x), expected)


def test_an_interrupt_while_compiling_leaves_the_next_call_right(monkeypatch: pytest.MonkeyPatch) -> None:
    from nameexpr.runtime import expression

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(expression, "compile_expression", interrupted)
        with pytest.raises(KeyboardInterrupt):
            product(3)
    assert product(3) == pickle.loads(pickle.dumps(product(3)))
    x = np.arange(9.0).reshape(3, 3)
    assert product(3) == (x @ x).sum()
