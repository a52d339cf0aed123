"""Layers: modules of PyTorch whose parameters are operands of a text."""

from __future__ import annotations

import copy
import io
import pickle
from pathlib import Path
from typing import Any

import pytest

import nameexpr as ne
from project.sources import run_python

torch = pytest.importorskip("torch")
LINEAR = "b t c, c k -> b t k"


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(3)


def linear(**options: Any) -> Any:
    return ne.torch.Expression(LINEAR, c=4, k=5, **options)


def test_operands_with_sizes_for_all_dims_are_parameters() -> None:
    layer, x = linear(), torch.randn(2, 3, 4)
    torch.testing.assert_close(layer(x), x @ layer.weight)
    assert {name: tuple(own.shape) for name, own in layer.named_parameters()} == {"weight": (4, 5)}
    tucker = ne.torch.Expression("b i j, i p, j q -> b p q", sizes={"i": 3, "j": 4, "p": 2, "q": 2})
    assert {name: tuple(own.shape) for name, own in tucker.named_parameters()} == {
        "weight1": (3, 2),
        "weight2": (4, 2),
    }
    x = torch.randn(5, 3, 4)
    torch.testing.assert_close(tucker(x), tucker.weight1.T @ x @ tucker.weight2)


def test_parameters_can_be_chosen_and_named() -> None:
    layer = ne.torch.Expression("a, a b -> b", parameters={"scale": 0}, a=3, b=4)
    x = torch.randn(3, 4)
    torch.testing.assert_close(layer(x), layer.scale @ x)
    swapped = ne.torch.Expression("c k, b c -> b k", c=3, k=2)
    torch.testing.assert_close(swapped(x.T), x.T @ swapped.weight)


def test_shapes_follow_from_groups_and_numbers() -> None:
    layer = ne.torch.Expression("b (h c), (h c) n=3 k 1 -> b h n k", h=2, c=4, k=5)
    assert layer.weight.shape == (8, 3, 5, 1)
    assert layer(torch.ones(6, 8)).shape == (6, 2, 3, 5)


def test_a_layer_without_parameters_rearranges() -> None:
    network = torch.nn.Sequential(
        ne.torch.Expression("b c h w -> b (c h w)"), ne.torch.Expression("b c, c k -> b k", c=12, k=3)
    )
    assert network(torch.ones(5, 3, 2, 2)).shape == (5, 3)
    assert repr(network) == (
        "Sequential(\n  (0): Expression('b c h w -> b (c h w)')\n"
        "  (1): Expression('b c, c k -> b k', c=12, k=3)\n)"
    )


def test_first_values_are_those_of_the_modules_of_pytorch() -> None:
    layer = ne.torch.Expression("b c, c k -> b k", c=100, k=400)
    assert 0.099 < layer.weight.max().item() <= 0.1
    assert abs(layer.weight.mean().item()) < 0.002
    scaled = ne.torch.Expression("b c, c -> b c", c=4)
    assert scaled.weight.tolist() == [1, 1, 1, 1]
    own = linear(init=torch.nn.init.zeros_)
    assert not own.weight.any()
    torch.nn.init.ones_(own.weight)
    own.reset_parameters()
    assert not own.weight.any()


def test_parameters_have_the_dtype_and_device_that_are_asked_for() -> None:
    layer = linear(dtype=torch.float64, device="meta")
    assert layer.weight.dtype == torch.float64 and layer.weight.is_meta
    layer = layer.to_empty(device="cpu")
    layer.reset_parameters()
    assert layer(torch.ones(2, 3, 4, dtype=torch.float64)).dtype == torch.float64
    assert linear().to(torch.bfloat16).weight.dtype == torch.bfloat16


def test_layers_are_saved_copied_and_pickled() -> None:
    layer, x = linear(), torch.randn(2, 3, 4)
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    other = linear()
    other.load_state_dict(torch.load(file))
    for same in (other, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        torch.testing.assert_close(same(x), layer(x), rtol=0, atol=0)
        assert repr(same) == repr(layer) and same.weight is not layer.weight


def test_layers_are_trained() -> None:
    layer = ne.torch.Expression("b c, c -> b", c=2)
    x = torch.randn(64, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.3)
    for _ in range(40):
        optimizer.zero_grad()
        (layer(x) - x @ torch.tensor([2.0, -3.0])).square().mean().backward()
        optimizer.step()
    torch.testing.assert_close(layer.weight.detach(), torch.tensor([2.0, -3.0]), atol=0.01, rtol=0)


@pytest.mark.parametrize("dynamic", [False, True])
def test_layers_are_compiled_as_a_whole(dynamic: bool) -> None:
    torch._dynamo.reset()
    layer = linear()
    traced = torch.compile(layer, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    for rows in (2, 5):
        x = torch.randn(rows, 3, 4)
        torch.testing.assert_close(traced(x), layer(x))
        found = torch.autograd.grad(traced(x).square().sum(), layer.weight)
        torch.testing.assert_close(found, torch.autograd.grad(layer(x).square().sum(), layer.weight))


@pytest.mark.parametrize("strict", [False, True])
def test_layers_are_exported_for_all_sizes(strict: bool) -> None:
    layer, rows = linear(), torch.export.Dim("rows")
    shapes = {"inputs": ({0: rows, 1: torch.export.Dim.AUTO},)}
    exported = torch.export.export(layer, (torch.randn(3, 2, 4),), dynamic_shapes=shapes, strict=strict)
    x = torch.randn(7, 6, 4)
    torch.testing.assert_close(exported.module()(x), layer(x))


NORM = "m = mean[C](x[N C]); y[N C] = (x - m) / sqrt(var[C](x) + 1e-5) * weight[C] + bias[C]"


def test_formulas_have_parameters_by_the_names_of_operands() -> None:
    layer = ne.torch.Formula("y[b k] = sum[c](x[b c] * weight[c k]) + bias[k]", c=4, k=5)
    assert list(layer.state_dict()) == ["weight", "bias"]
    assert layer.weight.abs().max().item() <= 0.5 and not layer.bias.any()
    x = torch.randn(3, 4)
    known = torch.nn.functional.linear(x, layer.weight.T, layer.bias)
    torch.testing.assert_close(layer(x), known)
    torch.testing.assert_close(layer(x=x), known)
    assert repr(layer) == "Formula('y[b k] = sum[c](x[b c] * weight[c k]) + bias[k]', c=4, k=5)"


def test_first_values_follow_from_the_use() -> None:
    norm, x = ne.torch.Formula(NORM, C=8), torch.randn(3, 8)
    assert norm.weight.tolist() == [1] * 8 and norm.bias.tolist() == [0] * 8
    torch.testing.assert_close(norm(x), torch.nn.functional.layer_norm(x, (8,)))
    table = ne.torch.Formula("e[B D] = table[v@ids[B] D]", v=50, D=20)
    assert 0.9 < table.table.std().item() < 1.1
    later = ne.torch.Formula("h[N C K] = x[N C] * w[C K]; y[N K] = sum[C](h)", C=100, K=2)
    assert later.w.abs().max().item() <= 0.1
    ids = torch.tensor([3, 7, 3])
    torch.testing.assert_close(table(ids), table.table[ids])


def test_numbers_are_parameters_on_request() -> None:
    layer = ne.torch.Formula("y[N] = x[N] * scale + shift", parameters=("scale", "shift"))
    assert layer.scale.shape == () and layer.scale.item() == 1 and layer.shift.item() == 0
    assert layer(torch.ones(3)).tolist() == [1, 1, 1]
    own = ne.torch.Formula("y[N C] = x[N C] * w[C]", C=2, init={"w": torch.nn.init.zeros_})
    assert not own(torch.ones(3, 2)).any()


def test_formulas_give_several_results_and_names() -> None:
    text = "h[N K] = sum[C](x[N C] * w[C K]); y = relu(h)"
    layer = ne.torch.Formula(text, C=3, K=2, outputs=("h", "y"))
    hidden, result = layer(ne.tensor(torch.randn(4, 3), names="N C"))
    assert hidden.names == result.names == ("N", "K")
    torch.testing.assert_close(result.tensor, hidden.tensor.relu())


@pytest.mark.parametrize("dynamic", [False, True])
def test_formulas_are_compiled_and_exported(dynamic: bool) -> None:
    torch._dynamo.reset()
    norm = ne.torch.Formula(NORM, C=8)
    traced = torch.compile(norm, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    rows = {0: torch.export.Dim.DYNAMIC if dynamic else torch.export.Dim.STATIC}
    exported = torch.export.export(norm, (torch.randn(3, 8),), dynamic_shapes={"inputs": (rows,)})
    for count in (3, 5) if dynamic else (3,):
        x = torch.randn(count, 8)
        torch.testing.assert_close(traced(x), norm(x))
        torch.testing.assert_close(exported.module()(x), norm(x))
    assert set(exported.state_dict) == {"weight", "bias"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ne.torch.Expression("b c, c k -> b j", c=2), "NE2"),
        (lambda: ne.torch.Expression(LINEAR, c=2, n=3), "NE602"),
        (lambda: ne.torch.Expression(LINEAR, parameters={"w": 1}, c=2), "NE691.*size of 'k' is not known"),
        (lambda: ne.torch.Expression("b c, ... c -> b ...", parameters={"w": 1}, c=2), "NE691.*no label"),
        (lambda: ne.torch.Expression(LINEAR, parameters={"w": 2}, c=2, k=2), "NE691.*not an operand"),
        (lambda: ne.torch.Expression(LINEAR, parameters=("w",), c=2, k=2), "NE691.*not a mapping"),
        (lambda: ne.torch.Expression(LINEAR, parameters={"forward": 1}, c=2, k=2), "NE691.*'forward'"),
        (lambda: ne.torch.Expression(LINEAR, parameters={"a.b": 1}, c=2, k=2), "NE691.*'a.b'"),
        (lambda: linear(init={"wieght": torch.nn.init.ones_}), "NE691.*not an operand"),
        (lambda: linear()(torch.ones(2, 3, 4), torch.ones(4, 5)), "NE692.*takes 1 input, but 2 were given"),
        (lambda: linear()(torch.ones(2, 3, 5)), "NE30"),
        (lambda: ne.torch.Formula("y = x[N] *"), "NE1"),
        (lambda: ne.torch.Formula("y = x[N] * w[M]", K=3), "NE691.*K= is not a label"),
        (lambda: ne.torch.Formula("y = x[N C] * w[C]", parameters=("wt",), C=3), "NE691.*'wt'"),
        (lambda: ne.torch.Formula("y = x[N C] * w[C]", parameters="w", C=3), "NE691.*not a list"),
        (lambda: ne.torch.Formula("y = x[N C] * w[C]", parameters=("w",)), "NE691.*size of 'C'"),
        (
            lambda: ne.torch.Formula("y = x[N C] * w[C]", C=3)(z=torch.ones(2, 3)),
            "NE692.*takes x, but z was given",
        ),
    ],
)
def test_mistakes_are_explained(make: Any, message: str) -> None:
    with pytest.raises(ne.NameExprError, match=message):
        make()


def test_layers_without_pytorch_say_what_is_missing(tmp_path: Path) -> None:
    script = """
import importlib.machinery, nameexpr as ne
path = importlib.machinery.PathFinder
finder = path.find_spec
path.find_spec = lambda name, *rest: None if name == "torch" else finder(name, *rest)
try:
    ne.torch.Expression
except ne.OptionError as wrong:
    print(wrong)
"""
    assert run_python(script, cwd=tmp_path).startswith("OptionError[NE686]: layers need torch")
