"""Derivatives as text: what is written, and that its value is that of the derivative."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.gradient.text.examples import example_shapes, guessed_dtypes
from nameexpr.compiler.pipeline import read_formula
from nameexpr.runtime.differentiated import differentiated
from nameexpr.syntax.parser.formula import parse_formula
from nameexpr.syntax.unparse import unparse_formula

WRITTEN = {
    "least squares": (
        "loss = mean[N]((sum[C](x[N C] * w[C]) + b - y[N]) ** 2)",
        "w b",
        """u1[N] = sum[C](x[N C] * w[C]) + b - y[N]
loss = mean[N](u1 ** 2)
u2[N] = 2 * u1 / size[N]
d_w[C] = sum[N](u2 * x[N C])
d_b = sum[N](u2)""",
    ),
    "names of statements": (
        """h = relu(sum[C](x[N C] * w[C H]))
s[N K] = sum[H](h * v[H K])
loss = -mean[N](sum[K](log_softmax[K](s) * (index[K] == label[N])))""",
        "w v",
        """u1[N H] = sum[C](x[N C] * w[C H])
h = relu(u1)
s[N K] = sum[H](h * v[H K])
u2[N K] = log_softmax[K](s)
u3[K N] = index[K] == label[N]
loss = -mean[N](sum[K](u2 * u3))
u4[K N] = -1.0 * u3 / size[N]
u5[K N] = u4 - exp(u2) * sum[K](u4)
d_w[C H] = sum[N](where(u1 > 0, sum[K](u5 * v[H K]), 0) * x[N C])
d_v[H K] = sum[N](u5 * h)""",
    ),
    "a Hessian": (
        "z[N] = sum[C](x[N C] * w[C]); loss = sum[N](softplus(z)); h[C D] = grad(grad(loss, w[C]), w[D])",
        "",
        """z[N] = sum[C](x[N C] * w[C])
loss = sum[N](softplus(z))
h[C D] = sum[N](x[N C] * sigmoid(z) * (1 - sigmoid(z)) * x[N D])""",
    ),
    "a Jacobian": (
        "y[N K] = exp(sum[C](x[N C] * w[C K])); j[N K C' K'] = grad(y, w[C' K'])",
        "",
        """u1[K] = index[K]
y[N K] = exp(sum[C](x[N C] * w[C K]))
j[N K C' K'] = where(u1[K'] == index[K], y[N K'] * x[N C'], 0)""",
    ),
    "two views of an operand": (
        """d2[i j] = sum[c]((x[i c] - x[j c]) ** 2) + (index[i] == index[j])
energy = sum[i j](where(index[i] < index[j], d2 ** -6, 0))
force[i c] = -grad(energy, x[i c])""",
        "",
        """u1[i c j] = x[i c] - x[j c]
d2[i j] = sum[c](u1 ** 2) + (index[i] == index[j])
u2[i j] = index[i] < index[j]
energy = sum[i j](where(u2, d2 ** -6, 0))
u3[i j c] = where(u2, -6 * d2 ** -7, 0) * 2 * u1
force[i c] = sum[j](u3[j i c]) - sum[j](u3)""",
    ),
    "what goes to one row": (
        "loss = sum[B T D](table[vocab@ids[B T] D] ** 3)",
        "table",
        "",
    ),
    "a gradient that reads no operand": (
        "g[C] = grad(sum[C](w[C]), w[C]); h[C] = g + 1",
        "",
        "u1 = w[C]\ng[C] = 1.0\nh[C] = g + 1",
    ),
    "an identity matrix": (
        "j[C D] = grad(w[C], w[D])",
        "",
        "u1 = w[C]\nu2[C] = index[C]\nj[C D] = where(u2[D] == index[C], 1.0, 0)",
    ),
    "names that are taken": ("y = sum[N]((u1[N] * 2) ** 2 + u1[N] * 2)", "u1", ""),
    "sizes in the text": ("y = sum[N](x[N] ** size[N]) / size[N] ** 2", "x", ""),
    "groups": ("l = sum[N h d](x[N (h d=2)] * q[h d] ** 2)", "x q", ""),
    "diagonals": ("l = sum[i](x[i i] ** 2 * y[i]); d[i j] = grad(l, x[i j])", "", ""),
    "repeats": ("y[N r=2] = x[N] ** 2; l = sum[N r](y ** 2)", "x", ""),
    "sorts": ("l = sum[N](sort[N](x[N]) * y[N]) + sum[N](cummax[N](x) * y)", "x y", ""),
    "functions along dims": ("l = sum[N](softmax[N](cumsum[N](x[N])) * y[N])", "x y", ""),
    "ties": ("l = max[N](x[N]) + median[N](x[N]) + std[N](x[N]) * norm[N](x[N])", "x", ""),
    "products": ("l = prod[N](x[N]) * sum[N](cumprod[N](x[N]) * y[N]) + prod[N K](z[N K])", "x z", ""),
    "labels": ("m[K] = sum[N](where(label[N] == index[K], x[N], 0)); l = sum[K](m ** 2 * v[K])", "x", ""),
    "windows": ("l = sum[t d](row[_@(t + d)] ** 2 * taps[d])", "row taps", ""),
    "neighbours": ("d[N C] = x[N (1 + C)] - x[N (C + 1)]; l = sum[N C](d ** 2 * y[N C])", "x y", ""),
    "parts": (
        "l = sum[N](x[(2 + N)] * x[(N + 2)])",
        "x",
        """l = sum[N](x[(2 + N)] * x[(N + 2)])
u1[(N + 2)] = x[(2 + N)]
u2[(2 + N)] = x[(N + 2)]
d_x[(d0)] = u1[d0] + u2[d0]""",
    ),
    "the first part": ("l = sum[N](x[(N + _)] ** 2 * y[N])", "x y", ""),
    "joined values": ("y[N (a + b)] = x[N a], z[b]; l = sum[N d](y[N d] ** 2)", "x z", ""),
    "padding": ("p[(1 + N) (C + 1)] = x[N C]; l = sum[i j](p[i j] ** 3)", "x", ""),
    "reversed": ("l = sum[N](x[N@(size[N] - 1 - N)] * x[N] * y[N])", "x y", ""),
    "ends": ("l = x[N@0] ** 2 * x[N@(size[N] - 1)]", "x", ""),
    "strides": ("l = sum[t d](row[_@(2 * t + d)] * taps[d] * u[t])", "row taps", ""),
    "dims that only positions read": (
        "l = sum[N C](x[_@0 _@i[N] (C + 1 + _)] ** 2 * y[N C]); g[a b c] = grad(l, x[a b c])",
        "",
        "",
    ),
    "masks": ("l = sum[N](where(m[N] & (x[N] > 0), sqrt(abs(x[N])) * x[N], x[N] ** 3))", "x", ""),
    "what stops": ("y = sum[a b c](x[a b] * u[b c] * v[c a]) + stop(sum[a b](x)) * sum[a b](x)", "x u", ""),
    "by a statement": ("z[N] = x[N] ** 2; l = sum[N](exp(z) * x); g[N] = grad(l, z[N])", "", ""),
    "a gradient of a gradient": (
        """gx[N C] = grad(sum[N H](tanh(sum[C](x[N C] * w[C H]))), x[N C])
p = mean[N]((sqrt(sum[C](gx ** 2)) - 1) ** 2)""",
        "w",
        "",
    ),
    "third derivatives": ("t[i j k] = grad(grad(grad(sum[i](w[i] * x[i]) ** 4, x[i]), x[j]), x[k])", "", ""),
    "a recurrence": (
        "h[(1 + T)] = s, tanh(a * h[_@T] + x[T]); l = sum[T](h[(1 + T)] ** 2) * h[_@0]",
        "x s a",
        "",
    ),
    "a recurrence of vectors": (
        "h[(1 + T) j] = p[j], tanh(sum[i](h[_@T i] * w[i j]) + x[T j]); l = sum[j](h[_@(size[T]) j] ** 2)",
        "x w p",
        "",
    ),
    "a recurrence two steps back": (
        "f[(2 + T)] = 1.0, f[_@T] * x[T] + f[_@(T + 1)]; l = f[_@(size[T] + 1)] ** 2",
        "x",
        "",
    ),
    "a recurrence next to it": (
        "h[(1 + T)] = s, 0.5 * h[_@T] + x[T]; l = sum[N](z[N] ** 3) + sum[T](h[(1 + T)])",
        "z",
        "",
    ),
}


def operands_for(text: str) -> dict[str, Any]:
    """Return operands of a formula, in which dims of different labels have different sizes."""
    scope, generator = read_formula(text), np.random.default_rng(7)
    shapes, dtypes = example_shapes(scope, {}, {}, 3), guessed_dtypes(scope, "float64")
    dtypes.update({name: "int64" for name in shapes if name == "label"})
    draw = {
        "int64": lambda shape: generator.integers(0, 3, shape),
        "bool": lambda shape: generator.integers(0, 2, shape) > 0,
        "float64": lambda shape: generator.normal(size=shape),
    }
    return {name: draw[dtypes[name]](shape) for name, shape in shapes.items()}


def evaluated(text: str, outputs: list[str], operands: Mapping[str, Any]) -> Any:
    used = read_formula(text).operands
    return ne.evaluate(text, outputs=outputs, operands={name: operands[name] for name in used})


@pytest.mark.parametrize("title", list(WRITTEN))
def test_the_text_has_the_values_of_the_derivatives(title: str) -> None:
    text, wrt, wanted = WRITTEN[title]
    whole = differentiated(text, wrt).text if wrt else text
    found = ne.compile(whole).expanded()
    assert "grad(" not in found
    assert wanted in {"", found}
    assert unparse_formula(parse_formula(found)) == found
    assert max(map(len, found.splitlines())) <= (120 if "recurrence" in title else 100)
    statements = [one.name for one in read_formula(whole).tree.statements if one.name is not None]
    assert [one for one in ne.compile(found).statements if one in statements] == statements
    operands = operands_for(whole)
    results = zip(evaluated(whole, statements, operands), evaluated(found, statements, operands), strict=True)
    for one, other in results:
        assert one.shape == other.shape
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("title", "labels", "term"),
    [
        ("least squares", "C", "[D]"),
        ("functions along dims", "N", "[M]"),
        ("ties", "N", "[M]"),
        ("masks", "N", "[M]"),
        ("products", "N", "[M]"),
        ("labels", "N", "[M]"),
    ],
)
def test_gradients_of_the_text_are_second_derivatives(title: str, labels: str, term: str) -> None:
    text, wrt, _ = WRITTEN[title]
    made = differentiated(text, wrt)
    (name, gradient), *_ = made.gradients
    again = f"\nsecond = sum[{labels}](cos({gradient}))\nagain{term} = grad(second, {name}{term})"
    wanted, found = [
        evaluated(one + again, ["again"], operands_for(text))[0]
        for one in (made.text, ne.compile(made.text).expanded())
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)
    assert np.any(wanted != 0)


def test_dims_that_happen_to_be_equally_large_are_told_apart() -> None:
    text = ne.grad("loss = mean[N](sum[C](x[N C] * w[C]) ** 2)", "w").expanded(x=(3, 3), w=(3,))
    assert "size[N]" in text
    assert "size[C]" not in text


def test_tensors_without_terms_are_written_with_their_names() -> None:
    x = ne.tensor(np.ones((2, 3)), names=("N", "C"))
    assert ne.grad("y = sum[N C](x ** 2)", "x").expanded(x=x) == "y = sum[N C](x[N C] ** 2)\nd_x = 2 * x[N C]"


def test_tensors_are_written_with_other_labels_where_derivatives_need_them() -> None:
    x, w = ne.tensor(np.ones((2, 3)), names=("N", "C")), ne.tensor(np.ones(3), names="C")
    text = "y = sum[N](exp(sum[C](x * w[C]))); h[C D] = grad(grad(y, w[C]), w[C=D])"
    found = ne.compile(text).expanded(x=x, w=w)
    assert "x[N C=D]" in found
    np.testing.assert_allclose(
        np.asarray(ne.evaluate(found, x=x, w=w)), np.asarray(ne.evaluate(text, x=x, w=w))
    )


def test_gradients_of_complex_numbers_need_their_dtype() -> None:
    function = ne.grad("y = sum[N](abs(x[N] * w[N]) ** 2)", "x")
    assert "conj(w[N])" in function.expanded(x=np.ones(2, complex), w=np.ones(2, complex))
    assert "conj" not in function.expanded()


def test_formulas_without_derivatives_are_returned_as_they_are() -> None:
    assert ne.compile("y  =  stop(x[N])").expanded() == "y  =  stop(x[N])"


def test_values_that_the_language_cannot_say_are_refused() -> None:
    with pytest.raises(ne.NameExprError, match=r"NE539\]: .* complex numbers"):
        ne.grad("y = sum[N](imag(x[N]) ** 2)", "x").expanded(x=np.ones(2, complex))
    with pytest.raises(ne.NameExprError, match="does not use the operand z"):
        ne.grad("y = sum[N](x[N] ** 2)", "x").expanded(z=1.0)


DESCENT = """
p[T N] = sum[C](x[N C] * w[_@T C])
loss[T] = mean[N](tanh(p[T N] - y[N]) ** 2)
v[(1 + T) C] = 0, 0.9 * v[_@T C] - 0.1 * grad(loss[T], w[_@T C])
w[(1 + T) C] = a[C], w[_@T C] + v[_@(T + 1) C]
final = sum[C](w[_@(size[T]) C] ** 2)
"""
CURVED = """
e[T] = sum[i](z[_@T i] ** 4) + prod[i](z[_@T i])
h[T i j] = grad(grad(e[T], z[_@T i]), z[_@T j])
z[(1 + T) i] = a[i], z[_@T i] - 0.01 * sum[j](h[T i j] * a[j])
final = sum[t i](z[t i] ** 2)
"""


SMOOTHED = """
w[(1 + T) C] = a[C], w[_@T C] - 0.1 * grad(sum[i]((w[_@T C@(i + 1)] - w[_@T C@i]) ** 2 * k[i]), w[_@T C])
final = sum[t C](w[t C] ** 2)
"""


@pytest.mark.parametrize("text", [DESCENT, CURVED, SMOOTHED])
def test_steps_with_derivatives_are_written_out(text: str) -> None:
    generator = np.random.default_rng(8)
    given = {"x": generator.normal(size=(6, 3)), "y": generator.normal(size=6), "a": generator.normal(size=3)}
    given["k"] = np.ones(2)
    given = {name: given[name] for name in ne.compile(text).operands}
    step = ne.value_and_grad(text, "a", sizes={"T": 4})
    expanded = step.expanded()
    assert "grad(" not in expanded
    value, gradients = step(**given)
    found = ne.evaluate(expanded, outputs=("final", "d_a"), sizes={"T": 4}, **given)
    np.testing.assert_allclose(found[0], value, rtol=1e-12)
    np.testing.assert_allclose(found[1], gradients["a"], rtol=1e-11)


def test_steps_read_what_the_step_has_computed_by_its_name() -> None:
    lines = ne.compile(DESCENT, sizes={"T": 4}).expanded().split("\n")
    assert lines[1] == "p[T N] = sum[C](x[N C] * w[_@T C])"
    assert lines[3].startswith("u2[T C] = sum[N](tanh(p[T N] - y[N]) * ")
    assert lines[4] == "v[(1 + T) C] = 0, 0.9 * v[_@T C] - 0.1 * u2[T C]"
    assert lines[5] == "w[(1 + T) C] = a[C], w[_@T C] + v[_@(T + 1) C]"


def test_steps_whose_dim_is_not_the_first_are_refused() -> None:
    text = "w[C (1 + T)] = a[C], w[C _@T] - grad(sum[C](w[C _@T] ** 3), w[C _@T])"
    with pytest.raises(ne.NameExprError, match=r"NE539\]: .* first dim of 'w'"):
        ne.compile(text, sizes={"T": 4}).expanded()
