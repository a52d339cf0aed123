"""Writing over tensors: constants, copies, and random numbers with their bounds, moments and seeds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne
from oracle.operators import (
    DTYPES,
    Expected,
    Refused,
    checked_written,
    named_shapes,
    partners,
    unify_names,
    values,
)

Tensor = ne.NamedTensor
Fill = Callable[..., Any]
COUNT = 20_000

FLOATS: dict[str, Fill] = {
    "normal_": lambda x, **o: x.normal_(**o),
    "normal_(2, 3)": lambda x, **o: x.normal_(2, 3, **o),
    "log_normal_": lambda x, **o: x.log_normal_(0, 0.5, **o),
    "uniform_": lambda x, **o: x.uniform_(**o),
    "uniform_(-2, 5)": lambda x, **o: x.uniform_(-2, 5, **o),
    "exponential_": lambda x, **o: x.exponential_(**o),
    "exponential_(4)": lambda x, **o: x.exponential_(4, **o),
    "cauchy_": lambda x, **o: x.cauchy_(**o),
    "cauchy_(3, 2)": lambda x, **o: x.cauchy_(3, 2, **o),
}
ANY: dict[str, Fill] = {
    "bernoulli_": lambda x, **o: x.bernoulli_(**o),
    "bernoulli_(0.2)": lambda x, **o: x.bernoulli_(0.2, **o),
    "random_": lambda x, **o: x.random_(**o),
    "random_(5)": lambda x, **o: x.random_(5, **o),
    "random_(2, 5)": lambda x, **o: x.random_(2, 5, **o),
}
FACTORIES: dict[str, Fill] = {
    "rand": lambda x, **o: ne.rand(x.shape, names=x.names, dtype=x.dtype, **o),
    "randn": lambda x, **o: ne.randn(x.shape, names=x.names, dtype=x.dtype, **o),
    "rand_like": lambda x, **o: ne.rand_like(x, **o),
    "randn_like": lambda x, **o: ne.randn_like(x, **o),
    "normal": lambda x, **o: ne.normal(x.zero_(), 2.0, **o),
    "bernoulli": lambda x, **o: x.fill_(0.5).bernoulli(**o),
}


@pytest.fixture(autouse=True)
def seeded() -> None:
    ne.manual_seed(12345)


def drawn(fill: Fill, count: int = COUNT, dtype: Any = np.float64) -> Any:
    return fill(ne.zeros(count, names="N", dtype=dtype)).numpy()


@pytest.mark.parametrize("name", [*FLOATS, *ANY])
def test_a_fill_returns_the_tensor_and_keeps_names_dtype_and_array(name: str) -> None:
    for dtype in (np.float64, np.float32, np.float16, *((np.int64, np.uint8) if name in ANY else ())):
        x = ne.zeros(3, 4, names=("N", None), dtype=dtype)
        array = x.numpy()
        assert (FLOATS | ANY)[name](x) is x
        assert x.numpy() is array and x.names == ("N", None) and x.dtype == dtype and x.shape == (3, 4)


@pytest.mark.parametrize("name", [*FLOATS, *ANY, *FACTORIES])
def test_a_seed_repeats_the_numbers(name: str) -> None:
    fill = (FLOATS | ANY | FACTORIES)[name]
    make = lambda **options: fill(ne.zeros(4, 5, names="N C"), **options)  # noqa: E731
    first = ne.manual_seed(7)
    assert isinstance(first, np.random.Generator)
    a, b = make(), make()
    ne.manual_seed(7)
    assert make().equal(a) and make().equal(b) and not a.equal(b)
    given_generator = make(generator=np.random.default_rng(7))
    assert given_generator.equal(a)
    ne.manual_seed(8)
    c = make()
    make(generator=np.random.default_rng(7))
    assert not c.equal(a)
    ne.manual_seed(8)
    assert make().equal(c), "a generator that is given leaves the other alone"


@pytest.mark.parametrize("name", FLOATS)
def test_distributions_of_reals_are_for_floats(name: str) -> None:
    for dtype in (np.int64, bool):
        x = ne.ones(3, dtype=dtype)
        with pytest.raises(ne.NameExprError):
            FLOATS[name](x)
        assert x.numpy().all()


@pytest.mark.parametrize(
    ("name", "mean", "std"),
    [
        ("normal_", 0, 1),
        ("normal_(2, 3)", 2, 3),
        ("log_normal_", math.exp(0.125), math.sqrt((math.exp(0.25) - 1) * math.exp(0.25))),
        ("uniform_", 0.5, math.sqrt(1 / 12)),
        ("uniform_(-2, 5)", 1.5, 7 * math.sqrt(1 / 12)),
        ("exponential_", 1, 1),
        ("exponential_(4)", 0.25, 0.25),
        ("bernoulli_", 0.5, 0.5),
        ("bernoulli_(0.2)", 0.2, 0.4),
        ("random_(5)", 2, math.sqrt(2)),
        ("random_(2, 5)", 3, math.sqrt(2 / 3)),
        ("rand", 0.5, math.sqrt(1 / 12)),
        ("randn", 0, 1),
        ("rand_like", 0.5, math.sqrt(1 / 12)),
        ("randn_like", 0, 1),
        ("normal", 0, 2),
        ("bernoulli", 0.5, 0.5),
    ],
)
def test_moments(name: str, mean: float, std: float) -> None:
    numbers = drawn((FLOATS | ANY | FACTORIES)[name])
    assert numbers.mean() == pytest.approx(mean, abs=5 * std / math.sqrt(COUNT))
    assert numbers.std() == pytest.approx(std, rel=0.05)


def test_the_quartiles_of_cauchy_which_has_no_moments() -> None:
    low, middle, high = np.quantile(drawn(FLOATS["cauchy_(3, 2)"]), [0.25, 0.5, 0.75])
    assert (low, middle, high) == pytest.approx((1, 3, 5), abs=0.15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("uniform_", 0, 1), ("uniform_(-2, 5)", -2, 5), ("rand", 0, 1), ("rand_like", 0, 1)],
)
def test_the_upper_bound_is_excluded_in_every_dtype(name: str, low: float, high: float, dtype: Any) -> None:
    numbers = drawn((FLOATS | FACTORIES)[name], 100_000, dtype)
    assert numbers.dtype == dtype
    assert numbers.min() >= low and numbers.max() < high
    assert numbers.min() < low + 0.01 * (high - low) and numbers.max() > high - 0.01 * (high - low)


def test_exponential_and_log_normal_are_not_negative() -> None:
    assert drawn(FLOATS["exponential_"]).min() >= 0 and drawn(FLOATS["log_normal_"]).min() > 0


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.uint8, np.int8, bool])
def test_random_draws_every_integer_of_the_range(dtype: Any) -> None:
    high = 2 if dtype is bool else 5
    assert sorted(set(drawn(lambda x: x.random_(high), 1000, dtype).tolist())) == list(range(high))
    if dtype is not bool:
        assert sorted(set(drawn(lambda x: x.random_(2, 5), 1000, dtype).tolist())) == [2, 3, 4]
    if dtype in (np.int64, np.int8, np.float32):
        assert sorted(set(drawn(lambda x: x.random_(-2, 1), 1000, dtype).tolist())) == [-2, -1, 0]


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [
        ("float64", 53),
        ("float32", 24),
        ("float16", 11),
        ("int64", 63),
        ("int8", 7),
        ("uint8", 8),
        ("uint64", 64),
    ],
)
def test_random_without_bounds_draws_what_the_dtype_holds(dtype: str, bits: int) -> None:
    numbers = [int(v) for v in drawn(lambda x: x.random_(), 2000, dtype).tolist()]
    assert min(numbers) >= 0 and max(numbers) <= 2**bits
    assert max(numbers) > 0.9 * 2**bits


def test_the_bounds_may_be_called_as_in_pytorch() -> None:
    x = ne.zeros(100)
    assert x.uniform_(**{"from": 2, "to": 3}).numpy().min() >= 2
    assert x.random_(**{"from": 7, "to": 8}).tolist() == [7.0] * 100


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.normal_(0, -1),
        lambda x: x.normal_(0, "a"),
        lambda x: x.log_normal_(0, 0),
        lambda x: x.log_normal_(0, -1),
        lambda x: x.uniform_(3, 2),
        lambda x: x.uniform_(0, 1, low=3),
        lambda x: x.exponential_(0),
        lambda x: x.exponential_(-1),
        lambda x: x.cauchy_(0, 0),
        lambda x: x.cauchy_(0, -1),
        lambda x: x.random_(5, 2),
        lambda x: x.random_(2, 2),
        lambda x: x.random_(0, 2**70),
        lambda x: x.bernoulli_(1.5),
        lambda x: x.bernoulli_(-0.1),
        lambda x: x.bernoulli_(float("nan")),
        lambda x: x.bernoulli_("a"),
        lambda x: x.bernoulli_(ne.tensor([0.5, 0.5])),
        lambda x: x.bernoulli(2),
        lambda x: x.bernoulli(np.full((2, 3), 0.5)),
        lambda x: ne.tensor([0.5, 2.0]).bernoulli(),
        lambda x: ne.tensor([0, 1]).bernoulli(),
        lambda x: ne.normal(x, -1.0),
        lambda x: ne.normal(x, x.rename("C")),
        lambda x: ne.rand(2, dtype="int64"),
        lambda x: ne.randn(2, dtype=bool),
        lambda x: ne.rand(-1),
        lambda x: x.normal_(generator=7),
        lambda x: ne.rand(2, generator="a"),
        lambda x: ne.manual_seed("a"),
        lambda x: ne.manual_seed(1.5),
        lambda x: x.fill_(None),
        lambda x: x.fill_("a"),
        lambda x: x.fill_(x),
        lambda x: x.fill_(1j),
        lambda x: x.copy_(ne.tensor([1.0, 2.0])),
        lambda x: x.copy_(ne.tensor([1j, 2, 3])),
        lambda x: x.copy_(None),
    ],
)
def test_bad_arguments_are_errors_of_ours_and_change_nothing(call: Callable[[Tensor], Any]) -> None:
    x = ne.tensor([0.0, 0.5, 1.0], names="N")
    with pytest.raises(ne.NameExprError):
        call(x)
    assert x.tolist() == [0.0, 0.5, 1.0] and x.names == ("N",)


@pytest.mark.parametrize("name", [*FLOATS, *ANY, "zero_", "fill_", "copy_"])
def test_a_view_is_written_through(name: str) -> None:
    x = ne.tensor(np.full((3, 4), -7.0), names="N C")
    fills: dict[str, Fill] = {
        "zero_": Tensor.zero_,
        "fill_": lambda v: v.fill_(1),
        "copy_": lambda v: v.copy_(3),
    }
    part = x.transpose("N", "C").select("C", 1)
    (FLOATS | ANY | fills)[name](part)
    assert (x.numpy()[:, [0, 2, 3]] == -7).all()
    np.testing.assert_array_equal(x.numpy()[:, 1], part.numpy())
    assert (x.numpy()[:, 1] != -7).any()


def test_probabilities_are_elements_and_their_names_do_not_matter() -> None:
    p = ne.tensor([[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]], names="N C")
    assert p.bernoulli().equal(p)
    x = ne.zeros(2, 3, names="A B")
    assert x.bernoulli_(p) is x and x.names == ("A", "B") and x.tolist() == p.tolist()
    assert ne.zeros(2, 3, dtype=bool).bernoulli_(p[0]).tolist() == [[False, True, False]] * 2
    assert ne.bernoulli(p).names == ("N", "C")


def test_normal_takes_means_and_deviations() -> None:
    mean, std = ne.tensor([0.0, 100.0], names="C"), ne.zeros(3, 2, names="N C")
    assert ne.normal(mean, std).names == ("N", "C")
    np.testing.assert_array_equal(ne.normal(mean, std).numpy(), [[0.0, 100.0]] * 3)
    assert ne.normal(mean, 0.0).tolist() == [0.0, 100.0]
    assert ne.normal(0.0, 1.0, (2, 3), names="N C").names == ("N", "C")


@settings(max_examples=100)
@given(named_shapes(), st.sampled_from(DTYPES), st.sampled_from([3, -1, 2.7, True, 0.0]))
def test_constants(dims: Any, dtype: Any, number: Any) -> None:
    names, shape = dims
    for value in (number, np.float64(number), ne.tensor(number), np.array(number)):
        x = ne.from_numpy(values(1, shape, dtype), names=names)
        assert x.fill_(value) is x and x.names == names
        np.testing.assert_array_equal(x.numpy(), np.full(shape, number).astype(dtype))
    assert x.zero_() is x and not x.numpy().any() and x.names == names


@settings(max_examples=200)
@given(st.data())
def test_copy_broadcasts_casts_and_follows_the_rule_for_writing(data: st.DataObject) -> None:
    names, shape = data.draw(named_shapes())
    other_names, other_shape = data.draw(partners(names, shape))
    source = values(4, other_shape, data.draw(st.sampled_from(DTYPES)))
    array = values(5, shape, data.draw(st.sampled_from(DTYPES)))
    x, y = ne.from_numpy(array.copy(), names=names), ne.from_numpy(source, names=other_names)
    try:
        unified = unify_names(names, other_names)
        size = np.broadcast_shapes(shape, other_shape)
        any_kind = np.zeros(size, bool)  # a copy converts: the rule about kinds does not hold for it
        checked_written(x, Expected(unified, any_kind), is_out=False)
    except (Refused, ValueError):
        with pytest.raises(ne.NameExprError):
            x.copy_(y)
        assert x.names == names
        np.testing.assert_array_equal(x.numpy(), array)
    else:
        assert x.copy_(y) is x and x.names == unified
        np.testing.assert_array_equal(x.numpy(), np.broadcast_to(source, shape).astype(x.dtype))
