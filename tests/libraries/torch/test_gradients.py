"""Gradients and transformations of texts on PyTorch: the same as of code written by hand."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import nameexpr as ne

torch = pytest.importorskip("torch")
functional = torch.nn.functional

EXPRESSIONS = (
    "a b -> b a", "a b -> (a b)", "(a c=2) b -> b c a", "a a b -> b a", "a b -> a b b", "a -> a a 2",
    "a b -> a : sum", "a b -> : mean", "a b -> b : max", "a b -> b : prod", "a b -> b : var", "a b -> : std",
    "a b -> a : logsumexp", "a b -> a : norm", "a b -> a : median", "a b, b c -> a c", "a b, c b -> a c",
    "n a b, n b c -> n a c", "n a b, n c b -> n a c", "b q h d, b k h d -> b h q k", "n d, n d -> n",
    "a b, a b ->", "a, b -> a b", "n a, n b -> n a b", "a b, a b -> a b", "a b, b -> a", "a b, b -> a b",
    "a b c, c d -> a d : sum", "a b, b c, c d -> a d", "a b, a c, a d -> b c d", "a b, b a, a -> b",
    "a b, c d -> a b c d", "a (b 2), b c -> 2 a c : mean", "a b, a b -> b : max",
)  # fmt: skip
FORMULAS = (
    "y[a b] = exp(x[a b]) * w[a b] - 2 / x", "y[a] = sum[b](x[a b] * w[a b] / 3)",
    "y[a b] = softmax[b](x[a b] * w[a b])", "y[a b] = log_softmax[a b](x[a b]) + w[a b]",
    "y[a b] = where(x[a b] > 0.5, x, w[a b] ** 2)", "y[a b] = maximum(x[a b], w[a b]) + minimum(x, 0.3)",
    "y[a b] = hypot(x[a b], w[a b]) + atan2(x, w) + logaddexp(x, w)", "y[a b] = cumsum[b](x[a b]) * w[a b]",
    "y[a b] = sort[b](x[a b] * w[a b])", "y[a b] = cumprod[a](x[a b] + w[a b])", "y[a b] = x[a b] ** w[a b]",
    "y[a b] = flip[b](x[a b]) * cummax[a](w[a b])", "y[a] = var[b](x[a b]) + std[b](w[a b])",
    "y[a] = logsumexp[b](x[a b] + w[a b]) + norm[b](x)", "y[a] = median[b](x[a b]) * max[b](w[a b])",
    "y[a b] = gelu(x[a b]) + silu(w[a b]) + softplus(x) + sigmoid(w) + erf(x) + erfc(w) + tanh(x)",
    "y[a b] = log1p(x[a b]) + expm1(w[a b]) + sqrt(x) + asinh(w) + exp2(x) + log2(w) + log10(x)",
    "y[a b] = clip(x[a b], 0.3, 0.6) * w[a b]", "y[a b] = fmod(x[a b] * 3, w[a b] + 1) + x % 0.7 + abs(w)",
    "y[(a + c) b] = x[a b], 2 * w[c b]", "y[(1 + c)] = 0.5, sum[d](x[c d] * w[c d])",
    "y[a b] = x[(1 + a) b] * w[(1 + a) b]", "y[h b] = sum[k](x[H@(h + k) b] * w[k b])",
    "y[a] = sum[b](x[a b]) / mean[b](w[a b])", "m[a] = mean[b](x[a b]); y[a b] = (x[a b] - m[a]) * w[a b]",
    "h[(1 + a) b] = 0.1, tanh(h[_@a b] * w[a b] + x[a b])", "y[k b] = x[c@(2 - k) b] * w[k b]",
)  # fmt: skip


def operands_of(text: str) -> list[Any]:
    """Return two operands or one of each shape that a text takes, of 64 bits, away from 0."""
    generator = torch.Generator().manual_seed(len(text))

    def random(*shape: int) -> Any:
        return (torch.rand(shape, generator=generator, dtype=torch.float64) + 0.2).requires_grad_()

    if "->" not in text:
        return [random(3, 3), random(3, 3)]
    sizes = {name: 2 + number for number, name in enumerate("qkhd")} | {"n": 2, "c": 2}
    shapes = []
    for term in text.partition("->")[0].split(","):
        shape = []
        for item in re.findall(r"\([^)]*\)|\S+", term):
            named = re.findall(r"[a-z](?:=\d)?|\d", item)
            size = 1
            for label in named:
                size *= int(label) if label.isdigit() else sizes.get(label[0], 3)
            shape.append(size)
        shapes.append(shape)
    return [random(*shape) for shape in shapes]


def function_of(text: str) -> Callable[..., Any]:
    """Return a text as a function of tensors by position."""
    compiled = ne.compile(text)
    if "->" in text:
        return compiled
    names = compiled.operands
    return lambda *values: compiled(**dict(zip(names, values, strict=False)))


@pytest.mark.parametrize("text", [*EXPRESSIONS, *FORMULAS])
def test_gradients_are_those_of_differences(text: str) -> None:
    function, given = function_of(text), operands_of(text)
    if "->" not in text:
        given = given[: len(ne.compile(text).operands)]
    assert torch.autograd.gradcheck(function, given)
    if "median" not in text:
        assert torch.autograd.gradgradcheck(function, given)


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
    return torch.einsum("bhqk,bkhd->bqhd", torch.softmax(scores, -1), v)


ATTENTION = """
s[b h q k] = sum[d](q_[b q h d] * k_[b k h d]) / sqrt(size[d])
p[b h q k] = softmax[k](s)
y[b q h d] = sum[k](p * v_[b k h d])
"""


def test_gradients_of_attention_are_those_by_hand() -> None:
    given = [torch.randn(2, 4, 3, 5, requires_grad=True) for _ in range(3)]
    by_text = ne.evaluate(ATTENTION, q_=given[0], k_=given[1], v_=given[2])
    by_hand = attention(*given)
    torch.testing.assert_close(by_text, by_hand)
    weights = torch.randn_like(by_hand)
    pairs = [torch.autograd.grad(result, given, weights) for result in (by_text, by_hand)]
    for one, other in zip(*pairs, strict=True):
        torch.testing.assert_close(one, other)


PAIR = "a b, b c -> a c"


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
def test_functions_of_torch_func_transform_texts() -> None:
    x, w, many = torch.rand(3, 4), torch.rand(4, 5), torch.rand(6, 3, 4)
    ours, hand = ne.compile(PAIR), torch.mm
    functions = torch.func
    torch.testing.assert_close(functions.vmap(ours, (0, None))(many, w), many @ w)
    squared = [lambda x, w, mul=mul: (mul(x, w) ** 2).sum() for mul in (ours, hand)]
    for transform in (
        functions.grad,
        functions.hessian,
        lambda f: functions.jacrev(functions.grad(f)),
        lambda f: functions.jacfwd(f),
        lambda f: lambda x, w: functions.jvp(f, (x, w), (x, w)),
    ):
        one, other = (transform(function)(x, w) for function in squared)
        torch.testing.assert_close(one, other)
    each = functions.vmap(functions.grad(squared[0]), (0, None))(many, w)
    torch.testing.assert_close(each, functions.vmap(functions.grad(squared[1]), (0, None))(many, w))


def test_formulas_are_vectorised() -> None:
    many = torch.rand(6, 3, 4)
    for text in (
        "y[a b] = softmax[b](x[a b]) + cumsum[a](x)",
        "h[(1 + a) b] = 0, 0.5 * h[_@a b] + x[a b]",
        "y[k b] = x[c@i[k] b]",
        "y[(a + c) b] = x[a b], 2 * x[c b]",
        "y[b b a] = x[a b]",
    ):
        given = {"i": torch.tensor([2, 0])} if "i[k]" in text else {}
        found = torch.func.vmap(lambda x, text=text, given=given: ne.evaluate(text, x=x, **given))(many)
        expected = torch.stack([ne.evaluate(text, x=one, **given) for one in many])
        torch.testing.assert_close(found, expected)


def test_meta_and_fake_tensors_have_the_shape_of_the_result() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    x, w = torch.rand(3, 4, device="meta"), torch.rand(4, 5, device="meta")
    assert (ne.einsum(PAIR, x, w).shape, ne.einsum(PAIR, x, w).is_meta) == ((3, 5), True)
    result = ne.evaluate("y[i j] = softmax[j](x[i j]) * index[i]", x=x)
    assert (result.shape, result.is_meta) == ((3, 4), True)
    with FakeTensorMode():
        fake = ne.einsum(PAIR, torch.rand(3, 4), torch.rand(4, 5))
        assert (type(fake).__name__, tuple(fake.shape)) == ("FakeTensor", (3, 5))


def test_parameters_get_gradients() -> None:
    layer = torch.nn.Linear(4, 5)
    x = torch.rand(3, 4)
    ne.einsum("n c, k c -> n k", x, layer.weight).sum().backward()
    torch.testing.assert_close(layer.weight.grad, x.sum(0).expand(5, 4))


def test_bound_parameters_are_read_on_each_call() -> None:
    x, w = torch.rand(3, 4), torch.rand(4, 5)
    weight = torch.nn.Parameter(torch.rand(4, 4))
    chain = ne.compile("n a, a b, b c -> n c").bind({1: weight, 2: w})
    for _ in range(2):  # each call has a graph of its own
        chain(x).sum().backward()
    torch.testing.assert_close(weight.grad, 2 * torch.outer(x.sum(0), w.sum(1)))
    with torch.no_grad():
        weight.mul_(2)
    torch.testing.assert_close(chain(x), x @ weight @ w)


def test_bound_tensors_are_copied_and_folded() -> None:
    w = torch.rand(4, 5)
    layer = ne.compile("y[n k] = sum[c](x[n c] * exp(w[c k]))").bind(w=w)
    x = torch.rand(3, 4)
    expected = x @ w.exp()
    w.zero_()
    torch.testing.assert_close(layer(x=x), expected)


def test_narrow_floats_are_added_in_float32() -> None:
    for dtype, bound in ((torch.float16, 1e-3), (torch.bfloat16, 8e-3)):
        x = torch.rand(3, 100_000, dtype=dtype)
        exact = x.double().sum(1)
        for result in (ne.einsum("a b -> a : sum", x), ne.evaluate("y[a] = sum[b](x[a b])", x=x)):
            assert result.dtype is dtype or not result.isfinite().all()
            assert ((result.double() - exact).abs() / exact).nan_to_num(posinf=0).max() < bound
        mean = ne.evaluate("y[a] = mean[b](x[a b])", x=x)
        assert (mean.dtype, (mean.double() - exact / 1e5).abs().max() < bound) == (dtype, True)
        dot = ne.einsum("a b, a b -> a", x[:, :1000], x[:, :1000])
        torch.testing.assert_close(dot.double(), (x[:, :1000].double() ** 2).sum(1), rtol=bound, atol=0)


def test_means_of_products_do_not_overflow_in_float16() -> None:
    x = torch.full((3, 1000), 100.0, dtype=torch.float16)
    for result in (
        ne.einsum("a b, c b -> a c : mean", x, x),
        ne.evaluate("y[a c] = mean[b](x[a b] * z[c b])", x=x, z=x),
    ):
        assert (result.dtype, result[0, 0].item()) == (torch.float16, 10_000)


def test_autocast_is_pytorchs() -> None:
    x, w = torch.rand(3, 4), torch.rand(4, 5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert ne.einsum(PAIR, x, w).dtype is torch.mm(x, w).dtype is torch.bfloat16
    assert ne.einsum(PAIR, x, w).dtype is torch.float32


def test_inference_mode_and_no_grad_make_no_graph() -> None:
    x, w = torch.rand(3, 4, requires_grad=True), torch.rand(4, 5)
    with torch.inference_mode():
        assert ne.einsum(PAIR, x, w).is_inference()
    with torch.no_grad():
        assert ne.einsum(PAIR, x, w).grad_fn is None
    assert ne.einsum(PAIR, x, w).grad_fn is not None


def test_nothing_reads_an_element(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("an element was read")

    given = [torch.rand(3, 3), torch.rand(3, 3)]
    for name in ("item", "__bool__", "__int__", "__float__", "tolist", "numpy", "__array__"):
        monkeypatch.setattr(torch.Tensor, name, refuse)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in FORMULAS:
            compiled = ne.compile(text)
            compiled(**dict(zip(compiled.operands, given, strict=False)))


@pytest.mark.parametrize("text", FORMULAS)
def test_code_can_be_pasted_and_run(text: str) -> None:
    compiled = ne.compile(text)
    given = dict(zip(compiled.operands, [torch.rand(3, 3), torch.rand(3, 3)], strict=False))
    result = compiled(**given)
    pasted: dict[str, Any] = {}
    exec(compiled.code, pasted)
    torch.testing.assert_close(pasted["compute"](*given.values()), result)
    assert "numpy" not in compiled.code


def test_what_is_bound_in_inference_mode_can_be_used_by_autograd() -> None:
    x, w, d = torch.rand(3, 4, requires_grad=True), torch.rand(4, 5), torch.rand(5, 2)
    with torch.inference_mode():
        layer = ne.compile("a b, b c, c d -> a d").bind({1: w, 2: d})
        layer(x)
    layer(x).sum().backward()
    torch.testing.assert_close(x.grad, (w @ d).sum(1).expand(3, 4))


def test_a_parameter_that_is_frozen_for_a_while_is_still_read_on_each_call() -> None:
    weight = torch.nn.Parameter(torch.rand(4, 5))
    layer = ne.compile("y[n k] = sum[c](x[n c] * exp(w[c k]))").bind(w=weight)
    weight.requires_grad_(False)
    x = torch.rand(3, 4)
    layer(x=x)
    with torch.no_grad():
        weight.zero_()
    torch.testing.assert_close(layer(x=x), x.sum(1, keepdim=True).expand(3, 5))
