"""What `nameexpr doctor` gathers: the BLAS, the machine, the tables, the checks, and their bounds."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nameexpr.cli.doctor import blas as doctor_blas
from nameexpr.cli.doctor import machine as doctor_machine
from nameexpr.cli.doctor import trials as doctor_trials
from nameexpr.cli.doctor.blas import Blas, family_of, thread_variable
from nameexpr.cli.doctor.facts import EXTRAS, NEEDED, PYTHON
from nameexpr.cli.doctor.findings import VARIABLES
from nameexpr.cli.doctor.machine import read_cpuinfo, read_quota
from nameexpr.runtime import einsum as einsum_module
from tools.cli.helpers import ROOT


def test_what_is_needed_is_what_the_project_declares() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = {name: f"{name}>={low}" + (f",<{high}" if high else "") for name, (low, high) in NEEDED.items()}
    assert sorted(bounds.values()) == sorted(project["dependencies"])
    assert project["requires-python"] == f">={PYTHON}"
    for extra, (name, oldest) in EXTRAS.items():
        assert project["optional-dependencies"][extra] == [f"{name}>={oldest}"]
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "nameexpr").rglob("*.py"))
    assert set(re.findall(r"environ(?:\.get\(|\[)\"(NAMEEXPR_\w+)\"", sources)) == set(VARIABLES)


def test_a_blas_is_known_by_name_or_by_file() -> None:
    assert family_of({"name": "mkl-sdl", "found": True}, None) == "mkl"
    assert family_of({"name": "blas", "found": True}, "libopenblasp-r0.3.28.so") == "openblas"
    assert family_of({"name": "accelerate", "found": True}, None) == "accelerate"
    assert family_of({"name": "blas", "found": True}, None) == family_of(None, None) == "unknown"
    assert family_of({}, None) == family_of({"name": "auto"}, None) == "none"


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


def test_what_openblas_answers_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"corename": b"Zen", "config": b"OpenBLAS  0.3\n", "num_threads": 5, "parallel": 2}
    monkeypatch.setattr(doctor_blas, "_ask", lambda what, _: said[what])
    monkeypatch.setattr(doctor_blas, "_built_with", lambda: {"name": "blas", "version": "3", "found": True})
    monkeypatch.setattr(doctor_blas, "_library_files", lambda: ["/lib/libblas.so.3"])
    expected = Blas("openblas", "blas", "3", "libblas.so.3", "Zen", "OpenBLAS 0.3", "OpenMP", 5, None)
    assert doctor_blas.describe_blas({}) == expected
    said["parallel"] = 1
    found = doctor_blas.describe_blas({"OMP_NUM_THREADS": "9"})
    assert (found.threading, found.threads, found.threads_from) == ("pthreads", 5, "OMP_NUM_THREADS")


def test_a_library_that_cannot_be_asked_leaves_what_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor_blas, "_ask", lambda *_: None)
    monkeypatch.setattr(
        doctor_blas, "_built_with", lambda: {"name": "mkl-sdl", "version": "1", "found": True}
    )
    monkeypatch.setattr(doctor_blas, "_library_files", list)
    expected = Blas("mkl", "mkl-sdl", "1", threads=3, threads_from="MKL_NUM_THREADS")
    assert doctor_blas.describe_blas({"MKL_NUM_THREADS": "3"}) == expected
    assert doctor_blas.describe_blas({}).threads is None


def test_a_numpy_that_tells_nothing_has_an_unknown_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    def show_config() -> None:  # as before NumPy 1.25
        """Take no mode."""

    monkeypatch.setattr(np, "show_config", show_config)
    monkeypatch.setattr(doctor_blas, "_extension_files", lambda: iter(["/no/such/file"]))
    monkeypatch.setattr(doctor_blas, "_library_files", list)
    assert doctor_blas.describe_blas({}) == Blas()


def test_files_are_looked_for_beside_numpy_where_no_maps_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "numpy.libs").mkdir()
    shipped = tmp_path / "numpy.libs" / "libscipy_openblas64_-1.dll"
    for path in (shipped, shipped.with_name("libgfortran.dll")):
        path.touch()
    monkeypatch.setattr(doctor_blas, "_MAPS", tmp_path / "maps")
    monkeypatch.setattr(np, "__file__", str(tmp_path / "numpy" / "__init__.py"))
    assert doctor_blas._library_files() == [str(shipped)]
    (tmp_path / "maps").write_text("7f-8f r-xp 0 08:01 12   /with space/libmkl_rt.so\n7f-8f rw-p 0 0 0\n")
    assert doctor_blas._library_files() == ["/with space/libmkl_rt.so"]


def test_processors_and_quotas_are_read_as_linux_writes_them() -> None:
    arm = read_cpuinfo("processor\t: 0\nFeatures\t: fp asimd\n\nprocessor\t: 1\nFeatures\t: sve\n")
    assert arm == {"processor": "0", "features": "fp asimd"} and read_cpuinfo("") == {}
    assert read_quota("max 100000\n") is read_quota("") is read_quota("1 0") is None
    assert read_quota("50000 100000\n") == 1 and read_quota("250000 100000") == 3


def test_numpy_tells_of_the_processor_where_the_system_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    told = doctor_machine.describe_machine()
    monkeypatch.setattr(doctor_machine, "_CPUINFO", Path("nothing"))
    machine = doctor_machine.describe_machine()
    assert (machine.avx2, machine.avx512) == (bool(told.avx2), bool(told.avx512))
    features = dict.fromkeys(("AVX2", "AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ"), True)
    for has_vl in (True, False):
        module = SimpleNamespace(__cpu_features__=features | {"AVX512VL": has_vl})
        monkeypatch.setattr(doctor_machine, "import_module", lambda _, module=module: module)
        machine = doctor_machine.describe_machine()
        assert (machine.avx2, machine.avx512) == (True, has_vl)


def test_every_check_is_right_and_notices_a_wrong_value(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = doctor_trials.check_results()
    assert len(checks) >= 8 and {check.fault for check in checks} == {None}
    real = einsum_module.einsum

    def see(change: Any) -> list[str | None]:
        monkeypatch.setattr(einsum_module, "einsum", lambda *args: change(real(*args)))
        return [check.fault for check in doctor_trials.check_results()]

    *wrong, formula = see(lambda result: result + 1)
    assert set(wrong) == {"the result differs from that of np.einsum"} and formula is None
    assert "the result is float16, and should be float64" in see(lambda result: result.real.astype("f2"))
    assert see(lambda result: result[:0])[0] is not None
    assert see(lambda result: result / "x")[0] is not None
