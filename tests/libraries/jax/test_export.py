"""Texts for sizes that are symbols, as `jax.export` has them: one function for all sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nameexpr as ne

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
export = pytest.importorskip("jax.export")

EXPRESSIONS: dict[str, tuple[Any, ...]] = {
    "a b, b c -> a c": (("a", "b"), ("b", "c")),
    "a b, b c, c d -> a d": (("a", "b"), ("b", "c"), ("c", "d")),
    "b q h d, b k h d -> b h q k": (("a", "b", 2, "c"), ("a", "d", 2, "c")),
    "b t (h d), k h d -> b t k": (("a", "b", "4*c"), ("d", 4, "c")),
    "a b c -> (a b) c": (("a", "b", "c"),),
    "a a -> a": (("a", "a"),),
    "a -> a 3": (("a",),),
}
FORMULAS: dict[str, tuple[Any, ...]] = {
    "y[N C] = softmax[C](x[N C])": (("a", "b"),),
    "y[N C] = x[N C] - mean[C](x[N C])": (("a", "b"),),
    "y[N] = max[C](x[N C])": (("a", "b"),),
    "h[(1 + T)] = 0, 0.5 * h[_@T] + x[T]": (("a",),),
}
SIZES = ({"a": 2, "b": 3, "c": 4, "d": 5}, {"a": 5, "b": 1, "c": 1, "d": 2})


def size(dim: Any, sizes: dict[str, int]) -> int:
    return eval(str(dim), None, sizes)


@pytest.mark.parametrize("text", [*EXPRESSIONS, *FORMULAS])
def test_one_function_is_for_all_sizes(text: str) -> None:
    shapes = (EXPRESSIONS | FORMULAS)[text]

    def run(*arrays: Any) -> Any:
        return ne.einsum(text, *arrays) if text in EXPRESSIONS else ne.evaluate(text, x=arrays[0])

    scope = export.SymbolicScope()
    symbols = [export.symbolic_shape(", ".join(map(str, shape)), scope=scope) for shape in shapes]
    exported = export.export(jax.jit(run))(*[jax.ShapeDtypeStruct(one, "float32") for one in symbols])
    rng = np.random.default_rng(0)
    for sizes in SIZES:
        given = [rng.normal(size=[size(dim, sizes) for dim in shape]).astype("float32") for shape in shapes]
        np.testing.assert_allclose(exported.call(*given), run(*given), rtol=1e-5, atol=1e-5)


def test_a_size_that_has_to_be_known_is_refused() -> None:
    x = jax.ShapeDtypeStruct(export.symbolic_shape("a"), "float32")
    with pytest.raises(ne.OperandError, match=r"NE509.*not known while jax traces"):
        export.export(jax.jit(lambda x: ne.evaluate("y[N] = x[N] * size[N]", x=x)))(x)


def test_values_that_have_to_be_known_are_refused() -> None:
    def reduce(x: Any, axis: int) -> Any:
        return float(x.sum())

    with pytest.raises(ne.OperandError, match=r"NE509.*not known while jax traces"):
        ne.einsum("a b -> a", jnp.ones((2, 3)), reduce=reduce)
