"""Texts inside functions that `torch.compile` traces: whole graphs, for all sizes, with the same values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

torch = pytest.importorskip("torch")

from libraries.torch.cases import EXPRESSIONS, FORMULAS, call_of  # noqa: E402

TEXTS = [*EXPRESSIONS, *FORMULAS]


class Counting:
    """A backend of `torch.compile` that counts graphs and runs them as they are."""

    def __init__(self) -> None:
        self.graphs: list[Any] = []

    def __call__(self, graph: Any, _: Any) -> Any:
        self.graphs.append(graph)
        return graph


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


@pytest.mark.parametrize("text", TEXTS)
def test_one_graph_is_valid_for_all_sizes(text: str) -> None:
    call, tensors = call_of(text)
    traced, counting = compiled(call, dynamic=True)
    for step in (0, 1, 5, 2):
        operands = tensors(step)
        torch.testing.assert_close(traced(*operands), call(*operands), rtol=0, atol=0, equal_nan=True)
    assert len(counting.graphs) == 1
