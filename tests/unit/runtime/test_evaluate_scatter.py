"""Reductions of what a label selects equal nested loops, however they are computed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.backends.numpy import scattering

Array = np.ndarray[Any, np.dtype[Any]]
RNG = np.random.default_rng(18)
K, N, D = 7, 2000, 3
LABELS = RNG.integers(-2, K + 2, N)
FLOATS = ["float16", "float32", "float64", "complex64", "complex128"]
WHOLE = ["bool", "int8", "uint8", "int64", "uint64"]
TOLERANCE = {"float16": 3e-3, "float32": 3e-5, "complex64": 3e-5}


def numbers(dtype: str, *shape: int) -> Array:
    x = RNG.integers(0 if dtype.startswith("u") else -3, 4, shape)
    if dtype.startswith("c"):
        return (x + 1j * RNG.integers(-3, 4, shape)).astype(dtype) / 2
    return np.asarray(x.astype(dtype) / 2 if dtype.startswith("f") else x).astype(dtype)


def looped(
    x: Array, labels: Array, first: Any, combine: Callable[[Any, Any], Any], bins: int = K
) -> list[list[Any]]:
    """For each bin and column the elements of its rows, combined one after the other."""
    made = [[first for _ in range(x.shape[1])] for _ in range(bins)]
    for row, label in zip(x.tolist(), labels.tolist(), strict=True):
        if 0 <= label < bins:
            made[label] = [combine(one, other) for one, other in zip(made[label], row, strict=True)]
    return made


def is_placed(text: str, **operands: Any) -> bool:
    code: str = ne.compile(text, sizes={"K": K}).plan(**operands).code
    return "scattering." in code


SUM = "sum[N](where(label[N] == index[K], x[N D], 0))"


@pytest.mark.parametrize("dtype", FLOATS + WHOLE)
@pytest.mark.parametrize("labels", ["int8", "int64", "uint64", "int16"])
def test_a_sum_by_label_equals_loops(dtype: str, labels: str) -> None:
    x, label = numbers(dtype, N, D), LABELS if labels.startswith("i") else abs(LABELS)
    label = label.astype(labels)
    assert is_placed(SUM, x=x, label=label)
    found = ne.evaluate(SUM, x=x, label=label, sizes={"K": K})
    wanted = looped(x, label, 0, lambda one, other: one + other)
    if dtype in WHOLE:
        assert found.tolist() == wanted
    rtol = TOLERANCE.get(dtype, 1e-12)
    np.testing.assert_allclose(found.astype(complex), np.array(wanted, complex), rtol=rtol)
    assert found.dtype == ne.evaluate("sum[N](x[N D])", x=x).dtype


@pytest.mark.parametrize("dtype", FLOATS[:3])
@pytest.mark.parametrize(("name", "empty", "combine"), [("max", -np.inf, max), ("min", np.inf, min)])
def test_extremes_by_label_equal_loops(dtype: str, name: str, empty: float, combine: Any) -> None:
    x = numbers(dtype, N, D)
    text = f"{name}[N](where(index[K] == label[N], x[N D], {'-' * (empty < 0)}inf))"
    found = ne.evaluate(text, x=x, label=LABELS, sizes={"K": K})
    assert found.tolist() == looped(x, LABELS, empty, combine)
    assert found.dtype == x.dtype


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float32", "float64", "complex128"])
def test_a_product_by_label_equals_loops(dtype: str) -> None:
    x = np.where(RNG.random((N, D)) < 0.01, 2, 1).astype(dtype)
    text = "prod[N](where(label[N] == index[K], x[N D], 1))"
    assert is_placed(text, x=x, label=LABELS)
    found = ne.evaluate(text, x=x, label=LABELS, sizes={"K": K})
    assert found.tolist() == looped(x, LABELS, 1, lambda one, other: one * other)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "complex64"])
@pytest.mark.parametrize(("name", "empty"), [("any", 0), ("all", 1)])
def test_any_and_all_by_label_equal_loops(dtype: str, name: str, empty: int) -> None:
    x = (RNG.random((N, D)) < (0.001 if name == "any" else 0.999)).astype(dtype)
    text = f"{name}[N](where(label[N] == index[K], x[N D] != 0, {empty} == 1))"
    found = ne.evaluate(text, x=x, label=LABELS, sizes={"K": K})
    either: Callable[[Any, Any], bool] = lambda one, other: bool(one or other)  # noqa: E731
    both: Callable[[Any, Any], bool] = lambda one, other: bool(one and other)  # noqa: E731
    combine = either if name == "any" else both
    assert found.tolist() == looped(x, LABELS, bool(empty), combine)
    assert not found.all()
    assert found.any()


@pytest.mark.parametrize("dtype", FLOATS + WHOLE)
def test_a_mean_by_label_is_the_sum_by_label_over_the_number_of_rows(dtype: str) -> None:
    x = numbers(dtype, N, D)
    text = "mean[N](where(label[N] == index[K], x[N D], 0))"
    assert is_placed(text, x=x, label=LABELS)
    found = ne.evaluate(text, x=x, label=LABELS, sizes={"K": K})
    wanted = np.array(looped(x, LABELS, 0, lambda one, other: one + other), complex) / N
    np.testing.assert_allclose(found.astype(complex), wanted, rtol=TOLERANCE.get(dtype, 1e-12), atol=1e-7)
    assert found.dtype == ne.evaluate("mean[N](x[N D])", x=x).dtype


@pytest.mark.parametrize("dtype", ["float16", "float32", "int64", "bool"])
def test_a_mean_that_reads_rows_equals_loops(dtype: str) -> None:
    table = numbers(dtype, K, D)
    found = ne.evaluate("mean[K](where(label[N] == index[K], table[K D], 0))", table=table, label=LABELS)
    wanted = [table[label] / K if 0 <= label < K else np.zeros(D) for label in LABELS.tolist()]
    np.testing.assert_allclose(found, wanted, rtol=TOLERANCE.get(dtype, 1e-12))
    assert found.dtype == ne.evaluate("mean[K](table[K D])", table=table).dtype


def test_means_and_counts_of_bools_by_label() -> None:
    counts = np.array([LABELS.tolist().count(k) for k in range(K)])
    for text, wanted in (("mean", counts / N), ("count_nonzero", counts)):
        text = f"{text}[N](label[N] == index[K])"
        assert is_placed(text, label=LABELS)
        found = ne.evaluate(text, label=LABELS, sizes={"K": K})
        np.testing.assert_array_equal(found, wanted)


def test_counts_by_label() -> None:
    wanted = [LABELS.tolist().count(k) for k in range(K)]
    for text in (
        "sum[N](label[N] == index[K])",
        "sum[N](where(label[N] == index[K], 1, 0))",
        "sum[N]((label[N] == index[K]) * one[N])",
        "count_nonzero[N](label[N] == index[K])",
    ):
        operands = {"label": LABELS, "one": np.ones(N, int)} if "one" in text else {"label": LABELS}
        found = ne.evaluate(text, operands=operands, sizes={"K": K})
        assert found.tolist() == wanted
        assert found.dtype == np.int64
    assert ne.evaluate("any[N](label[N] == index[K])", label=LABELS + 3, sizes={"K": K}).tolist() == [
        k in LABELS + 3 for k in range(K)
    ]


def test_integers_are_exact() -> None:
    x = RNG.integers(2**61, 2**62, (N, 1))
    found = ne.evaluate(SUM, x=x, label=LABELS, sizes={"K": K})
    wanted = looped(x, LABELS, 0, lambda one, other: one + other)
    assert [row[0] % 2**64 for row in found.tolist()] == [row[0] % 2**64 for row in wanted]
    product = "sum[N]((label[N] == index[K]) * x[N D])"
    assert is_placed(product, x=x, label=LABELS)
    assert (ne.evaluate(product, x=x, label=LABELS, sizes={"K": K}) == found).all()


def test_products_with_floats_stay_products() -> None:
    """0 * nan is nan: every label sees it."""
    x = numbers("float64", N, D)
    x[0] = np.nan
    text = "sum[N]((label[N] == index[K]) * x[N D])"
    assert not is_placed(text, x=x, label=LABELS)
    assert np.isnan(ne.evaluate(text, x=x, label=LABELS, sizes={"K": K})).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_and_infinities_stay_with_their_label(dtype: str) -> None:
    x = numbers(dtype, N, D)
    first, second = (int(np.flatnonzero(k == LABELS)[0]) for k in (2, 4))
    x[first], x[second] = np.nan, np.inf
    for name, empty in (("sum", "0"), ("max", "-inf"), ("min", "inf"), ("prod", "1")):
        x_ = np.sign(x) if name == "prod" else x
        found = ne.evaluate(
            f"{name}[N](where(label[N] == index[K], x[N D], {empty}))", x=x_, label=LABELS, sizes={"K": K}
        )
        assert np.isnan(found).all(1).tolist() == [k == 2 for k in range(K)]
        if name == "sum":
            assert np.isinf(found).all(1).tolist() == [k == 4 for k in range(K)]


FORMS: Mapping[str, Callable[[Any, Any, Any, Any], Any]] = {
    "y[B K D] = sum[N](where(a[B N] == index[K], x[B N D], 0))": lambda a, b, x, m: (
        lambda B, K, L, D: [x[B, n, D] for n in range(x.shape[1]) if a[B, n] == K]
    ),
    "y[D K B] = sum[N](where(a[B N] == index[K], x[B N D], 0))": lambda a, b, x, m: (
        lambda B, K, L, D: [x[B, n, D] for n in range(x.shape[1]) if a[B, n] == K]
    ),
    "y[K D] = sum[B N](where(a[B N] == index[K], x[B N D], 0))": lambda a, b, x, m: (
        lambda B, K, L, D: [x[i, n, D] for i in range(x.shape[0]) for n in range(x.shape[1]) if a[i, n] == K]
    ),
    "y[B K L D] = sum[N](where((a[B N] == index[K]) & (index[L] == b[N]), x[B N D], 0))": lambda a, b, x, m: (
        lambda B, K, L, D: [x[B, n, D] for n in range(x.shape[1]) if a[B, n] == K and b[n] == L]
    ),
    "y[B L D] = sum[N](where(index[L] == b[N], x[B N D], 0))": lambda a, b, x, m: (
        lambda B, K, L, D: [x[B, n, D] for n in range(x.shape[1]) if b[n] == L]
    ),
    "y[B L D] = sum[N](where((index[L] == b[N]) & m[B N], x[B N D], 0))": lambda a, b, x, m: (
        lambda B, K, L, D: [x[B, n, D] for n in range(x.shape[1]) if b[n] == L and m[B, n]]
    ),
    "y[L] = sum[B N D](where(index[L] == b[N], x[B N D] ** 2, 0))": lambda a, b, x, m: (
        lambda B, K, L, D: [
            x[i, n, d] ** 2
            for i in range(x.shape[0])
            for n in range(x.shape[1])
            for d in range(x.shape[2])
            if b[n] == L
        ]
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", [lambda x: x, np.asfortranarray, lambda x: np.repeat(x, 2, 0)[::2]])
@pytest.mark.parametrize("sizes", [(3, 80, 2), (1, 300, 1), (2, 500, 5), (40, 1, 20), (2, 0, 3)])
def test_labels_with_other_dims_equal_loops(form: str, layout: Any, sizes: tuple[int, int, int]) -> None:
    rows, count, columns = sizes
    a, b = RNG.integers(-1, 5, (rows, count)), RNG.integers(0, 4, count)
    x, m = RNG.standard_normal((rows, count, columns)), RNG.random((rows, count)) < 0.5
    operands = {"a": layout(a), "b": b, "x": layout(x), "m": layout(m)}
    used = {name for name in operands if re.search(rf"\b{name}\[", form)}
    sizes_ = {label: size for label, size in (("K", 4), ("L", 5)) if f"[{label}]" in form}
    found = ne.evaluate(form, operands={name: operands[name] for name in used}, sizes=sizes_)
    spans = {"B": rows, "K": 4, "L": 5, "D": columns}
    labels = form[2 : form.index("]")].split()
    cells = FORMS[form](a, b, x, m)
    for indices in itertools.product(*[range(spans[label]) for label in labels]):
        at = {"B": 0, "K": 0, "L": 0, "D": 0} | dict(zip(labels, indices, strict=True))
        assert found[indices] == pytest.approx(sum(cells(**at)), abs=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 3), (40, 3), (9000, 2), (70_000, 1), (5000, 70)])
@pytest.mark.parametrize("size", [1, 9, 70_000])
def test_every_way_to_sum_rows_gives_the_same(dtype: str, shape: tuple[int, int], size: int) -> None:
    rows = RNG.integers(-9, 9, shape).astype(dtype)
    at = scattering.bins((size,), (shape[0],), RNG.integers(-1, size + 1, shape[0]))
    wanted = np.zeros((size + 1, shape[1]), dtype)
    np.add.at(wanted, at, rows)
    assert (scattering.combined(np.add, at, rows, size, 0.0) == wanted[:size]).all()
    assert (scattering.by_rows(at, rows, size) == wanted[:size]).all()
    assert (scattering.by_columns(at, rows, size) == wanted[:size]).all()


READ = "sum[V](where(ids[B T] == index[V], table[V D], 0))"


@pytest.mark.parametrize("dtype", FLOATS + WHOLE)
def test_a_dim_that_is_compared_with_a_label_is_read(dtype: str) -> None:
    table, ids = numbers(dtype, 50, 3), RNG.integers(-3, 53, (20, 10))
    found = ne.evaluate(READ, table=table, ids=ids)
    assert "take(" in ne.compile(READ).plan(table=table, ids=ids).code
    assert found.dtype == ne.evaluate("sum[V](table[V D])", table=table).dtype
    for b, t in itertools.product(range(20), range(10)):
        row = table[ids[b, t]].tolist() if 0 <= ids[b, t] < 50 else [0, 0, 0]
        assert found[b, t].tolist() == row


def test_what_is_read_may_be_reduced_further() -> None:
    x, value = numbers("float64", 40), numbers("float64", 800)
    row, col = RNG.integers(-1, 9, 800), RNG.integers(0, 40, 800)
    found = ne.evaluate(
        "y[i] = sum[z](where(row[z] == index[i], value[z] * x[j@col[z]], 0))",
        row=row, col=col, value=value, x=x, sizes={"i": 8},
    )  # fmt: skip
    wanted = [sum(value[z] * x[col[z]] for z in range(800) if row[z] == i) for i in range(8)]
    assert found.tolist() == pytest.approx(wanted)
    text = "y[B] = max[T V](where((ids[B T] == index[V]) & m[B T], table[V], -inf))"
    ids, m, table = RNG.integers(0, 60, (30, 8)), RNG.random((30, 8)) < 0.5, numbers("float32", 50)
    found = ne.evaluate(text, ids=ids, m=m, table=table)
    for b in range(30):
        cells = [table[ids[b, t]] for t in range(8) if m[b, t] and ids[b, t] < 50]
        assert found[b] == max(cells, default=-np.inf)


@pytest.mark.parametrize(
    "text",
    [
        "sum[N](where(label[N] == index[K], x[N D], 1))",
        "max[N](where(label[N] == index[K], x[N D], 0))",
        "sum[N](where(label[N] == index[K], x[N D] * index[K], 0))",
        "sum[N](where((label[N] == index[K]) | (x[N D] > 0), x, 0))",
        "sum[N](where(label[N] + 0.0 == index[K], x[N D], 0))",
        "mean[N](where(label[N] == index[K], x[N D], 1))",
        "any[N]((label[N] == index[K]) == (x[N D] > 0))",
    ],
)
def test_what_is_no_choice_by_label_is_computed_as_written(text: str) -> None:
    x = numbers("float64", N, D)
    assert not is_placed(text, x=x, label=LABELS)
    k = np.arange(K)[:, None]
    label = LABELS[:, None, None]
    space = {
        "x": x[:, None], "label": label, "index": k, "where": np.where,
        "inf": np.inf, "sum": np.sum, "max": np.max, "mean": np.mean, "any": np.any,
    }  # fmt: skip
    plain = text.replace("[N D]", "").replace("label[N]", "label").replace("index[K]", "index")
    name, _, inner = plain.partition("[N](")
    wanted = eval(f"{name}({inner[:-1]}, 0)", space)
    np.testing.assert_allclose(ne.evaluate(text, x=x, label=LABELS, sizes={"K": K}), wanted)


def test_bound_operands_and_memory_limits_change_nothing() -> None:
    x = numbers("float64", N, D)
    formula = ne.compile(SUM, sizes={"K": K})
    wanted = formula(x=x, label=LABELS)
    assert (formula.bind(label=LABELS)(x=x) == wanted).all()
    assert (formula.bind(x=x)(label=LABELS) == wanted).all()
    limited = ne.evaluate(SUM, x=x, label=LABELS, sizes={"K": K}, memory_limit=400_000)
    np.testing.assert_allclose(limited, wanted)


@pytest.mark.parametrize(("name", "empty"), [("sum", "0"), ("max", "-inf"), ("prod", "1")])
def test_rows_are_computed_in_blocks_under_a_memory_limit(name: str, empty: str) -> None:
    x, label = RNG.random((60_000, 8)), RNG.integers(-1, 6, 60_000)
    text = f"{name}[N](where(label[N] == index[K], (x[N D] - 1) ** 2 / 1000 + 1, {empty}))"
    wanted = ne.evaluate(text, x=x, label=label, sizes={"K": 5})
    limited = ne.compile(text, sizes={"K": 5}, memory_limit=1_500_000)
    np.testing.assert_allclose(limited(x=x, label=label), wanted)
    assert limited.plan(x=x, label=label).peak_bytes <= 1_500_000
