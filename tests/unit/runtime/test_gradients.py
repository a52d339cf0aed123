"""`grad`, `value_and_grad` and `CompiledFormula.gradient`: gradients by the names of operands."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

X, W = np.array([[1.0, 2.0], [3.0, 4.0], [0.5, -1.0]]), np.array([1.0, -1.0])
LOSS = "loss = mean[N](sum[C](x[N C] * w[C]) ** 2)"
GRADIENT_W = 2 * (X @ W) @ X / 3
GRADIENT_X = 2 * np.outer(X @ W, W) / 3


def test_gradients_come_by_the_names_of_operands() -> None:
    value, gradients = ne.value_and_grad(LOSS, "w x")(x=X, w=W)
    assert value == pytest.approx(np.mean((X @ W) ** 2))
    assert list(gradients) == ["w", "x"]
    np.testing.assert_allclose(gradients["w"], GRADIENT_W)
    np.testing.assert_allclose(gradients["x"], GRADIENT_X)
    alone = ne.grad(LOSS, ["x"])(operands={"x": X, "w": W})
    np.testing.assert_array_equal(alone["x"], gradients["x"])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_gradient_has_the_names_the_shape_and_the_dtype_of_its_operand(dtype: str) -> None:
    x, w = ne.tensor(X.astype(dtype), names="batch feature"), W.astype(dtype)
    text = "loss = sum[N](sum[C](x[batch=N feature=C] * w[C]) ** 2)"
    gradients = ne.grad(text, "x w")(x=x, w=w)
    assert isinstance(gradients["x"], ne.NamedTensor)
    assert gradients["x"].names == ("batch", "feature")
    assert isinstance(gradients["w"], np.ndarray)
    assert {gradients[name].dtype for name in "xw"} == {np.dtype(dtype)}
    time = ne.tensor(W, names="time")
    found = ne.grad("sum[T](x[time@(T + 0)] ** 2) + sum[k](x[time=(_ + k=1)])", "x")(x=time)["x"]
    assert found.names == ("time",)
    np.testing.assert_array_equal(found.numpy(), 2 * W + [0, 1])
    assert ne.grad("sum[N C](x * x)", "x")(x=ne.tensor(X, names="N C"))["x"].names == ("N", "C")
    found = ne.grad("sum[N C](x[N C] ** 2)", "x")(x=ne.tensor(X, names=(None, "C")))["x"]
    assert found.names == (None, "C")  # a dim without a name gets none


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("sum[C](u[C C] ** 2)", "d_u[(d0) (d1)] = grad(value, u[(d0) (d1)])"),
        ("y = sum[C D](u[C C] * u[C D]); y * y", "d_u[C D] = grad(value, u[C D])"),
        ("d_u = u[C D]; y = sum[C D](d_u ** 2)", "d_u'[C D] = grad(y, u[C D])"),
        ("value = u[C D]; sum[C D](value ** 2)", "d_u[C D] = grad(value', u[C D])"),
        ("y = sum[T D](u[(1 + T) D] ** 2)", "d_u[(d0) (d1)] = grad(y, u[(d0) (d1)])"),
        ("y = sum[T](u[_@0 T] ** 2)", "d_u[(d0) (d1)] = grad(y, u[(d0) (d1)])"),
        ("y = sum[h w](u[1 (h w)] ** 2)", "d_u[(d0) (d1)] = grad(y, u[(d0) (d1)])"),
        ("y = sum[...](u[...] ** 2)", "d_u[...] = grad(y, u[...])"),
    ],
)
def test_every_element_is_seen_once(text: str, line: str) -> None:
    sizes = {"h": 2} if "(h w)" in text else None
    array = np.arange(2.0, 4.0).reshape(1, 2) if sizes else np.arange(4.0).reshape(2, 2)
    slope = ne.grad(text, "u", sizes=sizes)
    assert slope.text.splitlines()[-1] == line
    found, step = slope(u=array)["u"], 1e-6
    for place in np.ndindex(array.shape):
        ends = [array.copy(), array.copy()]
        ends[0][place] += step
        ends[1][place] -= step
        high, low = (ne.evaluate(text, u=end, sizes=sizes) for end in ends)
        np.testing.assert_allclose(found[place], (high - low) / (2 * step), rtol=1e-6, atol=1e-6)


def test_a_derivative_does_not_change_what_an_operand_without_a_term_means() -> None:
    text = "y = sum[C](w[C] ** 2) + sum[C](w ** 4); h[C D] = grad(grad(y, w[C]), w[D])"
    np.testing.assert_allclose(ne.evaluate(text, w=W), np.diag(2 + 12 * W**2))
    alone = "y = sum[C](w[C] ** 3); g[D] = grad(y, w[D]); h[C D] = grad(g, w)"
    np.testing.assert_allclose(ne.evaluate(alone, w=W), np.diag(6 * W))
    with pytest.raises(ne.NameExprError, match="ambiguous"):
        ne.evaluate("y = sum[C D](w[C] * stop(w[D])) + sum[C](w); g[E] = grad(y, w[E])", w=W)


def test_bound_operands_and_pickles() -> None:
    function = ne.value_and_grad(LOSS, "w x", dtype="float32")
    for one in (function.bind(x=X), pickle.loads(pickle.dumps(function.bind(x=X)))):
        value, gradients = one(w=W)
        assert value.dtype == "float32"
        np.testing.assert_allclose(gradients["w"], GRADIENT_W, rtol=1e-5)
        np.testing.assert_allclose(gradients["x"], GRADIENT_X, rtol=1e-5)
    call = f"nameexpr.value_and_grad({LOSS!r}, 'w x')"
    assert repr(function) == call and repr(function.bind(x=X)) == f"<{call} with x bound>"
    assert repr(ne.compile(LOSS).bind(x=X).gradient("w")).endswith("with x bound>")
    assert function.plan(x=(3, 2), w=(2,)).flops > 0
    function(x=X, w=W)
    assert "def " in function.code


def test_options_are_those_of_formulas_and_other_keywords_are_sizes() -> None:
    found = ne.grad("sum[h w](x[(h w)] * index[w])", "x", w=2, dtype="float32")(x=np.ones(6, "float32"))["x"]
    np.testing.assert_array_equal(found, np.array([0, 1, 0, 1, 0, 1], "float32"))


def test_the_gradient_of_a_compiled_formula_is_a_formula() -> None:
    formula = ne.compile(LOSS).gradient("w x")
    value, by_w, by_x = formula(x=X, w=W)
    assert value == pytest.approx(np.mean((X @ W) ** 2))
    np.testing.assert_allclose(by_w, GRADIENT_W)
    np.testing.assert_allclose(by_x, GRADIENT_X)
    assert formula.text.splitlines()[1:] == ["d_w[C] = grad(loss, w[C])", "d_x[N C] = grad(loss, x[N C])"]
    bound: Any = ne.compile(LOSS).bind(x=X).gradient("w")
    np.testing.assert_allclose(bound(w=W)[1], GRADIENT_W)
    again = ne.compile(formula.text, outputs=("d_w",))
    np.testing.assert_array_equal(again(x=X, w=W)[0], by_w)


def test_training_lowers_the_loss() -> None:
    generator = np.random.default_rng(1)
    x, w = generator.normal(size=(40, 3)), np.zeros(3)
    y = x @ np.array([1.0, -2.0, 0.5])
    step = ne.value_and_grad("mean[N]((sum[C](x[N C] * w[C]) - y[N]) ** 2)", "w")
    losses = []
    for _ in range(100):
        loss, gradients = step(x=x, y=y, w=w)
        losses.append(float(loss))
        w -= 0.1 * gradients["w"]
    assert losses[-1] < 1e-6 < losses[0]


def test_operands_of_xarray_and_pandas_have_gradients_with_names() -> None:
    pd, xr = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    w = xr.DataArray(W, dims=["C"], coords={"C": ["a", "b"]})
    for one in (w, pd.Series(W, index=pd.Index(["a", "b"], name="C"))):
        found = ne.grad(LOSS, "w")(x=X, w=one)["w"]
        assert isinstance(found, ne.NamedTensor)
        assert found.names == ("C",)
        np.testing.assert_allclose(found.numpy(), GRADIENT_W)


def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch")
    value, gradients = ne.value_and_grad("sum[C](w[C] ** 3)", "w")(w=torch.tensor(W))
    assert isinstance(value, torch.Tensor)
    assert torch.equal(gradients["w"], 3 * torch.tensor(W) ** 2)


def test_an_operand_with_names_may_be_read_in_parts() -> None:
    x = ne.tensor(np.arange(6.0).reshape(3, 2), names="N C")
    gradient = ne.grad("y = sum[T C](x[(1 + T) C] ** 2)", "x")(x=x)["x"]
    assert gradient.names == ("N", "C") and gradient.tolist() == [[0, 0], [4, 6], [8, 10]]
