"""Files of profiles: what is written is read; what cannot be used is refused by name, with one warning."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.backends.numpy import target
from nameexpr.backends.numpy.costs import GENERIC
from nameexpr.backends.numpy.costs.calls import NumpyCosts
from nameexpr.backends.numpy.profiles import Header, ProfileError, figures_of, read_profile, write_profile
from nameexpr.records import replace
from nameexpr.runtime.machine import use_profile

HEADER = Header("amd-1-2-x", "AMD", "openblas 0.3", "haswell", 1, "2.4.6", "2026-11-23", "calibrate, 20 s")
FAST_LOOP = replace(GENERIC, loop_call=20.0, flop=3.5)


@pytest.fixture(autouse=True)
def chosen_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.delenv("NAMEEXPR_TARGET", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    target.use(None)
    yield
    use_profile(GENERIC)


def written(path: Path, **changes: Any) -> Path:
    """Write a profile, and change what is in the file."""
    write_profile(str(path), HEADER, FAST_LOOP)
    data = json.loads(path.read_text(encoding="utf-8"))
    if changes.get("figures", True):
        data["figures"] |= changes.pop("figures", {})
    path.write_text(json.dumps({**data, **changes}), encoding="utf-8")
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    assert read_profile(str(written(tmp_path / "new" / "folder" / "x.json"))) == (HEADER, FAST_LOOP)
    assert len(list((tmp_path / "new" / "folder").iterdir())) == 1


BROKEN = {
    "another format": ({"format": "figures"}, "its format is not"),
    "an older version": ({"version": 0}, "its version is 0"),
    "a newer version": ({"version": 2}, "its version is 2"),
    "no processor": ({"processor": None}, "its 'processor' is missing or wrong"),
    "threads as text": ({"threads": "2"}, "its 'threads' is missing or wrong"),
    "an unknown figure": (
        {"figures": {"flops": 1.0}},
        "its figures are not those that this release reads: 'flops'",
    ),
    "no figures": ({"figures": None}, "it has no figures"),
    "a figure of 0": (
        {"figures": {"flop": 0}},
        "its figure 'flop' is 0, not a number from 1e-06 to 1,000,000,000",
    ),
    "a figure beyond all floats": ({"figures": {"flop": 10**400}}, "its figure 'flop' is 1000"),
    "no threads": (
        {"figures": {"threads": 0}},
        "its figure 'threads' is 0, not an integer from 1 to 1,099,511,6",
    ),
    "a negative figure": ({"figures": {"gemm": -1.0}}, "its figure 'gemm' is -1.0"),
    "a figure as text": ({"figures": {"gemm": "1"}}, "its figure 'gemm' is '1'"),
    "a bool": ({"figures": {"gemm": True}}, "its figure 'gemm' is True"),
    "nan": ({"figures": {"gemm": float("nan")}}, "its figure 'gemm' is nan"),
    "bytes that are no integer": ({"figures": {"near_cache": 0.5}}, "its figure 'near_cache' is 0.5"),
    "a cache of a petabyte": ({"figures": {"last_cache": 1 << 50}}, "its figure 'last_cache' is"),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_file_is_refused_by_name_and_the_generic_profile_is_used(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes, reason = BROKEN[name]
    path = written(tmp_path / "broken.json", **changes)
    monkeypatch.setenv("NAMEEXPR_TARGET", str(path))
    with pytest.warns(UserWarning, match="is not used") as told:
        use_profile(None)
    message = str(told[0].message)
    assert len(told) == 1 and str(path) in message and reason in message
    assert "the generic one is used instead: write one with nameexpr calibrate --output, or unset" in message
    assert len(message) < 500
    assert (target.current().profile, target.current().path) == (GENERIC, "")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        target.current()
        assert ne.einsum("a b, b c -> c a", np.ones((2, 3)), np.ones((3, 4))).shape == (4, 2)


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", "\x00", "[" * 50_000, " " * 200_000])
def test_a_file_that_is_no_profile_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with pytest.raises(ProfileError, match="is not used"):
        read_profile(str(tmp_path / "x.json"))
    with pytest.raises(ProfileError, match="cannot be read"):
        read_profile(str(tmp_path / "missing.json"))


def test_the_file_that_the_environment_names_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "x.json")
    monkeypatch.setenv("NAMEEXPR_TARGET", str(path))
    assert (target.current().profile, target.current().path) == (FAST_LOOP, str(path))
    assert target.current_target().costs == NumpyCosts(FAST_LOOP)


def test_the_warning_is_about_the_line_that_calls_first(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import nameexpr as ne\n\nne.einsum('a -> a', [1.0])  # here\n", encoding="utf-8")
    variables = {**os.environ, "NAMEEXPR_TARGET": "nowhere.json"}
    run = subprocess.run([sys.executable, script], env=variables, capture_output=True, text=True, check=True)
    assert "script.py:3: UserWarning: the profile nowhere.json is not used" in run.stderr
    assert "# here" in run.stderr


def test_this_machines_own_profile_is_used_before_those_that_ship(tmp_path: Path) -> None:
    machine = target.this_machine()
    path = tmp_path / "nameexpr" / machine.own
    write_profile(str(path), HEADER._replace(machine=machine.own.removesuffix(".json")), FAST_LOOP)
    assert target.current().path == str(path)
    assert target.current().profile == FAST_LOOP


def test_a_profile_of_another_machine_is_refused(tmp_path: Path) -> None:
    write_profile(str(tmp_path / "nameexpr" / target.this_machine().own), HEADER, FAST_LOOP)
    with pytest.warns(
        UserWarning, match="for another machine, amd-1-2-x; .* nameexpr calibrate writes a new"
    ):
        assert target.current().profile == GENERIC


@pytest.mark.parametrize(
    ("threads", "shipped", "used"),
    [(1, (1, 2), 1), (2, (1, 2), 2), (8, (1, 2), 2), (8, (1, 8), 8), (1, (2,), 0), (3, (), 0)],
)
def test_profiles_that_ship_are_for_a_processor_kernels_and_threads(
    threads: int, shipped: tuple[int, ...], used: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = target.this_machine()._replace(threads=threads)
    monkeypatch.setattr(target, "this_machine", lambda: machine)
    monkeypatch.setattr(target, "SHIPPED", str(tmp_path))
    for count in shipped:
        write_profile(str(tmp_path / machine.shipped(count)), HEADER, replace(FAST_LOOP, threads=count))
    chosen = target.current()
    assert chosen.profile == (replace(FAST_LOOP, threads=used) if used else GENERIC)
    assert chosen.path == (str(tmp_path / machine.shipped(used)) if used else "")


def test_the_profile_of_the_most_similar_processor_is_used_if_it_has_the_same_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = target.this_machine()._replace(processor="amd-25-17", threads=1)
    monkeypatch.setattr(target, "this_machine", lambda: machine)
    monkeypatch.setattr(target, "SHIPPED", str(tmp_path))
    write_profile(str(tmp_path / machine._replace(core="none").shipped(1)), HEADER, FAST_LOOP)
    assert target._find("")[1] == ""
    # From the least similar to the most; the ones before stay, and so does one that sorts first.
    for processor in ("intel-25-17", "amd-26-2", "amd-25-97", "amd-25-17"):
        path = str(tmp_path / machine._replace(processor=processor).shipped(1))
        write_profile(path, HEADER, FAST_LOOP)
        assert target._find("") == (FAST_LOOP, path)


def test_profiles_that_ship_can_be_used() -> None:
    for path in sorted(Path(ne.__file__).parent.glob("backends/numpy/profiles/*.json")):
        header, profile = read_profile(str(path))
        assert path.stem.endswith(f"-{header.core}-{header.threads}")
        assert header.machine.startswith(path.stem.partition(f"-{header.core}-")[0])
        assert profile.threads == header.threads


def test_the_generic_profile_is_used_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_profile(str(tmp_path / "nameexpr" / target.this_machine().own), HEADER, FAST_LOOP)
    monkeypatch.setenv("NAMEEXPR_TARGET", "generic")
    assert (target.current().profile, target.current().path) == (GENERIC, "")


def test_this_machine_is_named_by_processor_blas_and_threads() -> None:
    machine = target.this_machine()
    assert machine.threads >= 1 and machine.numpy == np.__version__
    assert machine.own.startswith(machine.processor) and machine.shipped(1).startswith(machine.processor)
    assert all(one.isalnum() or one in ".-" for one in machine.own + machine.shipped(1))


def test_all_kernels_have_their_own_names() -> None:
    code = "from nameexpr.backends.numpy.target import this_machine as m; print(m().core, m().threads)"
    printed = []
    for core in ("Haswell", "Sandybridge"):
        environment = {"OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": "1", "PATH": ""}
        environment["PYTHONPATH"] = str(Path(ne.__file__).parents[1])
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
        printed.append(run.stdout.decode().split())
    if target.this_machine().core in {"haswell", "skylakex", "zen", "sandybridge"}:
        assert printed == [["haswell", "1"], ["sandybridge", "1"]]


def test_the_figures_of_a_profile_are_all_of_them() -> None:
    assert figures_of(GENERIC).keys() == set(type(GENERIC).__annotations__)
    assert all(figure > 0 for figure in figures_of(GENERIC).values())


def test_the_threads_of_a_blas_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def counted(threads: int | None) -> int:
        ask = None if threads is None else lambda: threads
        monkeypatch.setattr(target, "loaded_blas", lambda: (None, ask))
        return target.blas_threads()

    for name in target.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert [counted(1), counted(2)] == [1, 2]
    assert counted(None) == counted(-1) == os.cpu_count()
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert [counted(None), counted(2)] == [1, 2]
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "4")
    assert counted(None) == 4
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "many")
    assert counted(None) == os.cpu_count()


def test_the_loaded_blas_is_asked() -> None:
    code = "from nameexpr.backends.numpy import target; print(target.blas_threads())"
    made = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout.strip() == "1"
