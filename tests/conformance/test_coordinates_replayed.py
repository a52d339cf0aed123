"""Labels after the recorded calls, of which some or all tensors have labels: see `conformance.permuting`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import nameexpr as ne
from conformance.permuting import (
    agree_at_labels,
    has_labels_of,
    labels,
    moves_with,
    permuted,
    results,
    with_labels,
)
from conformance.recording import Entry, array_of, decoded, entries, respelled, rows, spelling
from conformance.replay import called, float32_by_default

Tensor = ne.NamedTensor
Order = Sequence[int]
BY_POSITION = {"cumsum", "cumprod", "cummax", "cummin", "index_fill"}
"""Operators whose elements depend on their position along a dim, though each stays at its place."""
SORTING = {"sort", "argsort", "topk"}


def tensors_of(case: dict[str, Any]) -> list[Tensor]:
    return [ne.tensor(array_of(t["data"]), names=decoded(t["names"], [])) for t in case["tensors"]]


def faults(entry: Entry) -> Iterator[str]:
    case = entry["case"]
    tensors = tensors_of(case)
    if "raise" in entry["expect"] or case["check"] in ("rand", "meta", "type", "positive") or not tensors:
        return
    is_partly_unnamed = any(None in tensor.names for tensor in tensors)
    for dim in {name for tensor in tensors for name in tensor.names if name is not None}:
        sizes = {tensor.size(dim) for tensor in tensors if dim in tensor.names} - {1}
        pairs_unnamed = len(tensors) > 1 and is_partly_unnamed
        if len(sizes) == 1 and not pairs_unnamed and not meets_another(case, tensors, dim):
            (size,) = sizes
            for which in {range(len(tensors)), *((at,) for at in range(len(tensors)))}:
                for fault in faults_of(case, dim, [*range(1, size), 0], which):
                    names = [tensor.names for tensor in tensors]
                    yield f"{spelling(case)}, {dim} of {names}, labels of {which}: {fault}"


def meets_another(case: dict[str, Any], tensors: list[Tensor], dim: str) -> bool:
    """Return whether a product contracts the dim with one of another name, which is not permuted."""
    if case["op"] not in ("matmul", "mm", "mv", "bmm", "dot", "addmm", "addmm_", "addmv", "addmv_"):
        return False
    left, right = tensors[-2:]
    met = {left.names[-1], right.names[-2:][0]}
    return dim in met and len(met) > 1


def faults_of(case: dict[str, Any], dim: str, order: Order, which: Sequence[int]) -> Iterator[str]:
    calls = []
    for places in (range(len(order)), order):
        given = [permuted(x, dim, places) for x in tensors_of(case)]
        given = [with_labels(x, dim, places) if at in which else x for at, x in enumerate(given)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            calls.append((given, results(called(case, given))))
    given, op = calls[0][0], case["op"].rstrip("_")
    has_dim = any(dim in given[at].names and given[at].size(dim) == len(order) for at in which)
    for a, b in zip(calls[0][1], calls[1][1], strict=True):
        if labels(a).keys() != labels(b).keys():
            yield f"labels of {list(labels(a))}, and permuted of {list(labels(b))}"
        elif op not in BY_POSITION and has_labels_of(a, dim) and not agree_at_labels(a, b):
            yield "a label is at another element"
        is_written_over = any(a is x and not x._coordinates for x in given)
        if has_dim and op not in SORTING and not is_written_over and moves_with(a, b, dim, order):
            wanted = [[f"{dim}.{i}" for i in places] for places in (range(len(order)), order)]
            if [labels(a).get(dim), labels(b).get(dim)] != wanted:
                yield f"the labels are lost: {labels(a).get(dim)}"


@pytest.mark.parametrize("op", rows())
def test_labels_go_where_the_elements_go(op: str) -> None:
    found = [entry for entry in entries() if entry["case"]["op"] == op and not is_refused_here(entry)]
    both = [*found, *filter(None, map(respelled, found))]
    with float32_by_default():
        assert not [fault for entry in both for fault in faults(entry)]


def is_refused_here(entry: Entry) -> bool:
    """Return whether it is `@` of dims with different names, which the operator checks here."""
    return bool(entry["case"]["op"] == "matmul" and entry["case"]["form"] == "operator")
