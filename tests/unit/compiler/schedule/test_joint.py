"""Joint loops: what one computes, when they are chosen, and that plan, code and memory agree with them."""

from __future__ import annotations

import tracemalloc
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

import nameexpr as ne
from nameexpr.compiler import pipeline
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.schedule.limit import jointly
from nameexpr.compiler.schedule.limit.joint import joint_loops
from nameexpr.compiler.schedule.limit.regions import users_of

RNG = np.random.default_rng(17)
PYTHON = 200_000
"""Bytes of Python's own objects, and of the buffers of NumPy's iterator."""


class Workload(NamedTuple):
    """A loss, the operands of its gradients, the shapes of all operands, and the most bytes of a call."""

    text: str
    wrt: str
    shapes: dict[str, tuple[int, ...]]
    most: int
    dtype: str = "float32"

    def operands(self) -> dict[str, Any]:
        return {name: RNG.normal(size=shape).astype(self.dtype) for name, shape in self.shapes.items()}


WORKLOADS = {
    "layer norm": Workload(
        "u[N C] = x[N C] - mean[C](x); z[N C] = u / sqrt(mean[C](u ** 2) + 1e-5); "
        "loss = mean[N C]((z * s[C] + b[C] - t[N C]) ** 2)",
        "s b x",
        {"x": (4096, 256), "s": (256,), "b": (256,), "t": (4096, 256)},
        10_000_000,
    ),
    "a mixture": Workload(
        "d[N K C] = sum[D]((x[N D] - m[K D]) * u[K C D]); "
        "z[N K] = -0.5 * sum[C](d ** 2) + log_softmax[K](p[K]); "
        "loss = -mean[N](logsumexp[K](z))",
        "m u p",
        {"x": (12288, 3), "m": (16, 3), "u": (16, 3, 3), "p": (16,)},
        2_500_000,
        "float64",
    ),
    "pointwise": Workload(
        "loss = sum[N](tanh(x[N] * a[N]) ** 2 * exp(-x ** 2) + x * a)",
        "x a",
        {"x": (700_001,), "a": (700_001,)},
        2 * 700_001 * 8 + 4_000_000,
        "float64",
    ),
    "attention": Workload(
        "a[B H Q K] = softmax[K](sum[D](q[B H Q D] * k[B H K D]) / sqrt(size[D])); "
        "loss = sum[B H Q D](sum[K](a * v[B H K D]) * g[B H Q D])",
        "q k v",
        dict.fromkeys("qkvg", (1, 4, 1024, 32)),
        8_000_000,
    ),
    "keys and queries of one text": Workload(
        "q[B T H D] = sum[C](x[B T C] * wq[C H D]); k[B T H D] = sum[C](x[B T C] * wk[C H D]); "
        "v[B T H D] = sum[C](x[B T C] * wv[C H D]); "
        "s[B H T S] = sum[D](q * k[B S H D]) / sqrt(size[D]); "
        "p[B H T S] = softmax[S](where(index[S] <= index[T], s, -inf)); "
        "y[B T H D] = sum[S](p * v[B S H D]); loss = mean[B T H D]((y - g[B T H D]) ** 2)",
        "wq wk wv",
        {
            "x": (1, 1024, 64),
            **dict.fromkeys(("wq", "wk", "wv"), (64, 4, 32)),
            "g": (1, 1024, 4, 32),
        },
        12_000_000,
    ),
    "distances": Workload(
        "loss = sum[i j](a[i] * exp(-0.05 * sum[D]((x[i D] - y[j D]) ** 2)) * c[j])",
        "x y a c",
        {"x": (600, 16), "y": (500, 16), "a": (600,), "c": (500,)},
        4_000_000,
    ),
}


def both(work: Workload, operands: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any, Any]:
    """Return value and gradients without joint loops, those with them, and the function with them."""
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "_joint", lambda *_: None)
        want = ne.value_and_grad(work.text, work.wrt)(**operands)
    step = ne.value_and_grad(work.text + " # in loops", work.wrt)
    return want, step(**operands), step


@pytest.mark.parametrize("title", WORKLOADS)
def test_one_loop_gives_value_and_gradients_in_little_memory(
    title: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")
    work = WORKLOADS[title]
    operands = work.operands()
    want, got, step = both(work, operands, monkeypatch)
    tolerance = 1e-4 if work.dtype == "float32" else 1e-10
    assert_allclose(got[0], want[0], rtol=tolerance)
    for name, gradient in want[1].items():
        assert (got[1][name].dtype, got[1][name].shape) == (gradient.dtype, gradient.shape)
        assert_allclose(got[1][name], gradient, rtol=tolerance, atol=tolerance * np.abs(gradient).max())
    plan = step.plan(**operands)
    tracemalloc.start()
    step(**operands)
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert plan.peak_bytes <= work.most
    assert measured / 1.1 - PYTHON <= plan.peak_bytes <= 1.1 * measured


def phases(text: str, label: str, **shapes: tuple[int, ...]) -> list[tuple[list[str], list[str]]]:
    """Return for each loop over a label what it computes and what it reads, by the labels."""
    found: list[tuple[list[str], list[str]]] = []
    with pytest.MonkeyPatch.context() as patch:

        def spy(graph: Graph, outputs: tuple[int, ...], *_: Any) -> tuple[()]:
            needed = sorted(users_of(graph, outputs, (), ()))
            for loop in joint_loops(graph, outputs, needed, label):
                named = [[" ".join(graph.labels[one]) for one in part] for part in (loop.tops, loop.reads)]
                found.append((sorted(named[0]), sorted(named[1])))
            return ()

        patch.setattr(jointly, "chosen_loops", spy)
        ne.compile(text).plan(**shapes)
    return found


def test_values_are_computed_in_the_loop_that_reads_them() -> None:
    """The products with w are not stored, as only the second loop reads them, but those with u are: their sum
    is needed first, and to compute them again is to take an exponential.
    """
    text = """
        a[N C] = x[N C] * w[C]
        b[N C] = exp(x[N C] * u[C])
        m[C] = sum[N](b)
        loss = sum[N C](sin(a * b * m))
        g[C] = grad(loss, w[C])
    """
    second, first = phases(text + "# of two phases", "N", x=(1000, 500), w=(500,), u=(500,))
    assert first == (["C", "N C"], ["C", "N C"])
    assert second[1].count("N C") == 2  # x, and the exponentials
    assert second[1].count("C") == 2  # w, and m


def test_the_plan_shows_the_loop_and_the_code_runs_when_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    work = WORKLOADS["a mixture"]
    operands = work.operands()
    _, (loss, gradients), step = both(work, operands, monkeypatch)
    plan = step.plan(**operands)
    kinds = [row.what for row in plan.steps]
    looped = next(row for row in plan.steps if row.what == "looped")
    assert looped.call.endswith("along N") and "  softmax" not in kinds
    assert any(kind.startswith("  ") for kind in kinds)
    assert plan.flops == sum(row.flops for row in plan.steps)
    assert all(plan.draw(kind).startswith("<svg") for kind in ("tree", "memory"))
    space: dict[str, Any] = {}
    exec(plan.code, space)
    given = [operands[name] for name in ("x", "m", "u", "p")]
    results = space["compute"](*given)
    for got, want in zip(results, (loss, *gradients.values()), strict=True):
        assert_allclose(got, want)


@pytest.mark.parametrize("bound", ["x t", "s", "x s b"])
def test_what_bound_operands_determine_is_still_computed_once(
    bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = WORKLOADS["layer norm"]
    operands = work.operands()
    want, _, step = both(work, operands, monkeypatch)
    fixed = {name: operands.pop(name) for name in bound.split()}
    loss, gradients = step.bind(**fixed)(**operands)
    assert_allclose(loss, want[0], rtol=1e-4)
    for name, gradient in want[1].items():
        assert_allclose(gradients[name], gradient, rtol=1e-3, atol=1e-4 * np.abs(gradient).max())


@pytest.mark.parametrize(
    "text",
    [
        "h[N H] = relu(sum[C](x[N C] * w[C H])); loss = mean[N H](h ** 2)",  # products of matrices
        "z[N C] = (x[N C] - mean[N](x)) / std[N](x); loss = sum[N C](z ** 3 * w[C C])",  # sums come first
    ],
)
def test_loops_that_save_nothing_are_not_chosen(text: str) -> None:
    step = ne.value_and_grad(text, "w")
    plan = step.plan(x=RNG.random((500, 400)), w=RNG.random((400, 400)))
    assert "looped" not in [row.what for row in plan.steps]


BATCH = """
    m[C] = mean[N](x[N C]); v[C] = mean[N]((x - m) ** 2)
    z[N C] = (x - m) / sqrt(v + 1e-5)
    loss = sum[N C](tanh(z * s[C]) * t[N C])
"""


def test_several_loops_under_a_limit_store_values_or_compute_them_again() -> None:
    operands = {
        name: RNG.normal(size=shape) for name, shape in {"x": (900, 40), "s": (40,), "t": (900, 40)}.items()
    }
    free = ne.value_and_grad(BATCH, "s x")
    want, results = free(**operands), 901 * 40 * 8
    limit = results + 100_000
    assert free.plan(**operands).peak_bytes > results + 400_000
    limited = ne.value_and_grad(BATCH, "s x", memory_limit=limit)
    plan = limited.plan(**operands)
    loops = [row.call for row in plan.steps if row.what == "looped"]
    assert len(loops) > 1 and loops[-1].endswith("values computed again")
    got = limited(**operands)
    tracemalloc.start()
    limited(**operands)
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert plan.peak_bytes <= limit and measured <= limit + PYTHON
    assert_allclose(got[0], want[0])
    for name, gradient in want[1].items():
        assert_allclose(got[1][name], gradient, rtol=1e-9, atol=1e-12)


def test_a_mask_that_all_samples_share_has_the_order_of_what_a_block_masks() -> None:
    text = """
        k[B S D] = sum[C](x[B S C] * w[C D])
        s[B T S] = sum[D](k[B T D] * k[B S D])
        p[B T S] = softmax[S](where(index[S] <= index[T], s, -inf))
        loss = sum[B T D](sum[S](p * k[B S D]) ** 2)
    """
    operands = {"x": RNG.normal(size=(8, 256, 16)) / 4, "w": RNG.normal(size=(16, 32)) / 4}
    work = Workload(text, "w", {}, 0)
    with pytest.MonkeyPatch.context() as patch:
        want, got, step = both(work, operands, patch)
    assert_allclose(got[1]["w"], want[1]["w"], rtol=1e-9)
    rows = step.plan(**operands).steps
    assert any(row.call.endswith("along B") for row in rows if row.what == "looped")
    masks = [row.call.split("(")[1].split(",")[0] for row in rows if "where_over" in row.call]
    assert len(masks) == 2
    assert not any(row.what == "transpose" and row.call.startswith(tuple(masks)) for row in rows)


@pytest.mark.parametrize("share", [0.2, 0.05])
def test_a_tight_limit_cuts_samples_into_small_blocks_rather_than_features(share: float) -> None:
    """Features are contiguous: to loop over them reads every array in short pieces."""
    work = WORKLOADS["layer norm"]
    operands = work.operands()
    results = 4 * (4096 * 256 + 2 * 256 + 1)
    free = ne.value_and_grad(work.text, work.wrt)
    limit = int(results + share * (free.plan(**operands).peak_bytes - results))
    plan = ne.value_and_grad(work.text, work.wrt, memory_limit=limit).plan(**operands)
    assert plan.peak_bytes <= limit
    assert [row.call.rpartition(" along ")[2] for row in plan.steps if row.what == "looped"] == ["N"]
