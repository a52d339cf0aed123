"""The words of the errors of `NamedTensor`, from tests/cases/tensor_*.txt: title, expression, rendering.

`python -m cases.test_tensor_cases`, run in tests/, writes the renderings again after a change of wording:
read the difference as the user who made the mistake. `pytorch_failures.json` lists every failure that was
measured with PyTorch 2.12.1, its call and the class that is raised there, and the case that is ours.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import nameexpr as ne
from nameexpr.errors import NameExprError

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "cases"
FAILURES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("pytorch_failures.json").read_text(encoding="utf-8")
)


class Case(NamedTuple):
    """One block of a case file."""

    title: str
    source: str
    expected: str


def paths() -> list[Path]:
    return sorted(CASES.glob("tensor_*.txt"))


def read_cases() -> list[Case]:
    return [case for path in paths() for case in read_file(path)]


def read_file(path: Path) -> list[Case]:
    return [read_case(block) for block in path.read_text(encoding="utf-8").split("\n=====\n")]


def read_case(block: str) -> Case:
    question, _, expected = block.strip("\n").partition("\n---\n")
    title, _, source = question.partition("\n")
    return Case(title.removeprefix("# "), source, expected)


def write_file(path: Path) -> None:
    """Write every rendering of a file as it is now."""
    blocks = [f"# {case.title}\n{case.source}\n---\n{fault_of(case.source)}" for case in read_file(path)]
    path.write_text("\n=====\n".join(blocks) + "\n", encoding="utf-8")


def ones(*shape: int, names: object = None) -> ne.NamedTensor:
    return ne.tensor(np.ones(shape), names=names)


def value_of(source: str) -> Any:
    return eval(source, {"ne": ne, "np": np, "pd": pd, "xr": xr, "ones": ones})


def fault_of(source: str) -> NameExprError:
    """Return the error that a case raises."""
    try:
        value = value_of(source)
    except NameExprError as fault:
        return fault
    raise AssertionError(f"{source} raises nothing, and gives {value!r}")


@pytest.fixture(autouse=True)
def _in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # a case names a file that is not an archive


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case.title)
def test_the_error_is_worded_as_written(case: Case) -> None:
    assert str(fault_of(case.source)) == case.expected


def test_titles_are_unique_and_there_are_many() -> None:
    titles = [case.title for case in read_cases()]
    assert len(set(titles)) == len(titles) >= 340


NEEDS_A_LIBRARY = {"NE507", "NE508", "NE509", "NE581", "NE686", "NE688", "NE689"}
"""The code of conversions to what is not installed."""


def test_every_code_of_tensors_has_a_case() -> None:
    sources = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("tensors", "rules")
        for path in (ROOT / "nameexpr" / folder).rglob("*.py")
    )
    shown = "".join(path.read_text(encoding="utf-8") for path in CASES.glob("*.txt"))
    raised = set(re.findall(r'"(NE[0-9]{3})"', sources)) - NEEDS_A_LIBRARY
    assert not [code for code in sorted(raised) if f"[{code}]: " not in shown]


ACCEPTED: dict[str, Callable[[ne.NamedTensor], tuple[object, object]]] = {
    "Invalid identifier, non-ASCII": lambda x: (x.rename("é", "b").names, ("é", "b")),
    "Names and ints mixed in one list": lambda x: (x.sum(["N", 1]).tolist(), 15.0),
    "Name and int mixed in transpose": lambda x: (x.transpose(0, "C").names, ("C", "N")),
    "rename: list instead of varargs": lambda x: (x.rename(["A", "B"]).names, ("A", "B")),
    "Operator without named support": lambda x: (
        (x.sgn().names, x.sgn().tolist()),
        (("N", "C"), [[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]]),
    ),
    "By-name overload missing": lambda x: (
        (x.all("C").names, x.all("C").tolist()),
        (("N",), [False, True]),
    ),
    "var/std of ints": lambda x: (x.int().var("C").tolist(), [1.0, 1.0]),
    "mean of ints": lambda x: (x.int().mean("C").tolist(), [1.0, 4.0]),
    "Unsupported neighbour": lambda x: (
        (x.unsqueeze(0).names, x.unsqueeze(0).shape),
        ((None, "N", "C"), (1, 2, 3)),
    ),
}
"""What PyTorch rejects and is not a mistake here: what is returned, and what it must be."""


@pytest.mark.parametrize("failure", ACCEPTED)
def test_what_pytorch_refuses_without_need_is_done(failure: str) -> None:
    returned, expected = ACCEPTED[failure](ne.tensor(np.arange(6.0).reshape(2, 3), names="N C"))
    assert returned == expected


def test_every_failure_of_pytorch_has_its_case_or_is_done() -> None:
    titles = {case.title for case in read_cases()}
    covered = [failure["case"] for failure in FAILURES if failure["case"] is not None]
    done = [failure["failure"] for failure in FAILURES if failure["case"] is None]
    assert len({failure["failure"] for failure in FAILURES}) == len(FAILURES) == 94
    assert len(set(covered)) == len(covered) == 85 and set(covered) <= titles
    assert sorted(done) == sorted(ACCEPTED)


@pytest.mark.parametrize("failure", [row for row in FAILURES if row["case"]], ids=lambda row: row["failure"])
def test_who_catches_what_pytorch_raises_about_names_and_positions_catches_ours(
    failure: dict[str, str],
) -> None:
    (case,) = [case for case in read_cases() if case.title == failure["case"]]
    fault = fault_of(case.source)
    assert isinstance(fault, ValueError)
    assert isinstance(fault, IndexError) == (failure["raises"] == "IndexError")
    if fault.code.startswith("NE4"):
        assert isinstance(fault, RuntimeError)


FOREIGN = re.compile(
    r"numpy\.\w|\baten\b|Ellipsis|DType|pickle|C long|Python integer|Unable to allocate|<class|slice\(None"
)


def test_no_words_of_what_stands_below_shine_through() -> None:
    assert not [case.title for case in read_cases() if FOREIGN.search(case.expected)]


MENDED = {
    "Name mismatch in a binary op": 'ones(2, 3, names="N C") + ones(3, names="Z").rename(Z="C")',
    "names clash in a function": (
        'ne.maximum(*[x.align_to("N", "C", "Z") for x in (ones(2, 3, names="N C"), ones(3, names="Z"))])'
    ),
    "Mismatch, different rank": (
        'ones(3, 3, names="N C") + ones(3, names="N").align_as(ones(3, 3, names="N C"))'
    ),
    "names that are nearly equal": (
        'ones(2, 3, names="batch chan").mul(ones(2, 3, names="batch chann").rename(chann="chan"))'
    ),
    "Duplicate output names of mm": 'ones(2, 3, names="A B").mm(ones(3, 2, names="B A").rename(A="A2"))',
    "bmm batch sizes": 'ones(5, 2, 3, names="N A B").matmul(ones(1, 3, 4, names="N C D"))',
    "mm of a vector": 'ones(2, 3, names="A B").matmul(ones(3, names="C"))',
    "matmul with 0-d": 'ne.tensor(2.0).mul(ones(3, names="C"))',
    "two dtypes in a product": 'ones(2, 3) @ ne.ones(3, dtype="float32").to("float64")',
    "out=: unnamed result into a named out": (
        'ne.abs(ones(2, 3), out=ne.empty(2, 3, names="N C").rename(None))'
    ),
    "out=: an array": 'ne.abs(ones(2, names="N"), out=ne.from_numpy(np.empty(2)))',
    "in-place: read-only": 'ne.ones(1, 3, names="N C").expand(2, 3).clone().add_(1)',
    "in-place: dtype": 'ne.ones(2, 3, dtype=int).to("float64").add_(ones(2, 3))',
    "resize_ of a named tensor": 'ones(2, 3, names="N C").rename(None).resize_(3, 2)',
    "an integer to a negative power": 'ne.tensor([2, 3], names="N").pow(-1.0)',
    "bits of floats": 'ones(2, names="N").to("int64") & ones(2, names="N").to("int64")',
    "bools subtracted": "ne.tensor([True, False]) ^ ne.tensor([True, True])",
    "alpha as a fraction of integers": "ne.tensor([1, 2]).float().add(ne.tensor([3, 4]).float(), alpha=0.5)",
    "clamp without bounds": 'ones(2, 3, names="N C").clamp(min=0)',
    "masked_fill: mask not bool": 'ones(2, 3, names="N C").masked_fill(ones(2, 3, names="N C") != 0, 0)',
    "cat ranks differ": 'ne.cat([ones(2, 3, names="N C"), ones(3, names="C").align_to("N", "C")])',
    "cat of 0-d": "ne.stack([ne.tensor(1), ne.tensor(2)])",
    "permute with a dim missing": 'ones(2, 3, 4, names="N C H").align_to("C", ...)',
    "std with two words for one option": 'ones(2, 3, names="N C").std("C", correction=1)',
    "random integers from rand": 'ne.zeros(2, names="N", dtype=int).random_(0, 5)',
    "different names of all dims": (
        'ones(2, 3, names="N C").eq(ones(2, 3, names="A B").rename(A="N", B="C"))'
    ),
    "an array whose size is that of another dim": (
        'ones(2, 3, names="N C") + ne.from_numpy(np.ones(2), "N").align_as(ones(2, 3, names="N C"))'
    ),
    "a dim that meets the second of two unnamed ones": (
        'ones(3, names="N").align_as(ones(3, 3, 3, names=("N", None, "C"))) + ones(3, 3, 3, names="N B C")'
    ),
    "the dims that meet are the wrong ones": (
        'ones(2, 3, names="N in") @ ones(4, 3, names="out in").align_to("in", "out")'
    ),
    "addmm bias mismatch": (
        'ones(4, 2, names="D A").align_to("A", "D").addmm(ones(2, 3, names="A B"), ones(3, 4, names="C D"))'
    ),
    "a bias that is larger than the product": (
        'ones(5, 2, 4) + ones(2, 3, names="A B").mm(ones(3, 4, names="C D"))'
    ),
    "cat mismatch": 'ne.cat([ones(2, 3, names="N C"), ones(2, 3, names="A B").rename(A="N", B="C")])',
    "cat dim name only in a later tensor": (
        'ne.cat([ones(2, 3).refine_names("N", "C"), ones(2, 3, names="N C")], "C")'
    ),
    "out=: names differ": ('ne.abs(ones(2, 3, names="N C"), out=ne.empty(2, 3, names="N D").rename(D="C"))'),
    "out=: partly named": (
        'ne.abs(ones(2, 3, names="N C"), out=ne.empty(2, 3, names=("N", None)).refine_names("N", "C"))'
    ),
    "in-place: names would become more specific": (
        'ones(2, 3, names=("N", None)).refine_names("N", "C").add_(ones(2, 3, names="N C"))'
    ),
    "in-place: shape would grow": 'ones(3, names="C").add(ones(2, 3, names="N C"))',
    "names clash in place": 'ones(2, 3, names="N C").mul_(ones(3, names="Z").rename(Z="C"))',
    "copy_: names differ": 'ones(2, 3, names="N C").copy_(ones(3, names="Z").rename(Z="C"))',
    "resize_as_: names differ": 'ones(2, 3, names="N C").rename(None).resize_as_(ones(2, 3))',
    "masked_fill: mask rank higher": (
        'ones(3, names="C").align_as(ones(2, 3, names="N C")).masked_fill(ones(2, 3, names="N C") > 0, 0.0)'
    ),
    "masked_fill: names differ": (
        'ones(2, 3, names="N C").align_to("N", "C", "A", "B").masked_fill('
        'ones(2, 3, names="A B").align_to("N", "C", "A", "B") > 0, 0)'
    ),
    "index_fill by a mask": 'ones(2, 3, names="N C").masked_fill(np.array([True, False, True]), 0)',
    "a number that the dtype cannot hold, as an operand": (
        'ne.tensor([1, 2], dtype="int8").to("int64").add(300)'
    ),
    "not a number written over an integer": (
        'ne.zeros(2, names="N", dtype=int).to("float64").__setitem__(0, float("nan"))'
    ),
    "full of a number that the dtype does not hold": 'ne.full((2,), 300, dtype="int64")',
    "the softmax of ints": 'ne.ones(2, 3, names="N C", dtype=int).softmax("C", dtype="float64")',
    "complex numbers compared": 'ne.tensor([1j, 2.0], names="N").abs() < ne.tensor([1j, 2.0]).abs()',
    "a name as an index": 'ones(2, 3, names="N C").isel(C=0)',
    "unsqueeze by name": 'ones(2, 3, names="N C").unsqueeze(0, "H")',
    "unsqueeze under a name that is there already": 'ones(2, 3, names="N C").unsqueeze(0, "C2")',
    "a generator of another library": "ne.rand(2, generator=np.random.default_rng(5))",
}
"""Cases, and the call as their help would have it."""


@pytest.mark.parametrize("title", MENDED)
def test_the_advice_helps(title: str) -> None:
    (case,) = [case for case in read_cases() if case.title == title]
    assert fault_of(case.source).hint
    value_of(MENDED[title])


if __name__ == "__main__":
    os.chdir(ROOT)
    for each in paths():
        write_file(each)
