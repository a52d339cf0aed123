"""Texts of derivatives of formulas with packs and `...`."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne

GENERATOR = np.random.default_rng(29)
W, M = GENERATOR.normal(size=4), GENERATOR.normal(size=(4, 5))
LAYER = "h[b... K] = tanh(sum[C](x[b... C] * m[C K])); sum[b... K]((h[b... K] - z[b...]) ** 2)"


@pytest.mark.parametrize("dims", [(), (3,), (2, 3)])
@pytest.mark.parametrize(
    ("text", "wrt"),
    [
        ("l = sum[... C](tanh(x[... C] * w[C]) * w[C])", "x w"),
        ("l = mean[... C](x[... C] ** 2 * w[C])", "x w"),
        ("l[...] = sum[C](x[... C] * w[C]); sum[...](l[...] ** 3)", "w x"),
        ("p[batch... C] = softmax[C](x[batch... C]); l = -sum[batch... C](p * log(p) * w[C])", "x w"),
        (LAYER, "m z x"),
    ],
)
def test_texts_hold_for_any_number_of_dims(text: str, wrt: str, dims: tuple[int, ...]) -> None:
    given = {"x": GENERATOR.normal(size=(*dims, 4)), "w": W, "m": M, "z": GENERATOR.normal(size=dims)}
    given = {name: given[name] for name in ne.compile(text).operands}
    step = ne.value_and_grad(text, wrt)
    expanded = step.expanded()
    assert "grad(" not in expanded
    _, wanted = step(**given)
    found = ne.evaluate(expanded, outputs=tuple(f"d_{name}" for name in wrt.split()), **given)
    for name, value in zip(wrt.split(), found, strict=True):
        assert value.shape == given[name].shape
        np.testing.assert_allclose(value, wanted[name], rtol=1e-11, atol=1e-13, err_msg=expanded)


def test_sizes_are_counted_in_an_operand() -> None:
    assert ne.grad("mean[... C](x[... C] * w[C])", "w").expanded().split("\n")[::2] == [
        "n = sum[...](abs(x[... C@0]) ** 0)",
        "d_w[C] = sum[...](x[... C] / (n * size[C]))",
    ]


@pytest.mark.parametrize("text", ["y = sum[...](x[...] * z[...])", "y = sum[... N](x[... N] * z[... N])"])
def test_dims_that_broadcast_are_refused(text: str) -> None:
    with pytest.raises(ne.NameExprError, match=r"NE539\]: .*broadcast"):
        ne.grad(text, "x").expanded()


def test_tensors_whose_dims_have_names_are_refused() -> None:
    x = ne.ones((2, 3), names="N C")
    with pytest.raises(ne.NameExprError, match=r"NE539\]: .*'x' have names"):
        ne.grad("y = sum[... C](x[... C] ** 2)", "x").expanded(x=x)
