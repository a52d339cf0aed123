"""`set_threads`: the same bits for any number, for texts that are compiled already, too."""

from __future__ import annotations

import os
import pickle
import platform
import subprocess
import sys
import threading
import tracemalloc
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.backends.numpy import normalising
from nameexpr.backends.numpy import target as machine
from nameexpr.backends.numpy.costs import GENERIC
from nameexpr.backends.numpy.target import TARGET
from nameexpr.backends.numpy.threads import gain, job, parts, spread
from nameexpr.compiler.ir import normalising as blocks_of_softmax
from nameexpr.records import replace
from nameexpr.runtime import sharing
from nameexpr.runtime.entry import Entry

SMALL = replace(TARGET, block_cells=64, fused_cells=64, tiled_bytes=512, tile_cells=16, cached_cells=64)
"""Blocks and slices for arrays of a few hundred elements."""
RNG = np.random.default_rng(4)
OPERANDS = {
    "x": RNG.standard_normal((30, 20)),
    "w": RNG.standard_normal(20),
    "q": RNG.standard_normal((3, 4, 8, 5)),
    "k": RNG.standard_normal((3, 4, 8, 5)),
    "half": RNG.standard_normal((30, 20)).astype("float16"),
    "n": RNG.integers(0, 9, (30, 20)),
    "tiny": RNG.standard_normal((900, 3, 3)),
    "long": RNG.standard_normal((6600, 20)),
}
ATTENTION = "p[B h Q K] = softmax[K](sum[d](q[B h Q d] * k[B h K d])); o[B h Q d] = sum[K](p * k[B h K d])"
TEXTS = [
    "y[a b] = tanh(x[a b] * 2 + w[b]) / (1 + x[a b] ** 2)",
    "y = sum[a b](exp(x[a b]) * w[b])",
    "y[a] = logsumexp[b](x[a b] * w[b])",
    "y[b] = sum[a](exp(x[a b]) + w[b])",
    "y = mean[a b](exp(x[a b]) + w[b])",
    "y[b] = mean[a](half[a b] ** 2 + half[a b])",
    "y = max[a b](abs(x[a b]) + w[b])",
    "y[a] = any[b](x[a b] + w[b] > 2)",
    "y[b a] = where(x[a b] > 0, x[a b] * 2, n[a b] + w[b])",
    ATTENTION,
    "p = softmax[b](x[a b] + w[b]); l = -sum[a b](p * x[a b]); y[a b] = grad(l, x[a b])",
    "m[a] = mean[b](x[a b]); v[a] = mean[b]((x - m) ** 2); z = (x - m) / sqrt(v + 1) * w[b];"
    "l = sum[a b](tanh(z)); y[a b] = grad(l, x[a b]); u[b] = grad(l, w[b])",
    "l = sum[a](log(1 + exp(x[a b] + w[b]))); y[b] = grad(sum[b](l), w[b])",
]


CALLS = [
    "p[B h Q K] = softmax[K](q[B h Q K])",
    "p[B h Q K] = softmax[Q](q[B h Q K]); z = log_softmax[B](p[B h Q K])",
    "p[a b] = softmax[b](half[a b])",
    "p[B h Q K] = softmax[K](sum[d](q[B h Q d] * k[B h K d])); o[B h Q d] = sum[K](p * k[B h K d])",
    "y[b a] = exp(x[a b])",
    "y[a b] = sqrt(abs(x[a b] * w[b]))",
    "y[a b] = gelu(long[a b]); z[a b] = erf(long[a b] * w[b])",
    "y[a b] = where(n[a b] > 4, x[a b], w[b])",
    "y[a] = sum[b](x[a b]); z[b] = sum[a](x[a b]); u[b] = max[a](x[a b])",
    "y[a] = sum[b](n[a b]); z[a] = sum[b](half[a b])",
    "y[B Q] = sum[h d](q[B h Q d]); z[h d] = sum[B Q](q[B h Q d]); u[Q] = prod[B h d](q[B h Q d])",
    "y[a b] = cumsum[b](x[a b]); z[a b] = sort[a](x[a b]); u[b a] = flip[a](x[a b])",
    "y[B h Q] = sum[d](q[B h Q d] * k[B h Q d])",
    "y[h Q B d] = q[B h Q d]; z[b a] = n[a b] * 1.0",
    "y[a b] = -x[a b]; z[b a] = x[a b] / 3",
    "y[(a + c) b] = exp(x[a b]), sqrt(abs(n[c b]))",
]
EXPRESSIONS = [
    ("a b -> b a", ["x"]),
    ("a b, b -> a b", ["x", "w"]),
    ("B h Q d, B h K d -> B h Q K", ["q", "k"]),
    ("B h Q d, B h Q d -> B Q h", ["q", "k"]),
    ("B h Q d -> h d : max", ["q"]),
    ("n i j, n j k -> n i k", ["tiny", "tiny"]),
    ("n i j, n i j -> n", ["tiny", "tiny"]),
    ("B h Q d -> B h : logsumexp", ["q"]),
]


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    with ne.set_threads(ne.get_threads()):
        yield


def handing_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = replace(GENERIC, handed_over=1e-6)
    monkeypatch.setattr(machine, "_choice", machine.ChosenProfile(profile, machine.target_of(profile)))
    monkeypatch.setattr(machine, "blas_threads", lambda: 1)
    monkeypatch.setattr(gain, "WORTH", 10.0)


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Make all that can be shared so, and list the threads of each job."""
    jobs: list[int] = []
    monkeypatch.setattr(Entry, "target", SMALL)
    handing_takes_nothing(monkeypatch)
    for module in (parts, normalising, blocks_of_softmax):
        monkeypatch.setattr(module, "BLOCK", 16)
    monkeypatch.setattr(blocks_of_softmax, "LEAST", 2)
    monkeypatch.setattr(parts, "RUN", 1)
    run = job.Job.run

    def counted(self: job.Job, count: int, **options: Any) -> list[Any]:
        jobs.append(count)
        return run(self, count, **options)

    monkeypatch.setattr(job.Job, "run", counted)
    return jobs


def used(text: str) -> dict[str, Any]:
    return {name: OPERANDS[name] for name in ne.compile(text).operands}


def bits(results: Any) -> list[tuple[Any, ...]]:
    every = results if isinstance(results, tuple) else (results,)
    return [(one.shape, one.dtype, one.strides, one.tobytes()) for one in map(np.asarray, every)]


@pytest.mark.parametrize("text", TEXTS)
def test_the_bits_are_the_same_for_all_numbers(text: str, eager: list[int]) -> None:
    operands = used(text)
    expected = bits(ne.evaluate(text, operands=operands))
    assert eager == []
    for count in (2, 3, 7):
        ne.set_threads(count)
        assert bits(ne.evaluate(text, operands=operands)) == expected
        assert eager and max(eager) <= count
        eager.clear()


@pytest.mark.parametrize("text", CALLS)
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_calls_in_parts_give_the_same_bits(text: str, order: str, eager: list[int]) -> None:
    operands = {name: laid_out(value, order) for name, value in used(text).items()}
    names = [statement.strip().partition("[")[0].partition(" ")[0] for statement in text.split(";")]
    expected = bits(ne.evaluate(text, operands=operands, outputs=names))
    for count in (2, 3, 7):
        ne.set_threads(count)
        assert bits(ne.evaluate(text, operands=operands, outputs=names)) == expected
        assert eager or order != "C"
        eager.clear()


@pytest.mark.parametrize(("text", "names"), EXPRESSIONS)
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_expressions_give_the_same_bits(text: str, names: list[str], order: str, eager: list[int]) -> None:
    operands = [laid_out(OPERANDS[name], order) for name in names]
    expected = bits(ne.einsum(text, *operands))
    for count in (2, 3):
        ne.set_threads(count)
        assert bits(ne.einsum(text, *operands)) == expected


def laid_out(x: np.ndarray, order: str) -> np.ndarray:
    if order != "strided":
        return np.asarray(x, order=order)
    return np.repeat(x, 2, axis=-1)[..., ::2]


def test_objects_are_computed_as_on_one_thread(eager: list[int]) -> None:
    x = np.array([[10**30 * (row + 1) + column for column in range(20)] for row in range(30)], object)
    for text, expected in (("a b, a b -> a b", x * x), ("a b -> a : sum", x.sum(1))):
        operands = [x] * (text.count(",") + 1)
        with ne.set_threads(3):
            np.testing.assert_array_equal(ne.einsum(text, *operands), expected)


def test_texts_that_are_compiled_use_threads_from_then_on(eager: list[int]) -> None:
    text = TEXTS[0]
    operands = used(text)
    formula = ne.compile(text)
    bound = formula.bind(w=operands["w"])
    expression = ne.compile("a b, b -> a", optimize=True)
    for call in (
        lambda: formula(**operands),
        lambda: bound(x=operands["x"]),
        lambda: ne.evaluate(text, **operands),
        lambda: pickle.loads(pickle.dumps(formula))(**operands),
    ):
        expected = call()
        assert eager == []
        with ne.set_threads(2):
            assert call().tobytes() == expected.tobytes()
            assert eager == [2]
        eager.clear()
        assert call().tobytes() == expected.tobytes()
        assert eager == []
    assert expression(operands["x"], operands["w"]).shape == (30,)


def test_going_back_compiles_nothing_again(eager: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    text = TEXTS[0]
    operands = used(text)
    for count in (1, 2):
        with ne.set_threads(count):
            ne.evaluate(text, **operands)

    def never(*_: Any) -> None:
        raise AssertionError("it was compiled again")

    monkeypatch.setattr(Entry, "_made", never)
    for count in (1, 2, 1, 2):
        with ne.set_threads(count):
            ne.evaluate(text, **operands)
    assert len(eager) == 3


def test_it_is_a_context_and_a_statement() -> None:
    assert ne.get_threads() == 1
    with ne.set_threads(3) as setting:
        assert ne.get_threads() == 3
        assert repr(setting) == "set_threads(3)"
        ne.set_threads(np.int64(2))
        assert ne.get_threads() == 2
    assert ne.get_threads() == 1


@pytest.mark.parametrize("count", [0, -1, 2.0, True, "2", None, 10**9])
def test_what_is_no_number_of_threads_is_refused(count: Any) -> None:
    with pytest.raises(ne.OptionError, match="NE617"):
        ne.set_threads(count)
    assert ne.get_threads() == 1


def test_a_result_is_written_into_out(eager: list[int]) -> None:
    text, operands = TEXTS[0], used(TEXTS[0])
    expected = ne.evaluate(text, **operands)
    out = np.empty((30, 20))
    with ne.set_threads(2):
        assert ne.compile(text)(**operands, out=out) is out
    assert eager
    assert out.tobytes() == expected.tobytes()


def test_names_are_kept(eager: list[int]) -> None:
    x = ne.tensor(OPERANDS["x"], names="a b")
    with ne.set_threads(2):
        made = ne.evaluate(TEXTS[0], x=x, w=OPERANDS["w"])
    assert eager
    assert made.names == ("a", "b")


def test_errors_of_numbers_are_those_of_one_thread(eager: list[int]) -> None:
    text, x = "y[a b] = log(x[a b] - 1) + 1 / x[a b]", np.zeros((30, 20))

    def told(count: int) -> tuple[list[str], str]:
        with ne.set_threads(count), warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            ne.evaluate(text, x=x)
            with np.errstate(all="raise"), pytest.raises(FloatingPointError) as raised:
                ne.evaluate(text, x=x)
        return [str(one.message) for one in found], str(raised.value)

    assert told(2) == told(1)
    assert eager


def test_code_and_the_number_of_flops_are_those_of_one_thread(eager: list[int]) -> None:
    formula, operands = ne.compile(ATTENTION), used(ATTENTION)
    one = formula.plan(**operands)
    with ne.set_threads(2):
        two = formula.plan(**operands)
        formula(**operands)
        assert formula.code == one.code == two.code
    assert eager
    assert two.flops == one.flops
    assert [step.threads for step in two.steps] == [2]
    assert two.steps[0].call == f"{one.steps[0].call}, on 2 threads"
    assert two.peak_bytes > one.peak_bytes
    assert "on 2 cores" in str(two)


@pytest.mark.parametrize("text", TEXTS)
def test_memory_is_at_most_what_the_plan_predicts(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    handing_takes_nothing(monkeypatch)
    monkeypatch.setattr(Entry, "target", replace(SMALL, block_cells=4096, tile_cells=4096))
    operands = {name: np.tile(value, (8,) * value.ndim) for name, value in used(text).items()}
    formula = ne.compile(text)
    with ne.set_threads(3):
        plan = formula.plan(**operands)
        formula(**operands)
        tracemalloc.start()
        formula(**operands)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak <= 1.01 * plan.peak_bytes + 20_000


def test_a_limit_of_memory_is_kept(eager: list[int]) -> None:
    text, operands = TEXTS[2], used(TEXTS[2])
    limit = ne.compile(text).plan(**operands).peak_bytes
    for extra, is_shared in ((0, False), (10_000, True)):
        formula = ne.compile(text, memory_limit=limit + extra)
        with ne.set_threads(2):
            formula(**operands)
            assert formula.plan(**operands).peak_bytes <= limit + extra
        assert bool(eager) == is_shared


def test_a_limit_holds_for_all_calls_of_a_chain(eager: list[int]) -> None:
    text = "f, c b, d e c -> b c : sum"
    operands = [np.ones(shape, bool) for shape in ((2,), (7, 2), (3, 5, 7))]
    least = ne.compile(text).plan(*operands).peak_bytes
    shared = 0
    with ne.set_threads(2):
        assert ne.compile(text).plan(*operands).peak_bytes > least
        for limit in range(least, 2 * least, 10):
            plan = ne.compile(text, memory_limit=limit).plan(*operands)
            assert plan.peak_bytes <= limit
            shared += max(step.threads for step in plan.steps) > 1
    assert shared > 0


LOOPS = [
    ("l = sum[a b](tanh(x[a b] * w[b])); y[b] = grad(l, w[b]); z[a b] = grad(l, x[a b])", "l y z", 9_000),
    ("y[a c] = sum[b](exp(x[a b]) * tanh(x[c b])); z[c] = sum[a](y[a c] ** 2)", "z", 9_000),
    ("y[a b] = x[a b] / sum[b](exp(x[a b] + w[b]))", "y", 7_000),
]


@pytest.mark.parametrize(("text", "outputs", "limit"), LOOPS)
def test_loops_over_blocks_of_a_label_give_the_same_bits(
    text: str, outputs: str, limit: int, eager: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Entry, "target", TARGET)
    monkeypatch.setattr(sharing, "spread_over", lambda *given: spread.spread_over(*given[:4]))
    formula, operands = ne.compile(text, memory_limit=limit, outputs=outputs.split()), used(text)
    assert any(step.what.strip() == "looped" for step in formula.plan(**operands).steps)
    expected = bits(formula(**operands))
    for count in (2, 3, 7):
        with ne.set_threads(count):
            assert bits(formula(**operands)) == expected
        assert eager
        eager.clear()


def test_the_time_of_a_loop_is_that_of_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    handing_takes_nothing(monkeypatch)
    x = np.empty((4096, 512))
    text = "m[a] = mean[b](x[a b]); v[a] = mean[b]((x - m) ** 2); l = sum[a b](tanh((x - m) / sqrt(v)))"
    text += "; g[a b] = grad(l, x[a b])"
    formula = ne.compile(text)
    one = formula.plan(x=x)
    assert one.steps[0].what == "looped"
    with ne.set_threads(2):
        two = formula.plan(x=x)
    assert two.steps[0].threads == 2
    assert two.seconds == pytest.approx(one.seconds * gain.SLOWED / 2, rel=0.01)


MEMORY = """
import resource, numpy as np, nameexpr as ne
shapes = {{"x": (2000, 1000), "w": (1000,), "k": (50, 50, 3), "g": (10, 3), "e": (10, 10)}}
shapes["s"] = 20, 50, 40, 10
formula = ne.compile({text!r})
given = {{name: np.ones(shapes[name]) for name in formula.operands}}
ne.set_threads({threads})
for _ in range(3):
    formula(**given)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    formula(**given)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators have other rules")
@pytest.mark.parametrize(
    ("text", "threads"),
    [
        ("y[a] = logsumexp[b](x[a b] * w[b])", 2),
        ("y[a b] = exp(x[a b])", 2),
        ("y[f t n o] = sum[r c h](g[n r] * k[f c r] * e[n h] * s[o c t h])", 1),
    ],
)
def test_the_memory_of_blocks_and_results_is_used_again(text: str, threads: int) -> None:
    command = [sys.executable, "-c", MEMORY.format(text=text, threads=threads)]
    # Dask sets some of these in the process that runs the tests, which fixes what glibc otherwise adapts.
    own = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    made = subprocess.run(command, capture_output=True, text=True, check=True, env=own)
    assert int(made.stdout) < 500  # pages; 16 MB have 4,000


def test_many_threads_call_at_once(eager: list[int]) -> None:
    text, operands = TEXTS[0], used(TEXTS[0])
    expected = ne.evaluate(text, **operands).tobytes()
    found: list[bool] = []

    def call() -> None:
        found.extend(ne.evaluate(text, **operands).tobytes() == expected for _ in range(20))

    with ne.set_threads(3):
        callers = [threading.Thread(target=call) for _ in range(4)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
    assert found == [True] * 80


@pytest.mark.parametrize(("value", "printed"), [("3", "3"), ("", "1"), ("none", "NE617"), ("0", "NE617")])
def test_the_environment_sets_the_number(value: str, printed: str) -> None:
    script = """
import numpy as np, nameexpr as ne
try:
    ne.einsum("a -> a", np.ones(2))
    print(ne.get_threads())
except ne.OptionError as wrong:
    print(wrong.code)
"""
    environment = {**os.environ, "NAMEEXPR_THREADS": value}
    made = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert made.stdout.strip() == printed
