"""NamedTensors of PyTorch in its transforms: pytrees, vmap, grad, and torch.compile without graph breaks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import nameexpr as ne
from nameexpr.errors import NameExprError

torch = pytest.importorskip("torch")

Call = Callable[[Any, Any], Any]


def made(*sizes: int, names: Any) -> Any:
    generator = torch.Generator().manual_seed(len(sizes))
    return ne.tensor(torch.randn(*sizes, generator=generator, dtype=torch.float64), names=names)


def test_a_tensor_is_a_pytree_with_its_names() -> None:
    pytree = torch.utils._pytree
    x = made(2, 3, names="N C")
    doubled = pytree.tree_map(lambda leaf: leaf * 2, {"x": [x]})
    assert doubled["x"][0].equal(x * 2)
    leaves, structure = pytree.tree_flatten(x)
    assert leaves[0] is x.tensor
    for leaf in (None, object()):
        assert pytree.tree_unflatten([leaf], structure)._data is leaf
    assert pytree.tree_unflatten([torch.ones(3)], structure).names == (None,)


def test_vmap_hides_a_dim_and_its_name() -> None:
    x, w, seen = made(4, 3, names="B C"), made(3, names="C"), []

    def one(row: Any, w: Any) -> Any:
        seen.append((row.names, row.shape))
        return (row * w).sum("C")

    result = torch.func.vmap(one, in_dims=(0, None))(x, w)
    assert seen == [(("C",), (3,))] and torch.allclose(result.tensor, (x.tensor * w.tensor).sum(1))
    assert result.names == (None,)
    columns = torch.func.vmap(lambda column: column.sum("B"), in_dims=1)(x)
    assert torch.allclose(columns.tensor, x.tensor.sum(0))
    with pytest.raises(NameExprError, match="NE410"):
        torch.func.vmap(lambda row: row.sum("B"))(x)
    with pytest.raises(NameExprError, match="NE509"):
        torch.func.vmap(lambda row: row.sum().item())(x)


def test_gradients_of_a_function_have_its_names() -> None:
    x, w = made(4, 3, names="B C"), made(3, names="C")
    grad = torch.func.grad(lambda w: (x * w).exp().sum().tensor)(w)
    wanted = torch.func.grad(lambda w: (x.tensor * w).exp().sum())(w.tensor)
    assert grad.names == ("C",) and torch.allclose(grad.tensor, wanted)


COMPILED: dict[str, Call] = {
    "arithmetic": lambda x, y: (x * 2.0 + y).exp() / (1 + y * y),
    "comparisons": lambda x, y: (x < y) & (x >= 0),
    "in place": lambda x, y: x.clone().mul_(2).add_(y),
    "written": lambda x, y: x.clone().fill_(3),
    "reductions": lambda x, y: x.mean("C") + y.std("C") + x.var("C") + x.norm(2, "C"),
    "logsumexp": lambda x, y: x.logsumexp(["N", "C"]),
    "softmax": lambda x, y: x.softmax("C") * y.log_softmax("N"),
    "extremes": lambda x, y: x.max("C").values - x.amin("C"),
    "order": lambda x, y: x.sort("C").values + y.topk(4, "C").values,
    "products": lambda x, y: x.mm(y.rename("K", "L")),
    "matmul": lambda x, y: x.matmul(y.rename("K", "L")),
    "align": lambda x, y: x.align_to("C", "B", "N"),
    "align_as": lambda x, y: x.T.align_as(y) + y,
    "flatten": lambda x, y: x.flatten(["N", "C"], "F").unflatten("F", [("A", 2), ("B", -1)]),
    "rename": lambda x, y: x.rename(N="B").refine_names(..., "C"),
    "squeeze": lambda x, y: x.unsqueeze(0).squeeze(0),
    "indexing": lambda x, y: x[0] + y.isel(N=1) + x[1, ...],
    "select": lambda x, y: x.select("C", 0) + y.narrow("C", 0, 2).sum("C"),
    "split": lambda x, y: x.split(2, "C")[0] * y.unbind("C")[0].unsqueeze(1),
    "masks": lambda x, y: ne.where(x > 0, x, y).masked_fill(y > 0, 0.0),
    "clamp": lambda x, y: x.clamp(-1, 1).clamp(min=y),
    "join": lambda x, y: ne.cat([x, y], "C"),
    "stack": lambda x, y: ne.stack([x, y], name="B"),
    "cumulative": lambda x, y: x.cumsum("C") + y.diff(1, "C").sum("C", keepdim=True),
    "quantile": lambda x, y: x.quantile(0.5, "C"),
    "factories": lambda x, y: ne.zeros_like(x) + ne.ones_like(y),
    "casts": lambda x, y: x.float().to(torch.float64),
    "wrapped": lambda x, y: ne.tensor(x.tensor * 2, names="A B").sum("A"),
    "moved": lambda x, y: x.flip("C").roll(1, "N").permute(1, 0),
}


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.mark.parametrize("is_dynamic", [False, True])
@pytest.mark.parametrize("name", COMPILED)
def test_operators_are_compiled_without_a_graph_break(name: str, is_dynamic: bool) -> None:
    call, x, y = COMPILED[name], made(4, 4, names="N C"), made(4, 4, names="N C") + 0.5
    compiled = torch.compile(call, fullgraph=True, backend="eager", dynamic=is_dynamic)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = compiled(x, y)
    wanted = call(x, y)
    assert result.names == wanted.names and torch.equal(result.tensor, wanted.tensor)


def test_gradients_pass_through_a_compiled_function() -> None:
    x, w = made(4, 3, names="N C"), made(3, names="C")
    x.requires_grad_()
    w.requires_grad_()

    def loss(x: Any, w: Any) -> Any:
        return (x * w).softmax("C").pow(2).sum()

    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Dynamo")
        torch.compile(loss, fullgraph=True, backend="aot_eager")(x, w).backward()
    found = x.grad, w.grad
    x.grad = w.grad = None
    loss(x, w).backward()
    for grad, leaf in zip(found, (x, w), strict=True):
        assert grad.names == leaf.names and torch.allclose(grad.tensor, leaf.grad.tensor)
