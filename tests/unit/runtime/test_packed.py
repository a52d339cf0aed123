"""`GradientFunction.packed`: the functions of one vector that SciPy's optimizers call."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3))
Y = (X @ [1.0, -2.0, 0.5] > 0).astype(float)
LOSS = """
    z[N] = sum[C](x[N C] * w[C]) + b
    loss = mean[N](softplus(z) - y[N] * z) + sum[C](w[C] ** 4)
"""
W = np.array([0.1, -0.2, 0.3])


def logistic(**start: Any) -> ne.Packed:
    return ne.value_and_grad(LOSS, "w b").packed(operands=start, x=X, y=Y)


def assert_derivatives_agree(packed: ne.Packed) -> None:
    """Compare the gradient with differences of values, and the Hessian with differences of gradients."""
    x, step = packed.x0 + 0.1, 1e-5
    ends = [(x + step * row, x - step * row) for row in np.eye(len(x))]
    slopes = [(packed.fun(high)[0] - packed.fun(low)[0]) / (2 * step) for high, low in ends]
    np.testing.assert_allclose(packed.fun(x)[1], slopes, rtol=1e-6, atol=1e-7)
    rows = [(packed.fun(high)[1] - packed.fun(low)[1]) / (2 * step) for high, low in ends]
    hessian, direction = packed.hess(x), RNG.normal(size=len(x))
    np.testing.assert_allclose(hessian, rows, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(hessian, hessian.T)
    np.testing.assert_allclose(packed.hessp(x, direction), hessian @ direction, rtol=1e-10, atol=1e-12)


def test_the_vector_is_the_operands_one_after_the_other() -> None:
    packed = logistic(w=W, b=2)
    np.testing.assert_array_equal(packed.x0, [*W, 2.0])
    value, gradient = packed.fun(packed.x0)
    expected, gradients = ne.value_and_grad(LOSS, "w b")(x=X, y=Y, w=W, b=2.0)
    assert type(value) is float
    assert value == expected
    np.testing.assert_array_equal(gradient, [*gradients["w"], gradients["b"]])
    back = packed.unpack(packed.x0)
    assert list(back) == ["w", "b"]
    np.testing.assert_array_equal(back["w"], W)
    assert type(back["b"]) is float
    assert back["b"] == 2.0


def test_what_is_in_the_vector_is_shown() -> None:
    packed = ne.grad("sum[C](w[C] ** 2) * b", "w b").packed(w=W, b=2)
    assert repr(packed) == "<nameexpr.Packed of w (3,), b (): 'sum[C](w[C] ** 2) * b'>"


def test_names_and_dtypes_come_back_and_vectors_are_float64() -> None:
    w = ne.tensor(W.astype("float32"), names="C")
    packed = ne.value_and_grad("sum[C](w[C] ** 2) + sum[D](v[D])", "w v").packed(w=w, v=[1, 2])
    assert packed.x0.dtype == packed.fun(packed.x0)[1].dtype == np.float64
    back = packed.unpack(packed.x0 + 0.5)
    assert isinstance(back["w"], ne.NamedTensor)
    assert (back["w"].names, back["w"].dtype) == (("C",), np.float32)
    np.testing.assert_array_equal(back["w"].numpy(), W.astype("float32") + np.float32(0.5))
    assert isinstance(back["v"], np.ndarray)
    np.testing.assert_array_equal(back["v"], [1.5, 2.5])


def test_what_was_unpacked_is_not_the_vector() -> None:
    packed = logistic(w=W, b=0.0)
    x = packed.x0.copy()
    back = packed.unpack(x)
    x[:] = 9.0
    np.testing.assert_array_equal(back["w"], W)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (LOSS, {"w": W, "b": 0.5, "x": X, "y": Y}),
        (LOSS, {"w": ne.tensor(W, names="C"), "b": 0.5, "x": ne.tensor(X, names="N C"), "y": Y}),
        ("sum[C](exp(w[C])) + b", {"w": W, "b": 0.5}),  # linear in b
        ("sum[C](w[C]) * b", {"w": W, "b": 0.5}),
        (
            "sum[V](sin(w[V]) * b) + v_w ** 3 + hv + h_w",
            {"w": W, "b": 0.5, "v_w": 2.0, "hv": 1.0, "h_w": 1.0},
        ),
        ("sum[D](exp(w[time=(_ + D=2)]) * w[time=(D=2 + _)]) * b", {"w": W, "b": 0.5}),
        ("sum[C D](exp(w[C D] * b)) + sum[C](w[C C] ** 3)", {"w": RNG.normal(size=(2, 2)), "b": 0.5}),
        ("sum[...](sin(w[...]) * b)", {"w": RNG.normal(size=(2, 2)), "b": 0.5}),
        ("sum[p...](sin(w[p...]) * b)", {"w": np.asfortranarray(RNG.normal(size=(2, 3))), "b": 0.5}),
        ("sum[C D](sin(w) * b)", {"w": ne.tensor(RNG.normal(size=(2, 3)), names="C D"), "b": 0.5}),
        ("sum[C D](sin(w[1 (C D)]) * b)", {"w": RNG.normal(size=(1, 6)), "b": 0.5}),
    ],
)
def test_gradients_and_hessians_agree_with_differences(text: str, start: dict[str, Any]) -> None:
    sizes = {"C": 2} if "(C D)" in text else None
    assert_derivatives_agree(ne.grad(text, "w b", sizes=sizes).packed(operands=start))


def test_constants_may_be_bound_and_everything_pickles() -> None:
    bound = ne.value_and_grad(LOSS, "w b").bind(x=X, y=Y).packed(w=W, b=0.0)
    whole = logistic(w=W, b=0.0)
    for packed in (bound, pickle.loads(pickle.dumps(bound))):
        np.testing.assert_allclose(packed.fun(whole.x0)[1], whole.fun(whole.x0)[1], rtol=1e-12)
        np.testing.assert_allclose(packed.hess(whole.x0), whole.hess(whole.x0), rtol=1e-12)


def test_bounds_by_name() -> None:
    packed = logistic(w=W, b=0.0)
    bounds = packed.bounds(w=(np.array([-1.0, 0.0, 1.0]), 2), b=(None, 5.0))
    np.testing.assert_array_equal(bounds, [[-1, 2], [0, 2], [1, 2], [-np.inf, 5]])


@pytest.mark.parametrize(
    ("method", "second"),
    [
        ("BFGS", None),
        ("L-BFGS-B", None),
        ("Newton-CG", "hessp"),
        ("trust-ncg", "hessp"),
        ("trust-exact", "hess"),
        ("dogleg", "hess"),
    ],
)
def test_optimizers_of_scipy_find_the_minimum(method: str, second: str | None) -> None:
    minimize = pytest.importorskip("scipy.optimize").minimize
    packed = logistic(w=W, b=0.0)
    options = {} if second is None else {second: getattr(packed, second)}
    best = minimize(packed.fun, packed.x0, jac=True, method=method, **options)
    assert np.abs(packed.fun(best.x)[1]).max() < 1e-4
    assert set(packed.unpack(best.x)) == {"w", "b"}


def test_bounds_hold_in_scipy() -> None:
    minimize = pytest.importorskip("scipy.optimize").minimize
    packed = logistic(w=W, b=0.0)
    best = minimize(packed.fun, packed.x0, jac=True, bounds=packed.bounds(w=(0, None)), method="L-BFGS-B")
    assert packed.unpack(best.x)["w"].min() == 0.0


@pytest.mark.parametrize(
    ("code", "start"),
    [
        ("NE538", {"w": W + 1j, "b": 0.0}),
        ("NE521", {"w": W}),
        ("NE522", {"w": W, "b": 0.0, "c": 1.0}),
    ],
)
def test_operands_that_cannot_vary_are_refused(code: str, start: dict[str, Any]) -> None:
    with pytest.raises(ne.NameExprError) as caught:
        logistic(**start)
    assert caught.value.code == code


def test_other_mistakes_are_refused() -> None:
    packed = logistic(w=W, b=0.0)
    mistakes = [
        (lambda: packed.fun(np.zeros(3)), "NE538"),
        (lambda: packed.unpack(np.zeros((2, 2))), "NE538"),
        (lambda: packed.hessp(packed.x0, np.zeros(5)), "NE538"),
        (lambda: packed.bounds(v=(0, 1)), "NE534"),
        (lambda: packed.bounds(w=3), "NE538"),
        (lambda: packed.bounds(w=(0, 1, 2)), "NE538"),
        (lambda: packed.bounds(w=(np.zeros(2), None)), "NE538"),
        (lambda: ne.grad(LOSS, "w").bind(w=W).packed(x=X, y=Y, b=0.0), "NE538"),
        (lambda: ne.grad("x[N] * w", "w").packed(x=np.ones(2), w=1.0).fun(np.ones(1)), "NE531"),
    ]
    for call, code in mistakes:
        with pytest.raises(ne.NameExprError) as caught:
            call()
        assert caught.value.code == code


def test_arrays_of_other_libraries_are_data_only() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(ne.NameExprError, match="not an array of NumPy"):
        logistic(w=torch.zeros(3), b=0.0)
    jax = pytest.importorskip("jax")
    packed = ne.value_and_grad(LOSS, "w b").packed(w=W, b=0.0, x=jax.numpy.asarray(X), y=Y)
    np.testing.assert_allclose(packed.fun(packed.x0)[1], logistic(w=W, b=0.0).fun(packed.x0)[1], rtol=1e-5)
