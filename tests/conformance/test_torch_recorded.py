"""What PyTorch 2.12.1 answered to 2,577 calls of its 215 named-tensor operators, replayed row by row.

The rows are those of PyTorch's page "Named Tensors operator coverage"; the recording also has the extra `t`.
"""

from __future__ import annotations

from collections import Counter

import pytest

import nameexpr as ne
from conformance.recording import entries, respelled, rows
from conformance.replay import (
    DEVIATIONS,
    Failure,
    described,
    expecting_ours,
    failures,
    float32_by_default,
    problems,
    respelled_failures,
    summary,
    totals,
)

FAMILIES = {
    "keeps": 1103,
    "info": 360,
    "unifies": 228,
    "removes": 214,
    "convert": 168,
    "contracts": 108,
    "names-api": 108,
    "random": 108,
    "factory": 84,
    "special": 36,
    "fill": 24,
    "permutes": 24,
    "out": 12,
}


def assert_none(found: tuple[Failure, ...]) -> None:
    if found:
        pytest.fail("\n".join([f"{len(found)} cases fail", *map(described, found)]), pytrace=False)


@pytest.mark.parametrize("row", [*rows(), "t"])
def test_the_answers_are_pytorchs(row: str) -> None:
    assert_none(failures(row))


def test_a_function_answers_as_its_method_does() -> None:
    assert_none(tuple(failure for row in rows() for failure in respelled_failures(row)))


def test_every_case_of_every_family_is_replayed(capsys: pytest.CaptureFixture[str]) -> None:
    counts = totals([*rows(), "t"])
    with capsys.disabled():
        print(f"\n{summary(counts)}")
    assert counts == {family: (count, count) for family, count in FAMILIES.items()}


def test_every_row_has_cases_in_each_of_its_places() -> None:
    """The only function without a case of its own is `eq`, which is replayed with its method's."""
    forms = {(entry["case"]["op"], entry["case"]["form"]) for entry in entries()}
    respelt = {(entry["case"]["op"], entry["case"]["form"]) for entry in map(respelled, entries()) if entry}
    assert len(rows()) == 215
    assert {op for op, _ in forms} == {*rows(), "t"}
    for name, row in rows().items():
        assert not row["method"] or {(name, "method"), (name, "attr")} & forms, name
        assert not row["function"] or (name, "func") in forms | respelt, name
    assert {name for name, row in rows().items() if row["function"] and (name, "func") not in forms} == {"eq"}


def test_every_row_is_a_method_or_a_function_as_listed() -> None:
    methods = [name for name, row in rows().items() if row["method"]]
    functions = [name for name, row in rows().items() if row["function"]]
    assert (len(methods), len(functions)) == (202, 106)
    assert [name for name in methods if not hasattr(ne.NamedTensor, name)] == []
    assert [name for name in functions if not callable(getattr(ne, name, None))] == []


def test_every_row_is_in_the_table_of_operators() -> None:
    from nameexpr.tensors.ops import OPS

    assert sorted(set(rows()) - set(OPS)) == []


@pytest.mark.parametrize("name", DEVIATIONS)
def test_a_deviation_still_occurs(name: str) -> None:
    """Each of its cases differs from PyTorch's answer: a deviation that is gone must leave the table."""
    mine = [entry for entry in entries() if DEVIATIONS[name].applies(entry)]
    mine += DEVIATIONS[name].beside
    assert mine
    with float32_by_default():
        assert [entry["case"] for entry in mine if not problems(entry)] == []


@pytest.mark.parametrize("name", DEVIATIONS)
def test_a_case_beside_the_recording_is_answered_as_the_table_says(name: str) -> None:
    assert [entry for entry in DEVIATIONS[name].beside if problems(expecting_ours(entry))] == []


def test_a_case_has_one_deviation_at_most() -> None:
    applying = Counter(
        index
        for index, entry in enumerate(entries())
        for deviation in DEVIATIONS.values()
        if deviation.applies(entry)
    )
    assert set(applying.values()) <= {1}
