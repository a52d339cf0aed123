"""What `nameexpr doctor` finds in faked facts: every problem and every warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from nameexpr.cli.doctor import machine as doctor_machine
from nameexpr.cli.doctor.installation import MISSING, NEEDED, PYTHON, Installation, Package, Trial
from nameexpr.cli.doctor.issues import Issue, find, release
from nameexpr.cli.doctor.machine import Blas, Machine
from nameexpr.cli.doctor.prediction import Prediction
from nameexpr.cli.doctor.text import as_text
from nameexpr.records import replace
from nameexpr.syntax.limits import Limits

NUMPY, LARK = Package("numpy", "2.4.6", *NEEDED["numpy"]), Package("lark", "1.3.1", *NEEDED["lark"])
EXTRA = Package("ml_dtypes", "0.6.0", "0.5", extra="bfloat16")
IDLE = Machine("Linux 6", "x86_64", "Fast", True, True, 4, 4, (0.2, 0.1, 0.0))
FAST = Blas("openblas", "scipy-openblas", "0.3", "DYNAMIC_ARCH", "lib.so", "SkylakeX", "pthreads", 1)
SOUND = Installation(
    nameexpr="0.1.0",
    python=Package("Python", "3.11.0", PYTHON),
    implementation="CPython",
    packages=(NUMPY, LARK, EXTRA),
    machine=IDLE,
    blas=FAST,
    limits=Limits(),
    variables={},
    trials=(Trial("a -> a"),),
)


def only(installation: Installation) -> Issue:
    (issue,) = find(installation)
    return issue


def with_package(package: Package) -> Installation:
    return replace(SOUND, packages=(package,) if package.name == "numpy" else (NUMPY, package))


def test_sound_facts_show_nothing() -> None:
    assert find(SOUND) == ()
    assert as_text(SOUND, ()).splitlines()[-1] == "nothing is wrong"


@pytest.mark.parametrize(
    ("package", "words", "hint"),
    [
        (replace(NUMPY, version="2.2.1"), "numpy 2.2.1 is older than 2.2.2", "pip install 'numpy>=2.2.2'"),
        (replace(NUMPY, version=None, fault=MISSING), "numpy cannot be imported: it is not", "pip install"),
        (replace(LARK, version="2.0"), "lark 2.0 is too new", "'lark>=1.2,<2'"),
        (replace(LARK, version="1.1.9"), "older than 1.2", "'lark>=1.2,<2'"),
    ],
)
def test_a_package_that_will_not_do_is_a_problem(package: Package, words: str, hint: str) -> None:
    found = only(with_package(package))
    assert (found.level, found.topic) == ("problem", "package")
    assert words in found.message and hint in found.hint


def test_a_python_that_is_too_old_is_a_problem() -> None:
    found = only(replace(SOUND, python=replace(SOUND.python, version="3.10.4")))
    assert found.level == "problem" and "Python 3.10.4 is older than 3.11" in found.message


def test_an_extra_may_be_left_out_but_should_not_be_broken() -> None:
    assert find(with_package(replace(EXTRA, version=None, fault=MISSING))) == ()
    for broken in (replace(EXTRA, version=None, fault="no such symbol"), replace(EXTRA, version="0.4.1")):
        assert only(with_package(broken)).level == "warning"


def test_releases_are_compared_as_numbers() -> None:
    assert release("2.10") > release("2.9.9") and release("1.2") == release("1.2.0")
    assert release("3.0.0rc1") == (3, 0, 0) and release("2.2.2.dev0+g12") == (2, 2, 2)
    assert release("unknown") == (0, 0, 0)


def test_a_wrong_result_is_a_problem_and_comes_first() -> None:
    wrong = replace(SOUND, trials=(Trial("a\x1b b -> b", "it differs"),), blas=replace(FAST, core="Zen"))
    first, second = find(wrong)
    assert (first.level, first.topic) == ("problem", "self-check") and second.level == "warning"
    assert "'a\\x1b b -> b' went wrong: it differs" in first.message and "reinstall" in first.hint
    old = replace(wrong, packages=(replace(NUMPY, version="1.26"),))
    package, first = find(old)[:2]
    broken = replace(wrong, packages=(NUMPY, replace(EXTRA, version="0.1")))
    assert [one.topic for one in find(broken)] == ["self-check", "package", "blas-kernels"]
    assert package.topic == "package" and "mend the packages first" in first.hint


@pytest.mark.parametrize(
    ("blas", "words"),
    [
        (Blas("none"), "without a BLAS"),
        (Blas("unknown"), "does not tell its BLAS"),
        (Blas("unknown", "blas"), "'blas' is not known"),
    ],
)
def test_no_blas_and_an_unknown_one_are_warnings(blas: Blas, words: str) -> None:
    found = only(replace(SOUND, blas=blas))
    assert (found.level, found.topic) == ("warning", "blas") and words in found.message
    assert "wheel" in found.hint
    lost = replace(SOUND, blas=blas, packages=(replace(NUMPY, version=None, fault=MISSING),))
    assert [one.topic for one in find(lost)] == ["package"]


@pytest.mark.parametrize("family", ["mkl", "accelerate", "blis"])
def test_a_blas_of_which_only_the_name_is_known_is_no_finding(family: str) -> None:
    assert find(replace(SOUND, blas=Blas(family))) == ()


@pytest.mark.parametrize(
    ("core", "config", "asked", "hint"),
    [
        ("Haswell", "DYNAMIC_ARCH", None, "set OPENBLAS_CORETYPE=SkylakeX before NumPy loads; measured"),
        ("Haswell", "DYNAMIC_ARCH", "haswell\n", "OPENBLAS_CORETYPE=haswell\\n is set: unset it"),
        ("Haswell", "NO_AFFINITY", None, "built for one kind of processor"),
        ("Zen", None, None, "set OPENBLAS_CORETYPE=SkylakeX before NumPy loads"),
    ],
)
def test_narrow_kernels_on_avx512_are_a_warning(
    core: str, config: str | None, asked: str | None, hint: str
) -> None:
    variables = {} if asked is None else {"OPENBLAS_CORETYPE": asked}
    facts = replace(SOUND, blas=replace(FAST, core=core, config=config), variables=variables)
    found = only(facts)
    assert (found.level, found.topic) == ("warning", "blas-kernels")
    assert f"its {core} kernels on a processor with AVX-512" in found.message and hint in found.hint
    assert ("1.6 to 1.9" in found.hint) == (core == "Haswell")
    for has_avx512 in (False, None):
        assert find(replace(facts, machine=replace(IDLE, avx512=has_avx512))) == ()


def test_old_kernels_on_avx2_are_a_warning() -> None:
    facts = replace(SOUND, machine=replace(IDLE, avx512=False), blas=replace(FAST, core="Nehalem"))
    assert "OPENBLAS_CORETYPE=Haswell" in only(facts).hint
    assert find(replace(facts, machine=replace(IDLE, avx512=None, avx2=None))) == ()
    assert find(replace(facts, blas=replace(FAST, core=None))) == ()


@pytest.mark.parametrize(
    ("threads", "load", "is_found"),
    [
        (4, 1.0, True),
        (2, 2.9, True),
        (4, 0.4, False),
        (2, 2.0, False),
        (1, 9.0, False),
        (None, 9.0, False),
        (4, None, False),
    ],
)
def test_threads_beside_other_work_are_a_warning(
    threads: int | None, load: float | None, is_found: bool
) -> None:
    machine = replace(IDLE, load=None if load is None else (load, 0.0, 0.0))
    found = find(replace(SOUND, machine=machine, blas=replace(FAST, threads=threads)))
    assert [one.topic for one in found] == ["blas-threads"] * is_found
    assert not found or ("OPENBLAS_NUM_THREADS=1" in found[0].hint and "189" in found[0].hint)


def test_more_threads_than_usable_cpus_are_a_warning() -> None:
    facts = replace(SOUND, machine=replace(IDLE, usable_cpus=2), blas=Blas("mkl", threads=4))
    found = only(facts)
    assert "4 threads, and this process may use 2 CPUs" in found.message
    assert found.hint == "set MKL_NUM_THREADS=2 before NumPy loads"
    assert find(replace(facts, machine=replace(IDLE, usable_cpus=None))) == ()
    assert "8 threads" in only(replace(SOUND, blas=replace(FAST, threads=8))).message


@pytest.mark.parametrize(
    ("off", "worst", "is_slower", "threads", "load", "words", "hint"),
    [
        (2.5, 3.0, True, 1, 0.1, "takes 3.0 times as long as", "nameexpr calibrate measures"),
        (1.3, 6.0, False, 2, 0.1, "is 6.0 times as fast as", "nameexpr calibrate measures"),
        (
            1.3,
            149.0,
            True,
            2,
            0.1,
            "takes 149.0 times as long as",
            "try OPENBLAS_NUM_THREADS=1, in case threads",
        ),
        (
            1.3,
            149.0,
            True,
            1,
            2.2,
            "takes 149.0 times as long as",
            "other work keeps 2.2 of 4 CPUs busy: repeat",
        ),
    ],
)
def test_a_profile_that_predicts_badly_is_a_warning_that_says_what_to_do(
    off: float, worst: float, is_slower: bool, threads: int, load: float, words: str, hint: str
) -> None:
    profile = Prediction("", "amd", 7, off, worst, "a b -> a", is_slower)
    machine = replace(IDLE, load=(load, 0.0, 0.0))
    facts = replace(SOUND, profile=profile, machine=machine, blas=replace(FAST, threads=threads))
    found = only(facts)
    assert (found.level, found.topic) == ("warning", "profile")
    assert f"'a b -> a' {words} predicted: slower" in found.message
    assert found.hint.startswith(hint) and "nameexpr calibrate measures" in found.hint
    assert "nothing is wrong" not in as_text(facts, [found])


@pytest.mark.parametrize(
    ("value", "remedy"), [("x.json", "unset NAMEEXPR_TARGET"), ("", "nameexpr calibrate writes a new one")]
)
def test_a_profile_that_is_not_used_is_a_warning(value: str, remedy: str) -> None:
    profile = Prediction("", "amd", 7, 1.1, 1.2, "a b -> a", False, "the profile x.json is not used: why")
    found = only(replace(SOUND, profile=profile, variables={"NAMEEXPR_TARGET": value}))
    assert (found.level, found.topic) == ("warning", "profile")
    assert found.message == "the profile x.json is not used: why" and remedy in found.hint


def test_a_profile_that_predicts_well_enough_shows_nothing() -> None:
    facts = replace(SOUND, profile=Prediction("x/zen.json", "amd", 7, 1.9, 4.9, "a b -> a", True))
    assert find(facts) == ()
    line = "zen.json; expected times of 7 calls are off by up to 1.90x for half of them, 4.90x for all"
    assert line in as_text(facts, ())


def test_variables_of_the_package_are_told() -> None:
    assert "every compilation" in only(replace(SOUND, variables={"NAMEEXPR_VERIFY": "1"})).message
    assert find(replace(SOUND, variables={"NAMEEXPR_VERIFY": "0", "NPY_X": "1"})) == ()
    found = only(replace(SOUND, variables={"NAMEEXPR_VERFY": "1"}))
    assert "'NAMEEXPR_VERFY' is set, and nothing reads it" in found.message and "VERIFY" in found.hint


def test_what_a_system_does_not_tell_is_unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("_CPUINFO", "_QUOTA"):
        monkeypatch.setattr(doctor_machine, name, tmp_path / "nothing")
    monkeypatch.setattr(doctor_machine, "_features", set)
    for name in ("system", "release", "machine", "processor"):
        monkeypatch.setattr(doctor_machine.platform, name, str)
    for name in ("getloadavg", "sched_getaffinity"):
        monkeypatch.delattr(doctor_machine.os, name, raising=False)
    monkeypatch.setattr(doctor_machine.os, "cpu_count", lambda: None)
    machine = doctor_machine.describe_machine()
    assert machine == Machine()
    facts = replace(SOUND, machine=machine, blas=Blas("mkl"))
    assert find(facts) == ()
    lines = as_text(facts, ()).splitlines()
    assert {"processor  unknown", "cpus       unknown, load average unknown"} <= set(lines)
    assert "threads    unknown, no variable sets them" in lines
