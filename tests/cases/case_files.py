"""Case files: blocks of a title, a Python expression, and how the error that it raises is rendered.

    # a fat arrow
    ne.einsum("a b => b a", ones(2, 3))
    ---
    ParseError[NE101]: '=>' is not the arrow of an expression
    ...

Blocks are separated by a line of five equals signs. `python -m cases.case_files expressions`, run
in tests/, writes the renderings again after a change of wording: read the difference as the user who made
the mistake.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

import nameexpr as ne

FOLDER = Path(__file__).parent


class Case(NamedTuple):
    """One block of a case file."""

    title: str
    source: str
    expected: str


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape)


def named(names: object, *shape: int) -> ne.NamedTensor:
    return ne.tensor(np.ones(shape), names=names)


def read_cases(prefix: str) -> list[Case]:
    """Return the cases of all files whose names begin with `prefix`."""
    return [case for path in paths(prefix) for case in read_file(path)]


def paths(prefix: str) -> list[Path]:
    return sorted(FOLDER.glob(f"{prefix}_*.txt"))


def read_file(path: Path) -> list[Case]:
    return [read_case(block) for block in path.read_text(encoding="utf-8").split("\n=====\n")]


def read_case(block: str) -> Case:
    question, _, expected = block.strip("\n").partition("\n---\n")
    title, _, source = question.partition("\n")
    return Case(title.removeprefix("# "), source, expected)


def fault_of(source: str) -> ne.NameExprError:
    """Return the error that a case raises."""
    try:
        value = eval(source, {"ne": ne, "np": np, "pd": pd, "xr": xr, "ones": ones, "named": named})
    except ne.NameExprError as fault:
        return fault
    raise AssertionError(f"{source} raises nothing, and gives {value!r}")


def write_file(path: Path) -> None:
    """Write every rendering of a file as it is now."""
    blocks = [f"# {case.title}\n{case.source}\n---\n{fault_of(case.source)}" for case in read_file(path)]
    path.write_text("\n=====\n".join(blocks) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for each in paths(sys.argv[1]):
        write_file(each)
