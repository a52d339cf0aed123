"""The measures of docs/reliability.md, at a small size, and that they see what is wrong."""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from hardening import fuzz, fuzz_table, fuzz_targets, hostile, hostile_files, hostile_leaving
from hardening.fuzz_search import Target, Watch, last_input, quiet, search
from hardening.hostile_strings import CANARY, MARK, STRINGS, strings
from nameexpr.lint import formats
from nameexpr.pictures import html

pytestmark = pytest.mark.slow

TARGETS = tuple(fuzz.INPUTS)


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Target]:
    monkeypatch.setattr(fuzz_table, "CASES", 15)
    return lambda name: fuzz_table.target(name, str(tmp_path))


def findings(target: Target, runs: int = 200) -> list[str]:
    found: list[str] = search(target, Watch(target.run), runs, seed=1).figures()["findings"]
    return found


@pytest.mark.parametrize("name", TARGETS)
def test_fuzzed_inputs_give_results_or_errors_of_ours(name: str, target: Callable[[str], Target]) -> None:
    chosen = target(name)
    watch = search(chosen, Watch(chosen.run), 400, seed=3)
    figures = watch.figures()
    assert figures["findings"] == [] and figures["inputs"] == 400
    assert 0 < figures["accepted"] < 400


def failing(*_: Any, **__: Any) -> Any:
    raise KeyError("x")


@pytest.mark.parametrize(
    ("name", "where", "what"),
    [
        ("expression", ne, "einsum"),
        ("formula", ne, "evaluate"),
        ("checker", ne, "check"),
        ("line", fuzz_targets.Session, "prepared"),
        ("source", formats, "marked_text"),
        ("loader", ne, "load"),
    ],
)
def test_another_exception_is_a_finding_of_the_fuzzer(
    name: str, where: Any, what: str, target: Callable[[str], Target], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = target(name)
    monkeypatch.setattr(where, what, failing)
    found = findings(chosen)
    assert found and "KeyError" in found[0]


def test_a_control_character_that_is_shown_is_a_finding(
    target: Callable[[str], Target], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ne.NameExprError, "__str__", lambda fault: "\x1b[2J")
    assert any("reaches the terminal" in one for one in findings(target("expression")))


def test_an_input_that_takes_long_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hardening.fuzz_search.SECONDS", 0.001)
    slow = Target(lambda data: sum(range(200_000)) > 0, lambda data, rng: data, [b"slow"], 10)
    assert any("processor time" in one and "slow" in one for one in findings(slow, 3))


def test_an_input_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(data: bytes) -> bool:
        while True:
            pass

    monkeypatch.setattr("hardening.fuzz_search.HANG", 0.05)
    assert any("Hang" in one for one in findings(Target(endless, lambda data, rng: data, [b""], 10), 1))


def test_no_fuzzed_line_reaches_python(target: Callable[[str], Target], tmp_path: Path) -> None:
    line = target("line").run
    for text in (f"!open({str(tmp_path / 'made')!r}, 'w')", f"k = !open({str(tmp_path / 'made')!r}, 'w')"):
        line(b"\x03" + text.encode())
    line(b"\x03:save " + str(tmp_path / "made.ne").encode())
    assert list(tmp_path.iterdir()) == []


def test_ten_million_inputs_are_shared_out() -> None:
    for is_guided in (True, False):
        first, rest = fuzz.jobs(1.0, is_guided=is_guided)
        assert sum(job.runs for job in [*first, *rest]) == 10_000_000
        assert len({job.seed for job in [*first, *rest]}) == len(first) + len(rest)
        assert bool(first) == is_guided
    assert min(fuzz.INPUTS.values()) >= 100_000


def test_a_process_of_the_fuzzer_that_dies_or_grows_is_a_breach() -> None:
    job = fuzz.Job("line", 10, 1, False)
    fine = {
        "inputs": 10,
        "accepted": 5,
        "status": 0,
        "said": "",
        "growth": 1e6,
        "slowest": 0.1,
        "findings": [],
    }
    assert fuzz.breaches_of(job, fine) == []
    assert "-11" in fuzz.breaches_of(job, {**fine, "status": -11})[0]
    assert "MB" in fuzz.breaches_of(job, {**fine, "growth": 9e7})[0]
    assert "KeyError" in fuzz.breaches_of(job, {**fine, "findings": ["KeyError"]})[0]


def tried(texts: list[str], surfaces: Any = hostile.SURFACES) -> list[str]:
    count = hostile.Count()
    with hostile.in_folder():
        hostile.try_strings(texts, surfaces, count)
    assert count.shown or count.breaches
    return list(count.breaches.values())


def test_hostile_strings_are_harmless_on_every_surface() -> None:
    assert tried(list(strings(12))) == []


def test_hostile_strings_hold_their_mark() -> None:
    assert len({*STRINGS}) == len(STRINGS)
    assert sum(MARK in text for text in STRINGS) > 0.9 * len(STRINGS)
    assert len(list(strings(500))) == 500


def test_a_string_that_is_not_escaped_is_a_breach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "escaped", lambda text: text)
    found = tried(["<script>zqx()</script>"], {"elements": hostile.SURFACES["elements"]})
    assert any("an element <script>" in one for one in found)


def test_a_string_that_is_executed_is_a_breach() -> None:
    def executed(text: str) -> Iterator[tuple[str, str]]:
        eval(text)
        yield "terminal", ""

    assert "was made" in tried([f"open('{CANARY}', 'w').close()"], {"eval": executed})[0]
    assert "was set" in tried([f"setattr(__import__('builtins'), '{CANARY}', 1)"], {"eval": executed})[0]
    assert not hasattr(builtins, CANARY)


def test_a_file_beside_the_folder_is_a_breach() -> None:
    def written(text: str) -> Iterator[tuple[str, str]]:
        Path(text).write_text("", encoding="utf-8")
        yield "terminal", ""

    assert "outside the folder" in tried(["../zqx"], {"written": written})[0]
    assert "outside the folder" in tried(["../../zqx"], {"written": written})[0]


def test_another_exception_is_a_breach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ne, "check", failing)
    assert "KeyError" in tried(["zqx"], {"texts": hostile.SURFACES["texts of expressions"]})[0]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("terminal", "a\x1b[31m"),
        ("terminal", "a\u202e"),
        ("ansi", "\x1b[1;31ma\x1b[2J"),
        ("svg", "<svg><script>zqx</script></svg>"),
        ("svg", "<svg><text onclick='a'>zqx</text></svg>"),
        ("svg", "<svg><text>zqx</svg>"),
        ("html", "<div><img src=x></div>"),
        ("html", "<div><span style='zqx'></span></div>"),
        ("html", "<div>"),
        ("html", "<div><!-- zqx --></div>"),
        ("dot", 'graph { a [label="b"]; zqx }'),
        ("dot", 'graph { a [label="\\N"] }'),
        ("mermaid", 'flowchart TD\n a["b"] --> zqx'),
        ("mermaid", 'flowchart TD\n a["<b>"]'),
        ("json", '{"a": "é"}'),
        ("json", "{'a': 1}"),
        ("github", "::error file=a.py,line=1::b\n::add-mask::zqx"),
        ("github", "zqx"),
        ("code", "import os"),
        ("code", "zqx = 1"),
        ("code", "open('a')"),
        ("code", "a b"),
    ],
)
def test_what_is_not_safe_where_it_is_shown_is_seen(kind: str, text: str) -> None:
    assert list(hostile_leaving.KINDS[kind](text))


def test_an_address_that_is_none_is_seen_in_sarif() -> None:
    def log(uri: str) -> str:
        place = {"physicalLocation": {"artifactLocation": {"uri": uri}}}
        return json.dumps({"runs": [{"results": [{"message": {"text": "a"}, "locations": [place]}]}]})

    assert not list(hostile_leaving.sarif(log("a%20b.py"))) and list(hostile_leaving.sarif(log('a"b.py')))


@pytest.mark.parametrize("how", hostile_files.READERS)
def test_pickles_are_never_loaded(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert {*hostile_files.pickles()} >= {"objects.npy", "named.npz"}
    for path in ("objects.npy", "named.npz"):
        assert list(hostile_files.wrong(hostile_files.read(how, path))) == []
    assert not Path(CANARY).exists()


def test_archives_made_by_hand_unpack_to_what_they_declare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(list(hostile_files.bombs(40_000_000))) == 8
    with np.load("names_bomb.npz") as archive:
        assert sorted(archive.files) == ["__names__", "tensor"]
    assert Path("bomb.npz").stat().st_size < 100_000


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("print('FIGURES', 10**9, 0.1); raise SystemExit(1)", "MB"),
        ("print('FIGURES', 0, 9.0); raise SystemExit(1)", "9.0 s"),
        ("print('FIGURES', 0, 0.1)", "was read"),
        ("raise TypeError", "Traceback"),
        ("held = bytearray(b'a') * 10**8; import time; time.sleep(60)", "stopped"),
    ],
)
def test_a_file_that_is_read_or_unpacked_is_a_breach(
    script: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hostile_files, "_CHILD", script)
    monkeypatch.setattr(hostile_files, "STOP", 80_000_000)
    assert any(what in one for one in hostile_files.wrong(hostile_files.read("load", "x.npz")))


def test_a_guide_that_ends_of_itself_is_started_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = iter([77, 0, 0])

    def done(job: fuzz.Job, folder: Path, *more: str) -> dict[str, Any]:
        status = next(ends)
        (folder / f"report{job.seed}.last").write_bytes(b"\0\0\0\1a")
        inputs = 40 if status else job.runs
        return {"inputs": inputs, "status": status, "said": "fuzz target exited", "findings": []}

    monkeypatch.setattr(fuzz, "_done", done)
    reports = list(fuzz.finished(fuzz.Job("line", 100, 1, True), tmp_path))
    assert [(job.runs, report["inputs"]) for job, report in reports] == [(100, 40), (60, 60)]
    assert [breach for job, report in reports for breach in fuzz.breaches_of(job, report)] == []


def test_an_input_that_ends_a_process_alone_too_is_a_breach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def done(job: fuzz.Job, folder: Path, *more: str) -> dict[str, Any]:
        (folder / f"report{job.seed}.last").write_bytes(b"\0\0\0\1a")
        return {"inputs": 1, "status": -11, "said": "", "findings": []}

    monkeypatch.setattr(fuzz, "_done", done)
    job = fuzz.Job("line", 100, 1, True)
    assert [
        fuzz.breaches_of(one, report)[0].split(":")[0] for one, report in fuzz.finished(job, tmp_path)
    ] == ["line (seed 1, guided)"]


def test_the_last_input_is_kept_for_a_second_try(tmp_path: Path) -> None:
    watch = Watch(lambda data: True, tmp_path / "report.json")
    with quiet():  # ends the limit of time that each input gets
        for data in (b"a long one", b"short"):
            watch(data)
    assert last_input(tmp_path / "report.last") == b"short"
