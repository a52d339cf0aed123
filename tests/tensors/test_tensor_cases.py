"""The words of the errors of `NamedTensor`, from tests/cases/tensor_*.txt: title, expression, rendering."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.errors import NameExprError

CASES = Path(__file__).parents[1] / "cases"


class Case(NamedTuple):
    """One block of a case file."""

    title: str
    source: str
    expected: str


def read_cases() -> list[Case]:
    return [
        read_case(block)
        for path in sorted(CASES.glob("tensor_*.txt"))
        for block in path.read_text(encoding="utf-8").split("\n=====\n")
    ]


def read_case(block: str) -> Case:
    question, expected = block.strip("\n").split("\n---\n")
    title, _, source = question.partition("\n")
    return Case(title.removeprefix("# "), source, expected)


def ones(*shape: int, names: object = None) -> ne.NamedTensor:
    return ne.tensor(np.ones(shape), names=names)


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case.title)
def test_the_error_is_worded_as_written(case: Case) -> None:
    with pytest.raises(NameExprError) as caught:
        eval(case.source, {"ne": ne, "np": np, "ones": ones})
    assert str(caught.value) == case.expected


def test_titles_are_unique_and_there_are_many() -> None:
    titles = [case.title for case in read_cases()]
    assert len(set(titles)) == len(titles) >= 90
