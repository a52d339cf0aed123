"""PyTorch's recorded answers to calls of its named-tensor operators, replayed on tensors of PyTorch.

The values are also compared with those that PyTorch itself returns now for the same call without names.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from conformance.recording import Entry, entries, respelled, rows
from conformance.replay import DEVIATIONS, Deviation, Failure, Library, described, replayed

torch = pytest.importorskip("torch")

TORCH_DEVIATIONS: dict[str, Deviation] = {
    reason: DEVIATIONS[reason]
    for reason in ("@ of dims with different names", "names beyond ASCII", "flatten of one dim")
}
"""What differs on purpose. Means of integers do not: PyTorch refuses them, and so does a tensor of it."""


def tensor(array: np.ndarray[Any, Any], names: Any) -> ne.NamedTensor:
    return ne.tensor(torch.as_tensor(np.array(array)), names=names)


def on_torch(case: dict[str, Any]) -> dict[str, Any]:
    """Return a call that makes a tensor with a device of PyTorch, which makes a tensor of PyTorch."""
    is_factory = case["family"] in ("factory", "random") and case["form"] == "func" and not case["tensors"]
    if case["call"] == "manual_seed" or not (is_factory or case["call"] == "tensor"):
        return case
    return {**case, "kwargs": {**case["kwargs"], "device": torch.device("cpu")}}


TORCH = Library(tensor, on_torch, TORCH_DEVIATIONS)


def assert_none(found: tuple[Failure, ...]) -> None:
    if found:
        pytest.fail("\n".join([f"{len(found)} cases fail", *map(described, found)]), pytrace=False)


def cases(row: str) -> list[Entry]:
    return [entry for entry in entries() if entry["case"]["op"] == row]


@pytest.mark.parametrize("row", [*rows(), "t"])
def test_the_answers_are_pytorchs(row: str) -> None:
    assert_none(replayed(cases(row), TORCH))


def test_a_function_answers_as_its_method_does() -> None:
    others = [respelled(entry) for entry in entries()]
    assert_none(replayed([entry for entry in others if entry is not None], TORCH))


def test_all_of_the_recording_is_replayed() -> None:
    assert sum(len(cases(row)) for row in [*rows(), "t"]) == 2577


def test_each_deviation_is_met() -> None:
    for name, deviation in TORCH_DEVIATIONS.items():
        assert any(map(deviation.applies, (*entries(), *deviation.beside))), name
