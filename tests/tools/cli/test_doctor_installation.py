"""What `nameexpr doctor` gathers: the BLAS, the machine, the trials, and their bounds."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nameexpr.cli.doctor import installation
from nameexpr.cli.doctor import machine as doctor_machine
from nameexpr.cli.doctor.installation import EXTRAS, NEEDED, PYTHON, try_expressions
from nameexpr.cli.doctor.issues import VARIABLES
from nameexpr.cli.doctor.machine import Blas, describe_blas, describe_machine, read_quota, thread_variable
from nameexpr.runtime import einsum as einsum_module
from tools.cli.helpers import ROOT


def test_what_is_needed_is_what_the_project_declares() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = {name: f"{name}>={low}" + (f",<{high}" if high else "") for name, (low, high) in NEEDED.items()}
    assert sorted(bounds.values()) == sorted(project["dependencies"])
    assert project["requires-python"] == f">={PYTHON}"
    for extra, (name, oldest) in EXTRAS.items():
        assert project["optional-dependencies"][extra] == [f"{name}>={oldest}"]
    modules = [path for path in (ROOT / "nameexpr").rglob("*.py") if path.name != "issues.py"]
    sources = "".join(path.read_text(encoding="utf-8") for path in modules)
    assert set(re.findall(r"\"(NAMEEXPR_[A-Z]+)\"", sources)) == set(VARIABLES)


def knowing(
    monkeypatch: pytest.MonkeyPatch, built: Mapping[str, Any] | None, *pools: Mapping[str, Any]
) -> None:
    """Let NumPy and threadpoolctl say this of the BLAS."""
    monkeypatch.setattr(doctor_machine, "_built_with", lambda: built)
    module = SimpleNamespace(threadpool_info=lambda: list(pools))
    monkeypatch.setitem(sys.modules, "threadpoolctl", module)


def test_what_threadpoolctl_finds_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    built = {"name": "blas", "version": "3", "found": True, "openblas configuration": "OpenBLAS 0.3"}
    openmp = {"user_api": "openmp", "internal_api": "openmp", "num_threads": 7}
    pool = {
        "user_api": "blas",
        "internal_api": "openblas",
        "filepath": "/lib/libblas.so.3",
        "version": "0.3.31",
        "architecture": "Zen",
        "threading_layer": "openmp",
        "num_threads": 5,
    }
    knowing(monkeypatch, built, openmp, pool)
    expected = Blas(
        "openblas", "blas", "0.3.31", "OpenBLAS 0.3", "libblas.so.3", "Zen", "openmp", 5, "OMP_NUM_THREADS"
    )
    assert describe_blas({"OMP_NUM_THREADS": "9"}) == expected


@pytest.mark.parametrize(
    ("built", "family"),
    [
        ({"name": "scipy-openblas", "found": True}, "openblas"),
        ({"name": "mkl-sdl", "found": True}, "mkl"),
        ({"name": "accelerate", "found": True}, "accelerate"),
        ({"name": "blas", "found": True}, "unknown"),
        ({"name": "auto"}, "none"),
        ({}, "none"),
        (None, "unknown"),
    ],
)
def test_a_blas_that_threadpoolctl_does_not_know_has_the_name_that_numpy_tells(
    built: Mapping[str, Any] | None, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    knowing(monkeypatch, built)
    assert describe_blas({}) == Blas(family, (built or {}).get("name"))
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    assert describe_blas({}).family == family


def test_the_variable_that_counts_is_the_first_with_a_positive_number() -> None:
    both = {"OPENBLAS_NUM_THREADS": "3", "OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "x"}
    assert thread_variable("openblas", both) == "OPENBLAS_NUM_THREADS"
    assert thread_variable("openblas", {"OMP_NUM_THREADS": "2"}) == "OMP_NUM_THREADS"
    assert thread_variable("openblas", {"MKL_NUM_THREADS": "2"}) is None
    assert thread_variable("mkl", both) == "OMP_NUM_THREADS"
    assert thread_variable("accelerate", both) is None
    for value in ("", "0", "-1", "x", "00"):
        assert thread_variable("openblas", {"OPENBLAS_NUM_THREADS": value}) is None
    assert thread_variable("unknown", {"OMP_NUM_THREADS": "4,2"}) == "OMP_NUM_THREADS"


def test_a_numpy_that_tells_nothing_has_an_unknown_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    def show_config() -> None:  # as before NumPy 1.25
        """Take no mode."""

    monkeypatch.setattr(np, "show_config", show_config)
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    assert describe_blas({}) == Blas()


def test_quotas_are_read_as_linux_writes_them() -> None:
    assert read_quota("max 100000\n") is read_quota("") is read_quota("1 0") is None
    assert read_quota("50000 100000\n") == 1 and read_quota("250000 100000") == 3


def test_the_processor_is_told_by_linux_and_its_features_by_numpy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: Fast\n\nmodel name\t: Slow\n")
    monkeypatch.setattr(doctor_machine, "_CPUINFO", tmp_path / "cpuinfo")
    features = dict.fromkeys(("AVX2", "AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ"), True)
    for has_vl in (True, False):
        module = SimpleNamespace(__cpu_features__=features | {"AVX512VL": has_vl})
        monkeypatch.setattr(doctor_machine, "import_module", lambda _, module=module: module)
        machine = describe_machine()
        assert (machine.processor, machine.avx2, machine.avx512) == ("Fast", True, has_vl)


def test_every_check_is_right_and_notices_a_wrong_value(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = try_expressions()
    assert len(trials) >= 8 and {trial.fault for trial in trials} == {None}
    real = einsum_module.einsum

    def see(change: Any) -> list[str | None]:
        monkeypatch.setattr(einsum_module, "einsum", lambda *args: change(real(*args)))
        return [trial.fault for trial in try_expressions()]

    faults = see(lambda result: result + 1)
    assert set(faults[:8]) == {"the result differs from that of np.einsum"} and not any(faults[8:])
    assert "the result is float16, not float64" in see(lambda result: result.real.astype("f2"))
    assert see(lambda result: result[:0])[0] is not None
    assert see(lambda result: result / "x")[0] is not None


def test_a_grammar_that_cannot_be_read_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "WRONG", (("a (b -> a", "NE143"), ("a b -> b a", "NE122")))
    *_, other, right = try_expressions()
    assert other.fault == "the mistake is NE122, not NE143"
    assert right.fault == "it should be rejected with NE122"
