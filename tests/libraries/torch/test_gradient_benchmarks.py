"""The benchmark of gradients computes the same as PyTorch, from one description of each workload."""

from __future__ import annotations

import pytest

from benchmarks.gradients.__main__ import WORKLOADS, line, means
from benchmarks.gradients.measure import measure
from benchmarks.gradients.peers import PEERS
from benchmarks.gradients.trees import loaded

SMALL = ("MLP 32", "Tucker", "ring 30, bond 40")


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", SMALL)
def test_the_results_of_small_workloads_are_those_of_torch(name: str) -> None:
    (workload,) = (one for one in WORKLOADS if one.name == name)
    found = measure(workload, [loaded("nameexpr")], PEERS[:1], rounds=1)
    assert not found.is_wrong
    assert found.errors["torch"] < 10 * found.tolerance
    assert found.seconds["nameexpr"] > 0 and found.compiling > 0
    assert found.workload.name in line(found) and "torch" in means([found])[0]


def test_workloads_have_names_of_their_own() -> None:
    assert len({one.name for one in WORKLOADS}) == len(WORKLOADS) == 20
