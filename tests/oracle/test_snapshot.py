"""The record of what programs do is the same twice, and tells what differs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nameexpr as ne
from oracle import snapshot

SEEDS = range(snapshot.FIRST, snapshot.FIRST + 12)


@pytest.mark.parametrize("kind", snapshot.KINDS)
def test_programs_are_recorded_alike_twice(kind: str) -> None:
    first, second = (json.loads(json.dumps(snapshot.records_of((kind, SEEDS)))) for _ in range(2))
    assert first == second
    ways = {record["id"].split()[-1] for record in first if "results" in record}
    assert {"limit", "bind", "same"} <= ways
    assert any("error" in record for record in first)


def test_what_differs_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = ne.compile("a b, b c -> a c")
    operands = np.arange(6.0).reshape(2, 3), np.ones((3, 2))
    before = snapshot.recorded(compiled, lambda function: function(*operands))
    after = snapshot.recorded(compiled, lambda function: function(operands[0] + 1e-12, operands[1]))
    assert snapshot.differences(before, before) == []
    assert snapshot.differences(before, after) == ["values"]
    assert snapshot.differences(before, after | {"source": "other"}) == ["source"]
    wrong = snapshot.recorded(compiled, lambda function: function(operands[0] + 1, operands[1]))
    assert snapshot.differences(before, wrong | {"source": "other"}) == ["source", "values"]
    assert snapshot.differences(before, {"error": "ShapeError"}) == ["error"]


@pytest.mark.slow
def test_files_are_compared_record_by_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("before", "after"):
        snapshot.write(tmp_path / name, 3, 2)
    assert snapshot.compare(tmp_path / "before", tmp_path / "after") == 0
    assert "'records': 40" in capsys.readouterr().out
