"""Texts inside the transformations of JAX, against the same written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nameexpr as ne

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

ATTENTION = """
    s[B H Q K] = sum[D](q[B Q H D] * k[B K H D]) / sqrt(size[D])
    p[B H Q K] = softmax[K](s)
    o[B Q H D] = sum[K](p * v[B K H D])
"""
NORM = """
    m[N] = mean[C](x[N C])
    d[N C] = x[N C] - m[N]
    y[N C] = d[N C] / sqrt(mean[C](d[N C]**2) + 1e-5) * g[C]
"""


def attention(q: Any, k: Any, v: Any) -> Any:
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), v)


def norm(x: Any, g: Any) -> Any:
    d = x - x.mean(1, keepdims=True)
    return d / jnp.sqrt((d**2).mean(1, keepdims=True) + 1e-5) * g


def random(*shape: int, seed: int = 0) -> Any:
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape), "float32")


def our_attention(q: Any, k: Any, v: Any) -> Any:
    return ne.evaluate(ATTENTION, q=q, k=k, v=v)


def our_norm(x: Any, g: Any) -> Any:
    return ne.evaluate(NORM, x=x, g=g)


def our_chain(x: Any, y: Any) -> Any:
    return ne.einsum("a b, b c, a d -> c d", x, y, x)


def chain(x: Any, y: Any) -> Any:
    return jnp.einsum("ab,bc,ad->cd", x, y, x)


CASES = {
    "attention": (our_attention, attention, [random(2, 3, 2, 4, seed=n) for n in range(3)]),
    "norm": (our_norm, norm, [random(4, 5), random(5, seed=1)]),
    "chain": (our_chain, chain, [random(3, 4), random(4, 2, seed=1)]),
}


def agree(one: Any, other: Any) -> None:
    for left, right in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(left, right, rtol=2e-4, atol=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives_are_those_by_hand(name: str) -> None:
    ours, by_hand, arrays = CASES[name]
    every = tuple(range(len(arrays)))
    weight = random(*by_hand(*arrays).shape, seed=9)
    agree(ours(*arrays), by_hand(*arrays))
    gradient = jax.grad(lambda *xs: (ours(*xs) * weight).sum(), every)
    agree(gradient(*arrays), jax.jit(jax.grad(lambda *xs: (by_hand(*xs) * weight).sum(), every))(*arrays))
    for transform in (
        lambda f: jax.grad(lambda *xs: (f(*xs) * weight).sum(), every),
        lambda f: jax.jacfwd(f, 0),
        jax.checkpoint,
        lambda f: lambda *xs: jax.jvp(f, xs, xs),
        lambda f: lambda x, *xs: jax.hessian(lambda x: (f(x, *xs) * weight).sum())(x),
    ):
        agree(jax.jit(transform(ours))(*arrays), jax.jit(transform(by_hand))(*arrays))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_texts_are_mapped_over_batches(name: str) -> None:
    ours, by_hand, arrays = CASES[name]
    batch = [jnp.stack([one, 2 * one, -one]) for one in arrays]
    agree(jax.vmap(ours)(*batch), jax.jit(jax.vmap(by_hand))(*batch))
    some = (0, *[None] * (len(arrays) - 1))
    every = batch[0], *arrays[1:]
    agree(jax.jit(jax.vmap(ours, some))(*every), jax.jit(jax.vmap(by_hand, some))(*every))
    total = jax.grad(lambda *xs: ours(*xs).sum())
    agree(jax.vmap(total)(*batch), jax.jit(jax.vmap(jax.grad(lambda *xs: by_hand(*xs).sum())))(*batch))


def test_shapes_are_known_without_arrays() -> None:
    q = jax.ShapeDtypeStruct((2, 3, 2, 4), "bfloat16")
    found = jax.eval_shape(our_attention, q, q, q)
    assert (found.shape, found.dtype) == ((2, 3, 2, 4), "bfloat16")


def test_texts_run_inside_loops() -> None:
    w = random(4, 4) / 4

    def step(h: Any, x: Any) -> tuple[Any, Any]:
        h = jnp.tanh(ne.einsum("a b, b -> a", w, h) + x)
        return h, ne.einsum("a, a ->", h, h)

    def by_hand(h: Any, x: Any) -> tuple[Any, Any]:
        h = jnp.tanh(w @ h + x)
        return h, h @ h

    xs = random(6, 4, seed=3)
    agree(jax.lax.scan(step, jnp.zeros(4), xs), jax.lax.scan(by_hand, jnp.zeros(4), xs))


def test_recurrences_are_scans_with_gradients() -> None:
    text = "h[(1 + T)] = 0, a * h[_@T] + x[T]"

    def by_hand(x: Any, a: Any) -> Any:
        rows = [jnp.zeros(())]
        for one in x:
            rows.append(a * rows[-1] + one)
        return jnp.stack(rows)

    x, a = random(7), jnp.asarray(0.5)

    def ours(x: Any, a: Any) -> Any:
        return ne.evaluate(text, x=x, a=a)

    agree(ours(x, a), by_hand(x, a))
    squares = [jax.grad(lambda *xs, f=f: (f(*xs) ** 2).sum(), (0, 1))(x, a) for f in (ours, by_hand)]
    agree(*squares)
    assert "scan" in str(jax.make_jaxpr(ours)(x, a))


def test_texts_run_on_parts_of_sharded_arrays() -> None:
    mesh = jax.make_mesh((1,), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("rows")
    x, y = random(4, 3), random(3, 2, seed=1)

    def run(x: Any, y: Any) -> Any:
        return ne.einsum("a b, b c -> a c", x, y)

    sharded = jax.shard_map(run, mesh=mesh, in_specs=(spec, None), out_specs=spec)
    agree(sharded(x, y), x @ y)
    agree(jax.grad(lambda x: sharded(x, y).sum())(x), jax.grad(lambda x: (x @ y).sum())(x))


def test_positions_are_checked_where_values_are_known() -> None:
    table, text = random(4, 3), "y[B D] = table[V@ids[B] D]"
    ids = jnp.asarray([3, 0, 3])
    agree(ne.evaluate(text, table=table, ids=ids), table[ids])
    for wrong in (4, -1):
        with pytest.raises(ne.NameExprError, match=rf"NE805.*ids is {wrong} at B=1"):
            ne.evaluate(text, table=table, ids=jnp.asarray([0, wrong]))
    outside = jax.jit(lambda ids: ne.evaluate(text, table=table, ids=ids))(jnp.asarray([0, 4, -1]))
    assert np.isnan(np.asarray(outside[1:])).all() and not np.isnan(np.asarray(outside[0])).any()
    by_hand = jax.grad(lambda table: (table[ids] ** 2).sum())(table)
    agree(jax.grad(lambda table: (ne.evaluate(text, table=table, ids=ids) ** 2).sum())(table), by_hand)


def test_numbers_are_computed_by_python() -> None:
    x = jnp.ones(3)
    agree(ne.evaluate("y[i] = x[i] * (1 - a)", x=x, a=1 - 1e-9), jnp.full(3, 1e-9))
    agree(ne.evaluate("y[i] = x[i] * 2**n", x=x, n=-1), jnp.full(3, 0.5))
    agree(ne.evaluate("y[i] = x[i] * 2**n", x=x, n=3), jnp.full(3, 8.0))


def test_bound_operands_are_computed_once_even_inside_a_trace() -> None:
    w, v, x = random(4, 3), random(3, 2, seed=1), random(5, 4, seed=2)
    for function in (lambda f: f, jax.jit):
        bound = ne.compile("n a, a b, b c -> n c").bind({1: w, 2: v})
        agree(function(bound)(x), x @ w @ v)
        agree(bound(2 * x), 2 * x @ w @ v)

    def inside(w: Any) -> Any:
        return ne.compile("n a, a b, b c -> n c").bind({1: w, 2: v})(x).sum()

    agree(jax.grad(inside)(w), jax.grad(lambda w: (x @ w @ v).sum())(w))


def test_named_tensors_go_through_transformations() -> None:
    w = random(4, 2, seed=1)
    x = ne.tensor(random(3, 4), names="row col")

    def run(x: Any) -> Any:
        return ne.evaluate("y[row out] = sum[col](x[row col] * w[col out])", x=x, w=w)

    for found in (run(x), jax.jit(run)(x)):
        assert found.names == ("row", "out")
        agree(found.data, x.data @ w)
    gradient = jax.grad(lambda x: (run(x) ** 2).sum().data)(x)
    assert gradient.names == x.names
    agree(gradient.data, jax.grad(lambda x: ((x @ w) ** 2).sum())(x.data))
