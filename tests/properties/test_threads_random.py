"""Random formulas give the same bits, errors and warnings on any number of threads."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.backends.numpy import formulas
from nameexpr.backends.numpy import target as machine
from nameexpr.backends.numpy.costs import GENERIC
from nameexpr.backends.numpy.target import TARGET
from nameexpr.backends.numpy.threads import gain, job, parts
from nameexpr.errors import NameExprError
from nameexpr.records import replace
from nameexpr.runtime.entry import Entry
from nameexpr.tensors import wrap
from oracle.generate.formulas import Case, seeded_case

pytestmark = pytest.mark.slow
SEEDS = 20


def result_of(case: Case, count: int) -> tuple[Any, list[str]]:
    """Return shape, dtype, strides and bits of a result, or the error, and the warnings in order."""
    operands: dict[str, Any] = {
        name: wrap(value.array, value.names) if hasattr(value, "names") else value
        for name, value in case.operands.items()
    }
    with ne.set_threads(count), warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            made = ne.evaluate(case.text, operands=operands, sizes=case.sizes or None)
        except NameExprError as wrong:
            return str(wrong), []
    array = np.asarray(getattr(made, "_data", made))
    strides = [step for step, size in zip(array.strides, array.shape, strict=True) if size != 1]
    return (array.shape, array.dtype, strides, array.tobytes()), [str(one.message) for one in found]


def test_random_formulas_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    target = replace(TARGET, block_cells=8, fused_cells=4, tiled_bytes=64, tile_cells=2, cached_cells=8)
    monkeypatch.setattr(Entry, "target", target)
    profile = replace(GENERIC, handed_over=1e-6)
    for module, name, value in (
        (gain, "WORTH", 10.0), (parts, "BLOCK", 16), (formulas, "BLOCK", 16),
        (machine, "_choice", machine.ChosenProfile(profile, machine.target_of(profile))),
        (machine, "blas_threads", lambda: 1),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    jobs: list[int] = []
    run = job.Job.run

    def counted(self: job.Job, count: int, **options: Any) -> list[Any]:
        jobs.append(count)
        return run(self, count, **options)

    monkeypatch.setattr(job.Job, "run", counted)
    for seed in range(SEEDS):
        case = seeded_case(seed)
        expected = result_of(case, 1)
        for count in (2, 3, 7):
            assert result_of(case, count) == expected, (seed, count, case.text)
    assert len(jobs) > SEEDS
