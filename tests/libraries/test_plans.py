"""Plans, code and bound operands of texts on every library: the code is run, and its result compared."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

X, W, B = np.arange(6.0).reshape(2, 3), np.cos(np.arange(12.0).reshape(3, 4)), np.arange(4.0)
EXPRESSIONS = ["a b, b c, c -> a", "a b, b c, c -> c a", "a b, b c, c -> : max", "a b, b c, c -> a b c"]
FORMULAS = [
    "p[A C] = softmax[C](sum[B](x[A B] * w[B C]) + b[C]); q[A] = argmax[C](p)",
    "s[(1 + C)] = 0, s[_@C] * 0.5 + b[C] + sum[A B](x[A B] * w[B C])",
    "y[(A + E) C] = x[A B@0] * b[C], w[E C]",
    "y[A C] = where(x[A B@1] > 1, b[C], -b[C]) * size[A] + mean[A B](x[A B]) * w[B@0 C]",
]


def _torch() -> Callable[[Any], Any]:
    return pytest.importorskip("torch").as_tensor  # type: ignore[no-any-return]


def _jax() -> Callable[[Any], Any]:
    return pytest.importorskip("jax.numpy").asarray  # type: ignore[no-any-return]


def _standard() -> Callable[[Any], Any]:
    return pytest.importorskip("array_api_strict").asarray  # type: ignore[no-any-return]


@pytest.fixture(params=[_torch, _jax, _standard], ids=["torch", "jax", "array_api"])
def to(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    convert: Callable[[Any], Any] = request.param()
    return convert


def run(code: str, *arrays: Any) -> Any:
    names: dict[str, Any] = {}
    exec(code, names)
    if "prepare" in names:
        held = names["prepare"](*arrays[1])
        return names["compute"](*arrays[0], *(held if isinstance(held, tuple) else (held,)))
    return names["compute"](*arrays)


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.from_dlpack(found), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_the_code_of_an_expression_can_be_pasted(text: str, to: Callable[[Any], Any]) -> None:
    compiled, arrays = ne.compile(text), [to(one) for one in (X, W, B)]
    plan = compiled.plan(*arrays)
    result, expected = compiled(*arrays), ne.einsum(text, X, W, B)
    close(result, expected)
    compiled(*arrays)  # the text was called with NumPy's since
    close(run(compiled.code, *arrays), expected)
    assert plan.code == compiled.code and plan.library in str(plan)
    assert " time " not in str(plan) and isnan(plan.seconds)
    assert "np." not in compiled.code.replace("jnp.", "")
    assert compiled(X, W, B).shape == expected.shape and "import numpy as np" in compiled.code


@pytest.mark.parametrize("text", FORMULAS)
def test_the_code_of_a_formula_can_be_pasted(text: str, to: Callable[[Any], Any]) -> None:
    given = {"x": X, "w": W, "b": B}
    arrays = {name: to(array) for name, array in given.items()}
    compiled, expected = ne.compile(text), ne.evaluate(text, **given)
    close(compiled(**arrays), expected)
    close(run(compiled.code, *[arrays[name] for name in compiled.operands]), expected)
    plan = compiled.plan(**arrays)
    assert plan.code == compiled.code
    assert plan.steps and plan.drawing.picture("tree").startswith("<svg")


def test_bound_operands_are_computed_once_and_copied(to: Callable[[Any], Any]) -> None:
    w = to(W)
    layer = ne.compile("a b, b c, c -> a").bind({1: w, 2: to(B)})
    expected = ne.einsum("a b, b c, c -> a", X, W, B)
    close(layer(to(X)), expected)
    if hasattr(w, "copy_"):
        w.copy_(w * 0)
        close(layer(to(X)), expected)
    formula = ne.compile("y[A C] = sum[B](x[A B] * exp(w[B C]))").bind(w=to(W))
    close(formula(x=to(X)), X @ np.exp(W))
    assert formula.plan(x=to(X)).steps


def test_values_of_bound_operands_have_their_own_function(to: Callable[[Any], Any]) -> None:
    layer = ne.compile("a b, b c, c -> a").bind({1: to(W), 2: to(B)})
    layer(to(X))
    if "def prepare" in layer.code:
        close(run(layer.code, [to(X)], [to(W), to(B)]), ne.einsum("a b, b c, c -> a", X, W, B))
