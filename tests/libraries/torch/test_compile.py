"""Texts inside functions that `torch.compile` traces: whole graphs, for all sizes, with the same values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

torch = pytest.importorskip("torch")

from functorch.compile import make_boxed_func  # noqa: E402
from torch._dynamo.backends.common import aot_autograd  # noqa: E402

from libraries.torch.cases import EXPRESSIONS, FORMULAS, call_of  # noqa: E402
from searching import one_in  # noqa: E402

TEXTS = [*EXPRESSIONS, *FORMULAS]


class Counting:
    """A backend of `torch.compile` that counts graphs and runs them as they are."""

    def __init__(self) -> None:
        self.graphs: list[Any] = []

    def __call__(self, graph: Any, _: Any) -> Any:
        self.graphs.append(graph)
        return graph

    def boxed(self, graph: Any, given: Any) -> Any:
        """Return a graph as AOTAutograd calls it."""
        return make_boxed_func(self(graph, given))


@pytest.fixture(autouse=True)
def _nothing_compiled() -> None:
    torch._dynamo.reset()
    ne.cache_clear()


def compiled(call: Callable[..., Any], **options: Any) -> tuple[Callable[..., Any], Counting]:
    """Return a function compiled without graph breaks, and what counts its graphs."""
    counting = Counting()
    return torch.compile(call, fullgraph=True, backend=counting, **options), counting


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_one_graph_cold_and_warm(text: str) -> None:
    call, tensors = call_of(text)
    operands = tensors(0)
    traced, counting = compiled(call, dynamic=False)
    found = traced(*operands)
    torch.testing.assert_close(found, call(*operands), rtol=0, atol=0, equal_nan=True)
    torch._dynamo.reset()
    torch.testing.assert_close(traced(*operands), found, rtol=0, atol=0, equal_nan=True)
    assert len(counting.graphs) == 2
    assert [node.op for node in counting.graphs[0].graph.nodes].count("call_function") == 1


@pytest.mark.parametrize("text", one_in(2, TEXTS))
def test_one_graph_of_operations_is_valid_for_all_sizes(text: str) -> None:
    """So is that of gradients, which views do not need."""
    call, tensors = call_of(text)
    forward, backward = Counting(), Counting()
    backend = aot_autograd(fw_compiler=forward.boxed, bw_compiler=backward.boxed)
    traced = torch.compile(call, fullgraph=True, backend=backend, dynamic=True)
    for step in (0, 1, 5, 2):
        operands = tensors(step)
        found, known = traced(*operands), call(*operands)
        torch.testing.assert_close(found, known, equal_nan=True)
        if known.requires_grad:
            wanted = [one for one in operands if one.requires_grad]
            weights = torch.randn_like(known)
            of_found, of_known = (
                torch.autograd.grad((one * weights).nansum(), wanted, allow_unused=True)
                for one in (found, known)
            )
            torch.testing.assert_close(of_found, of_known, equal_nan=True)
    assert len(forward.graphs) == 1 and len(backward.graphs) <= 1


@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled_texts_are_called_like_texts(dynamic: bool) -> None:
    heads = ne.compile("B T (h d), h -> B h T d", h=2)
    x, y, z = torch.randn(3, 5, 8), torch.randn(2), torch.randn(4, 7, 8)
    traced, counting = compiled(heads, dynamic=dynamic)
    for operands in ((x, y), (z, y)) if dynamic else ((x, y),):
        torch.testing.assert_close(traced(*operands), heads(*operands), rtol=0, atol=0)
    assert len(counting.graphs) == 1


def test_the_graph_does_not_depend_on_what_else_is_called() -> None:
    text = "a b, b c -> a c"
    x, y = torch.randn(3, 4), torch.randn(4, 5)
    traced, counting = compiled(lambda x, y: ne.einsum(text, x, y))
    traced(x, y)
    for other in (torch.ones(4, 4), np.ones((2, 2)), torch.ones(4, 4, dtype=torch.int64)):
        ne.einsum(text, other, other)
        traced(x, y)
    assert len(counting.graphs) == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # in PyTorch
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_other_backends_compute_the_same(backend: str) -> None:
    def call(x: Any, y: Any) -> Any:
        return ne.einsum("N (h d), d K -> N h K", x * 2, y) + 1

    traced = torch.compile(call, fullgraph=True, backend=backend, dynamic=True)
    for rows in (3, 5):
        x, y = torch.randn(rows, 12), torch.randn(4, 6)
        torch.testing.assert_close(traced(x, y), call(x, y))


def test_numbers_may_be_symbols() -> None:
    def call(x: Any, scale: float) -> Any:
        heads = ne.einsum("a (b c) -> a b c", x, b=x.shape[1] // 2)
        return ne.einsum("a b c, , -> a b c", heads, scale, x.shape[0])

    traced, _ = compiled(call, dynamic=True)
    for rows, scale in ((3, 2.5), (4, 3.5)):
        x = torch.randn(rows, 2 * rows)
        torch.testing.assert_close(traced(x, scale), call(x, scale))


@pytest.mark.parametrize("dynamic", [False, True])
def test_names_go_through_the_graph(dynamic: bool) -> None:
    product = ne.compile("y[N K] = sum[C](x[N C] * w[C K])")

    def call(x: Any, w: Any) -> Any:
        mean, own = ne.evaluate("m[N] = mean[C](x); y = x[N C] - m", x=x, outputs=("m", "y"))
        return mean, ne.einsum("N C, C K -> K N", own, w), product(operands={"x": x}, w=w)

    traced, counting = compiled(call, dynamic=dynamic)
    for rows in (3, 6) if dynamic else (3,):
        x = ne.tensor(torch.randn(rows, 4), names="N C")
        w = ne.tensor(torch.randn(4, 5), names="C K")
        for found, known in zip(traced(x, w), call(x, w), strict=True):
            assert found.names == known.names
            torch.testing.assert_close(found.tensor, known.tensor)
    assert len(counting.graphs) == 1


def test_an_error_shows_the_text_and_numbers() -> None:
    traced, _ = compiled(lambda x, y: ne.einsum("a b, c b -> a c", x, y), dynamic=True)
    with pytest.raises(torch._dynamo.exc.TorchRuntimeError) as caught:
        traced(torch.ones(3, 4), torch.ones(4, 5))
    for part in ("SizeError[NE304]: 'b' is 4 in operand 0 and 5 in operand 1", "\n        ^    ^", "(3, 4)"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda x: ne.einsum("a b -> a", x, reduce=lambda a, axis: a.sum(axis)), "reduce= is a function"),
        (
            lambda x: ne.einsum("a b, b, b -> a", x, x[0], x[0], optimize=lambda *_: []),
            "optimize= is a function",
        ),
        (lambda x: ne.einsum("a b -> b a", x, out=x), "out= is given"),
        (lambda x: ne.compile("a b -> b a")(x), "compile is called"),
        (lambda x: ne.einsum("a b, b -> a", x, np.ones(3)), "an operand is a NumPy array"),
    ],
)
def test_what_cannot_be_traced_is_refused(call: Callable[..., Any], reason: str) -> None:
    traced, _ = compiled(call)
    with pytest.raises(torch._dynamo.exc.Unsupported, match=rf"NE690\]: {reason}"):
        traced(torch.ones(3, 3))


def test_without_fullgraph_it_is_run_outside_of_the_graph() -> None:
    def call(x: Any) -> Any:
        return ne.einsum("a b -> b a", np.ones((2, 3))).sum() + x

    traced = torch.compile(call, backend="eager")
    assert traced(torch.ones(2)).tolist() == [7.0, 7.0]
