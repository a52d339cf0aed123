"""Expressions on arrays of JAX: what is computed, in which dtype, and by which calls of JAX."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

PAIRS = {
    "gemm": ("a k, k b -> a b", (3, 4), (4, 5)),
    "transposed": ("a k, b k -> a b", (3, 4), (5, 4)),
    "attention": ("b q h d, b k h d -> b h q k", (2, 3, 4, 5), (2, 6, 4, 5)),
    "heads": ("b h q k, b k h d -> b q h d", (2, 4, 3, 6), (2, 6, 4, 5)),
    "rows": ("n d, n d -> n", (7, 5), (7, 5)),
    "all": ("i j, i j ->", (3, 4), (3, 4)),
    "several": ("a b c d, d b e a -> c e", (2, 3, 4, 5), (5, 3, 6, 2)),
}


def equations(traced: Any) -> Iterator[Any]:
    """Return the calls of primitives in a jaxpr, also inside JAX's own jitted functions."""
    for equation in traced.eqns:
        is_jitted = equation.primitive.name in {"jit", "pjit"}
        yield from equations(equation.params["jaxpr"]) if is_jitted else [equation]


def primitives(function: Any, *arrays: Any) -> list[str]:
    """Return the names of the primitives that JAX traces."""
    return [equation.primitive.name for equation in equations(jax.make_jaxpr(function)(*arrays))]


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_is_one_product(name: str) -> None:
    text, *shapes = PAIRS[name]
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    found = primitives(lambda *xs: ne.einsum(text, *xs), *map(jnp.asarray, arrays))
    assert [one for one in found if one != "transpose"] == ["dot_general"]
    result = ne.einsum(text, *map(jnp.asarray, arrays))
    assert isinstance(result, jax.Array)
    np.testing.assert_allclose(result, ne.einsum(text, *arrays), rtol=1e-5, atol=1e-5)


def test_only_the_leading_axes_of_a_product_are_moved() -> None:
    x, y = jnp.ones((3, 4)), jnp.ones((4, 5))
    assert primitives(lambda x, y: ne.einsum("a k, k b -> b a", x, y), x, y) == ["dot_general"]


def test_the_order_of_a_chain_is_ours() -> None:
    shapes = (2, 100), (100, 100), (100, 3)
    arrays = [jnp.ones(shape) for shape in shapes]
    traced = jax.make_jaxpr(lambda *xs: ne.einsum("a b, b c, c d -> a d", *xs))(*arrays)
    assert [equation.outvars[0].aval.shape for equation in equations(traced)] == [(2, 100), (2, 3)]


@pytest.mark.parametrize(
    ("dtype", "result", "added_in"),
    [
        ("float32", "float32", None),
        ("float16", "float16", "float32"),
        ("bfloat16", "bfloat16", "float32"),
        ("int8", "int32", "int32"),
        ("uint8", "uint32", "uint32"),
        ("complex64", "complex64", None),
    ],
)
def test_sums_follow_the_rule_of_the_language(dtype: str, result: str, added_in: str | None) -> None:
    x = jnp.ones((3, 4), dtype)
    found = jax.make_jaxpr(lambda x: ne.einsum("a k, b k -> a b", x, x))(x)
    product = next(equations(found))
    assert product.primitive.name == "dot_general"
    assert [variable.aval.dtype for variable in product.invars] == [dtype, dtype]
    assert product.outvars[0].aval.dtype == (added_in or dtype)
    assert found.out_avals[0].dtype == result


def test_narrow_floats_are_added_exactly_enough() -> None:
    x = jnp.full((100_000,), 0.1, "bfloat16")
    exact = float(jnp.asarray(0.1, "bfloat16")) ** 2 * 100_000
    assert abs(float(ne.einsum("a, a ->", x, x)) / exact - 1) < 2**-8
    assert abs(float(ne.einsum("a ->", x, reduce="sum")) / (exact / float(x[0])) - 1) < 2**-8


@pytest.mark.slow
def test_promotion_is_that_of_jax() -> None:
    def ours(x: Any, y: Any) -> Any:
        texts = ("z[i] = x[i] + y[i]", "z[i] = x[i] / y[i]")
        return ne.einsum("a, a -> a", x, y), *(ne.evaluate(text, x=x, y=y) for text in texts)

    def jax_own(x: Any, y: Any) -> Any:
        return x * y, x + y, x / y

    dtypes = ("bool", "int8", "uint8", "int32", "float16", "bfloat16", "float32", "complex64")
    for one, other in product(dtypes, dtypes):
        x, y = jnp.ones(2, one), jnp.ones(2, other)
        if one == other == "bool":
            assert ne.einsum("a, a -> a", x, y).dtype == ne.evaluate("x[i] + y[i]", x=x, y=y).dtype == "bool"
            continue
        found, expected = jax.eval_shape(ours, x, y), jax.eval_shape(jax_own, x, y)  # nothing is compiled
        assert [value.dtype for value in found] == [value.dtype for value in expected], (one, other)
    assert ours(jnp.ones(2, "int8"), jnp.ones(2, "float16"))[2].dtype == "float16"


def test_64_bits_are_those_of_jax(in_64_bits: None) -> None:
    x = jnp.ones((2, 3), "int8")
    assert ne.einsum("a b, c b -> a c", x, x).dtype == "int64"
    assert ne.einsum("a b, c b -> a c", x.astype("float64"), x).dtype == "float64"
    with jax.enable_x64(False):
        assert (
            ne.einsum("a b, c b -> a c", jnp.ones((2, 3), "int8"), jnp.ones((2, 3), "int8")).dtype == "int32"
        )


def test_numpy_arrays_and_numbers_are_taken() -> None:
    x = np.arange(6.0).reshape(2, 3)
    for operands in [(jnp.asarray(x), x), (x, jnp.asarray(x))]:
        result = ne.einsum("a b, c b -> a c", *operands)
        assert isinstance(result, jax.Array)
        np.testing.assert_allclose(result, x @ x.T)
    assert isinstance(ne.einsum("a b, c b -> a c", x, x), np.ndarray)
    half = ne.einsum("a b, -> a b", jnp.ones((2, 3), "bfloat16"), 0.5)
    assert half.dtype == "bfloat16" and float(half[0, 0]) == 0.5
    assert ne.evaluate("y[i] = 2 * x[i] + n", x=jnp.ones(3, "float16"), n=3).dtype == "float16"


def test_arrays_made_of_numbers_are_promoted_as_numbers() -> None:
    x, scale = jnp.ones(3, "bfloat16"), jnp.asarray(2.0)
    assert scale.weak_type
    for operands in [(x, scale), (x, scale.astype("float32"))]:
        by_hand = operands[0] * operands[1]
        assert ne.einsum("a, -> a", *operands).dtype == by_hand.dtype
        assert ne.evaluate("y[a] = x[a] * s", x=operands[0], s=operands[1]).dtype == by_hand.dtype


def test_dtypes_that_jax_does_not_have_now_are_refused() -> None:
    x = jnp.ones((2, 3))
    for text, options in [("a b, c b -> a c", {"dtype": "float64"}), ("a b, c b -> a c", {"dtype": "int64"})]:
        with pytest.raises(ne.NameExprError, match=r"NE529.*now, not in"):
            ne.einsum(text, x.astype(options["dtype"].replace("64", "32")), x.astype("int8"), **options)
    with pytest.raises(ne.NameExprError, match=r"NE529.*now, not in float64"):
        ne.evaluate("y[a b] = 2 * x[a b]", x=x, dtype="float64")
    assert ne.einsum("a b, c b -> a c", x, x, dtype="float16").dtype == "float16"


def test_options_that_have_no_meaning_are_refused() -> None:
    x = jnp.ones((2, 3))
    for options in (
        {"tune": True},
        {"memory_limit": 1000},
        {"out": np.ones((2, 2))},
        {"out": jnp.ones((2, 2))},
    ):
        with pytest.raises(ne.OptionError, match="NE616"):
            ne.einsum("a b, c b -> a c", x, x, **options)


def test_operations_have_the_text_as_their_scope() -> None:
    x = jnp.ones((2, 3))
    lowered = jax.jit(lambda x: ne.einsum("row col, other col -> row other", x, x)).lower(x)
    assert "row col, other col -> row other" in lowered.as_text(debug_info=True)


def test_other_libraries_are_refused() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(ne.OperandError, match=r"NE507.*torch.Tensor"):
        ne.einsum("a, a -> a", jnp.ones(3), torch.ones(3))


def test_tensors_of_numpy_are_refused() -> None:
    with pytest.raises(ne.OperandError, match=r"NE507.*NamedTensor of NumPy"):
        ne.einsum("a, a -> a", ne.tensor([1.0, 2.0], names="a"), jnp.ones(2))


def test_code_and_plan_are_those_of_jax() -> None:
    function = ne.compile("a b, b c -> c a")
    x, y = jnp.ones((2, 3)), jnp.ones((3, 4))
    function(x, y)
    space: dict[str, Any] = {}
    exec(function.code, space)
    np.testing.assert_array_equal(space["compute"](x, y), function(x, y))
    assert [step.what for step in function.plan(x, y).steps] == ["einsum"]
    assert function.plan(x, y).code == function.code


def test_a_call_by_text_is_one_compiled_function() -> None:
    traced = []

    def reduce(x: Any, axis: int) -> Any:
        traced.append(x.shape)
        return x.sum(axis)

    for _ in range(3):
        ne.einsum("a b -> a", jnp.ones((2, 3)), reduce=reduce)
    ne.einsum("a b -> a", jnp.ones((4, 3)), reduce=reduce)
    assert traced == [(2, 3), (4, 3)]


def test_errors_are_those_of_the_language() -> None:
    with pytest.raises(ne.SizeError):
        ne.einsum("a b, b c -> a c", jnp.ones((2, 3)), jnp.ones((4, 5)))
    with pytest.raises(ne.SizeError):
        jax.jit(lambda x: ne.einsum("a b, b c -> a c", x, x))(jnp.ones((2, 3)))
