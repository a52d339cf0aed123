"""`nameexpr doctor` as a command: text, JSON, exit codes, and that it survives what is not there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nameexpr.cli.doctor import installation
from nameexpr.cli.doctor.installation import EXTRAS, MISSING, NEEDED, Trial
from nameexpr.cli.doctor.machine import describe_blas, describe_machine
from nameexpr.cli.main import main
from tools.cli.helpers import environment, fails, folder, process  # noqa: F401  every test runs in it


def test_a_problem_is_exit_code_1_in_text_and_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(installation, "try_expressions", lambda: (Trial("a -> a", "it is late"),))
    assert main(["doctor"]) == 1
    said = capsys.readouterr()
    assert said.err == "" and "\nproblem: 'a -> a' went wrong: it is late\n  help: " in said.out
    assert "0 of 1 texts give what they should" in said.out and "\x1b" not in said.out
    assert main(["doctor", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["status"] == 1 and data["self_check"]["is_right"] is False
    assert main(["doctor", "--color", "always"]) == 1
    assert "\n\x1b[1;31mproblem: 'a -> a' went" in capsys.readouterr().out


def test_warnings_alone_are_exit_code_0(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NAMEEXPR_BOGUS", "\x1b[31m")
    assert main(["doctor", "--color", "never"]) == 0
    said = capsys.readouterr().out
    assert "warning: the environment variable 'NAMEEXPR_BOGUS' is set" in said and "\x1b" not in said
    assert main(["doctor", "--color=always"]) == 0
    assert "\x1b[1;33mwarning: the environment" in capsys.readouterr().out


def test_the_json_has_everything_with_its_type() -> None:
    before = sorted(Path().iterdir())
    result = process("doctor", "--json", OPENBLAS_NUM_THREADS="1", NAMEEXPR_VERIFY="1")
    assert result.returncode == 0 and result.stderr == b"" and result.stdout.count(b"\n") == 1
    assert sorted(Path().iterdir()) == before
    data = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert {key: type(value) for key, value in data.items()} == {
        "nameexpr": str,
        "python": str,
        "implementation": str,
        "packages": dict,
        "machine": dict,
        "blas": dict,
        "limits": dict,
        "profile": dict,
        "variables": dict,
        "self_check": dict,
        "findings": list,
        "status": int,
    }
    assert data["packages"]["numpy"]["version"] == np.__version__
    assert data["packages"].keys() == {*NEEDED, *(name for name, _ in EXTRAS.values())}
    assert data["self_check"]["is_right"] is True
    assert data["variables"]["NAMEEXPR_VERIFY"] == "1"
    assert data["limits"] == {"text": 65_536, "nesting": 200, "operands": 1_024, "dims": 64}
    assert "variable" in {finding["topic"] for finding in data["findings"]}
    assert {tuple(finding) for finding in data["findings"]} == {("level", "topic", "message", "hint")}
    assert data["machine"]["cpus"] >= data["machine"]["usable_cpus"] >= 1


@pytest.mark.slow
def test_openblas_is_asked_for_its_kernels_and_threads() -> None:
    blas, machine = describe_blas({}), describe_machine()
    if blas.family != "openblas" or "DYNAMIC_ARCH" not in (blas.config or "") or not machine.avx2:
        pytest.skip("NumPy's BLAS is not an OpenBLAS whose kernels can be chosen")
    cores = [core for core in ("Haswell", "Nehalem") if _multiplies(core)]
    assert cores
    for core in cores:
        result = process("doctor", "--json", OPENBLAS_NUM_THREADS="1", OPENBLAS_CORETYPE=core)
        data = json.loads(result.stdout)
        assert data["blas"]["core"] == core
        assert data["blas"]["threads"] == 1 and data["blas"]["threads_from"] == "OPENBLAS_NUM_THREADS"
        is_found = "blas-kernels" in {finding["topic"] for finding in data["findings"]}
        assert is_found == (core == "Nehalem" or machine.avx512)


def _multiplies(core: str) -> bool:
    """Whether NumPy lives through a product with these kernels: 2.5.5 ends with Haswell's on AVX-512."""
    source = "import numpy; x = numpy.ones((512, 512), 'f4'); x @ x; x = x.astype('f8'); x @ x"
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": core}
    return subprocess.run([sys.executable, "-c", source], env=env, check=False).returncode == 0


def test_the_text_says_what_there_is() -> None:
    result = process("doctor", OPENBLAS_NUM_THREADS="1", PYTHONIOENCODING="ascii")
    assert result.returncode == 0 and result.stderr == b""
    lines = result.stdout.decode().splitlines()
    heads = [line.split()[0] for line in lines[:11]]
    words = "versions extras libraries system processor cpus blas threads profile variables self-check"
    assert heads == words.split()
    assert f"numpy {np.__version__}" in lines[0]
    assert all(re.match(r"(warning: |  help: |nothing is wrong$)", line) for line in lines[11:])


BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == sys.argv[1]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
from nameexpr.cli.main import main
raise SystemExit(main(sys.argv[2:]))
"""


def blocked(package: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run the doctor where a package is not installed."""
    return subprocess.run(
        [sys.executable, "-c", BLOCKED, package, "doctor", *arguments],
        env=environment(OPENBLAS_NUM_THREADS="1"),
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("package", ["numpy", "lark", "opt_einsum"])
def test_a_package_that_is_not_there_is_reported_and_nothing_crashes(package: str) -> None:
    result = blocked(package, "--json")
    assert result.returncode == 1 and result.stderr == b""
    data = json.loads(result.stdout)
    assert data["packages"][package]["version"] is None and data["packages"][package]["fault"] == MISSING
    messages = [finding["message"] for finding in data["findings"] if finding["level"] == "problem"]
    assert f"{package} cannot be imported: {MISSING}" in messages
    # None of the trials can run without NumPy; lark is for texts that are wrong, opt_einsum for longer ones.
    assert data["self_check"]["is_right"] is (package == "opt_einsum")


def test_without_threadpoolctl_it_is_said_what_is_not_known() -> None:
    result = blocked("threadpoolctl")
    assert result.returncode == 0 and result.stderr == b""
    said = result.stdout.decode()
    assert "doctor (threadpoolctl missing)" in said
    assert "kernels unknown: pip install 'nameexpr[doctor]' shows them and the threads\n" in said
    assert "threads    unknown, OPENBLAS_NUM_THREADS=1\n" in said
    blas = json.loads(blocked("threadpoolctl", "--json").stdout)["blas"]
    assert blas["core"] is blas["threads"] is blas["library"] is None and blas["name"]


def test_help_says_what_it_does_and_loads_nothing_heavy() -> None:
    script = (
        "import sys; from nameexpr.cli.main import main; main(['doctor', '--help']);"
        "print([name for name in ('numpy', 'lark', 'threadpoolctl', 'json') if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, text=True, check=True
    )
    *lines, loaded = result.stdout.splitlines()
    assert loaded == "[]"
    text = "\n".join(lines)
    assert "usage: nameexpr doctor [options]" in text and "--json" in text and "np.einsum" in text
    assert "exit codes: 0 no problems, perhaps warnings, 1 a problem" in text and "EXPR" not in text


def test_operands_are_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert "usage: nameexpr doctor" in fails(capsys, "doctor", "x.npy", code=2)
    assert "did you mean 'doctor'?" in fails(capsys, "docter", code=2)


def test_a_profile_that_cannot_be_used_is_in_the_report_and_nowhere_else(tmp_path: Path) -> None:
    broken = tmp_path / ("long" * 50) / "broken.json"
    broken.parent.mkdir()
    broken.write_text("{", encoding="utf-8")
    ran = process("doctor", NAMEEXPR_TARGET=str(broken))
    assert ran.returncode == 0 and ran.stderr == b""
    assert b"broken.json is not used: it is not JSON" in ran.stdout and b"nothing is wrong" not in ran.stdout
