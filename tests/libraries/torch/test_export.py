"""Texts in exported programs and traces of PyTorch: operations only, for all sizes declared dynamic."""

from __future__ import annotations

from typing import Any

import pytest

import nameexpr as ne

torch = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.export import Dim, export  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

from libraries.torch.cases import call_of  # noqa: E402

TEXTS = [
    "N (h d), d K -> N h K",
    "b q h d, b k h d -> b h q k",
    "a b, b c, c d -> a d",
    "a b -> a 4 b",
    "y[N K] = sum[C](x[N C] * w[C K]) + b[K]",
    "m = mean[C](x[N C]); y[N C] = (x - m) / sqrt(var[C](x) + 1e-5) * g[C] + b[C]",
    "y = softmax[C](x[N C])",
    "y[(a + b)] = p[a], q[b]",
    "e[B T D] = table[v@ids[B T] D]",
]
NEVER = {
    "aten.empty.memory_format",
    "aten.result_type.Tensor",
    "aten.ones.default",
    "aten.lift_fresh_copy.default",
}


class Module(torch.nn.Module):  # type: ignore[misc]
    """A module that calls a function."""

    def __init__(self, call: Any) -> None:
        super().__init__()
        self.call = call

    def forward(self, *operands: Any) -> Any:
        return self.call(*operands)


@pytest.fixture(autouse=True)
def _nothing_compiled() -> None:
    torch._dynamo.reset()
    ne.cache_clear()


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("text", TEXTS)
def test_exported_programs_are_for_all_sizes(text: str, strict: bool) -> None:
    call, tensors = call_of(text)
    operands = tuple(one.detach() for one in tensors(0))
    call(*operands)  # warm
    dims = tuple(dict.fromkeys(range(one.ndim), Dim.AUTO) for one in operands)
    program = export(Module(call), operands, dynamic_shapes={"operands": dims}, strict=strict)
    assert not NEVER & {str(node.target) for node in program.graph.nodes}
    for step in (0, 2, 5):
        others = [one.detach() for one in tensors(step)]
        torch.testing.assert_close(program.module()(*others), call(*others))


def test_dims_that_are_declared_dynamic_stay_so() -> None:
    call, tensors = call_of("N (h d), d K -> N h K")
    x, y = (one.detach() for one in tensors(0))
    shapes = {"operands": ({0: Dim.DYNAMIC}, {1: Dim.DYNAMIC})}
    program = export(Module(call), (x, y), dynamic_shapes=shapes)
    assert len(program.range_constraints) == 2


@pytest.mark.parametrize("text", TEXTS)
def test_make_fx_records_operations(text: str) -> None:
    call, tensors = call_of(text)
    operands = tensors(0)
    for mode in ("real", "fake", "symbolic"):
        graph = make_fx(call, tracing_mode=mode)(*operands)
        others = tensors(3 if mode == "symbolic" else 0)
        torch.testing.assert_close(graph(*others), call(*others))


@pytest.mark.parametrize("text", TEXTS)
def test_tensors_without_values_have_shapes(text: str) -> None:
    call, tensors = call_of(text)
    operands = tensors(0)
    known = call(*operands)
    meta = call(*[one.to("meta") for one in operands])
    assert meta.is_meta and meta.shape == known.shape and meta.dtype == known.dtype
    with FakeTensorMode() as mode:
        fake = call(*[mode.from_tensor(one) for one in operands])
    assert fake.shape == known.shape and fake.device == known.device
    torch.testing.assert_close(call(*operands), known)
