"""The commands of a session: texts, files, settings, undo."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nameexpr.session.commands import new_session
from nameexpr.session.session import Session
from nameexpr.session.settings import read_bytes
from tools.session.helpers import said


def test_undo_takes_changes_back_one_by_one(session: Session) -> None:
    said(session, "x = ones(N=5)")
    said(session, "x")
    said(session, ":set precision 9")
    assert said(session, ":undo") == "undone: :set precision 9" and session.settings["precision"] == 4
    assert said(session, ":undo") == "undone: x = ones(N=5)"
    assert session.tensors["x"].shape == (2, 3)
    said(session, ":undo")
    said(session, ":undo")
    assert session.tensors == {} and session.entered == []
    assert session.run(":undo").is_fault


def test_what_was_entered_can_be_entered_again(session: Session, tmp_path: Path) -> None:
    said(session, ":set seed 5")
    said(session, "r = randn(N=2)")
    said(session, ":set precision 9")
    said(session, ":undo")
    said(session, "y[N] = sum[C](x * w) + r")
    said(session, "oops * 2")
    kept = tmp_path / "kept.ne"
    assert said(session, f":save {kept}").startswith("5 lines written")
    again = new_session()
    assert not again.run(f":script {kept}").is_fault
    np.testing.assert_array_equal(again.tensors["y"].data, session.tensors["y"].data)
    assert again.settings == session.settings


@pytest.mark.parametrize("suffix", ["npy", "npz", "csv"])
def test_tensors_go_to_files_and_come_back(session: Session, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a file.{suffix}"
    assert not session.run(f':save x "{path}"').is_fault
    assert said(session, f':load back[A B] "{path}"') == "back: A=2, B=3  int64"
    np.testing.assert_array_equal(session.tensors["back"].data, session.tensors["x"].data)


@pytest.mark.parametrize(
    "line",
    [
        ":load x nowhere.npy",
        ":load x",
        ":load",
        ":load x[N] {wrong}",
        ":load x[N C] {text}",
        ":save q q.npy",
        ":save x",
        ":save x x.txt",
        ":save",
        ":script nowhere.ne",
        ":script",
        ":script {folder}",
        ":draw memory x * 2",
        ":draw {folder}/no/such/folder.svg x * 2",
        ":explain NE9999",
        ":set precision many",
        ":set precison 4",
        ":set optimize fast",
        ":set dtype object",
        ":set memory_limit lots",
        ":set seed x",
        ":plan",
        ":gradient",
        ":gradient w",
        ":gradient x * w",
        ":gradient q: sum[C](w)",
        ":gradient w: x * w",
        ":gradient w: N C, C -> N",
        ":gradient 3",
        ":nmaes",
        ":",
    ],
)
def test_commands_say_what_they_need(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save(tmp_path / "wrong.npy", np.ones((2, 3)))
    (tmp_path / "text.npy").write_text("no array")
    before = dict(session.tensors)
    answer = session.run(line.format(wrong="wrong.npy", text="text.npy", folder=tmp_path))
    assert answer.is_fault and answer.text and "bug" not in answer.text
    assert session.tensors == before


def test_a_script_that_calls_itself_ends(session: Session, tmp_path: Path) -> None:
    script = tmp_path / "self.ne"
    script.write_text(f"x = ones(N=1)\n:script {script}\n")
    assert session.run(f":script {script}").is_fault
    assert not session.run("x").is_fault


def test_pictures_go_to_files(session: Session, tmp_path: Path) -> None:
    for name, start in {"a.svg": "<svg", "b.dot": "graph", "c.mmd": "flowchart"}.items():
        answer = session.run(f":draw {tmp_path / name} N C, C -> N | x, w")
        assert not answer.is_fault, answer.text
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    for name, begin in {"d.png": b"\x89PNG", "e.PDF": b"%PDF"}.items():
        assert not session.run(f":draw tree {tmp_path / name} N C, C -> N | x, w").is_fault
        assert (tmp_path / name).read_bytes().startswith(begin)
    assert said(session, ":draw").splitlines()[1:] == ["├── x  N=2 C=3", "└── w  C=3"]


def test_commands_about_texts_take_the_last_one(session: Session) -> None:
    said(session, "sum[C](x * w)")
    assert said(session, ":plan").startswith("sum[C](x * w)")
    assert "def compute(a0, a1)" in said(session, ":code")
    assert "median of" in said(session, ":time")
    assert said(session, ":type").startswith("N=2  float64")


def test_gradients_are_written_as_formulas_that_can_be_run(session: Session) -> None:
    said(session, "v[C] = 1.0 * w")
    said(session, "loss = sum[N]((sum[C](x * v) - 1) ** 2)")
    written = said(session, ":gradient v")
    assert (
        written
        == said(session, ":gradient v: loss = sum[N]((sum[C](x * v) - 1) ** 2)")
        == said(session, ":g v")
    )
    said(session, written.replace("\n", "; "))
    x, v = (session.tensors[name].data for name in ("x", "v"))
    np.testing.assert_allclose(session.tensors["d_v"].data, 2 * (x @ v - 1) @ x)
    assert session.tensors["d_v"].names == ("C",)
    assert (
        said(session, ":gradient v, z: y = sum[C](v * z)")
        == "y = sum[C](v[C] * z)\nd_v[C] = z\nd_z = sum[C](v[C])"
    )
    assert said(session, ":gradient y = sum[C](v ** 2); g = grad(y, v)").endswith("g = 2 * v[C]")
    assert said(session, ":set dtype float32") == "" and "d_v" in said(
        session, ":gradient v: y = sum[C](v ** 2)"
    )


def test_a_gradient_that_is_not_named_is_asked_for(session: Session) -> None:
    asked = "by which tensors are the gradients?\n  help: "
    assert said(session, ":gradient sum[C](w)") == f"{asked}name them: :gradient w: sum[C](w)"
    assert said(session, f":gradient {' + '.join(['w'] * 40)}") == f"{asked}name them: :gradient w: ..."
    assert said(session, ":gradient") == ":gradient is about a text, and there was none yet\n  help: " + (
        ":gradient w b: loss = sum[C](w * b)"
    )


def test_the_code_runs_where_it_is_pasted(session: Session) -> None:
    for line, operands in {"sum[C](x * w) ** 2": ("x", "w"), "N C, C -> N | x, w": ("x", "w")}.items():
        names: dict[str, object] = {}
        exec(said(session, f":code {line}"), names)
        expected = session.run(line) and session.tensors["_"].data
        computed = names["compute"](*(session.tensors[name].data for name in operands))  # type: ignore[operator]
        np.testing.assert_allclose(computed, expected)


def test_explain_knows_the_last_error(session: Session) -> None:
    assert session.run(":explain").is_fault
    said(session, "sum[K](x)")
    assert said(session, ":explain").startswith("NE241")
    assert said(session, ":explain NE304").startswith("NE304")


def test_settings_matter(session: Session) -> None:
    said(session, ":set dtype float32")
    said(session, "v = ones(C=3, dtype=float32)")
    said(session, "C, C -> | v, v")
    assert session.tensors["_"].dtype == np.float32
    for formula in ("x * w", "a[N] = sum[C](x * w); a + 1"):
        said(session, formula)
        assert session.tensors["_"].dtype == np.float32
    assert "float32" in said(session, ":type x * w") and session.tensors["a"].dtype == np.float32
    said(session, "k = ones(K=50)")
    said(session, ":set memory_limit 100")
    assert said(session, "x * k").startswith("LimitError")
    assert session.run("big = zeros(N=1000)").is_fault
    said(session, ":set memory_limit auto")
    assert not session.run("big = zeros(N=1000)").is_fault
    assert read_bytes("2GiB") == 2 << 30


def test_helps_names_every_command(session: Session) -> None:
    from nameexpr.session.lines import COMMANDS

    text = said(session, ":help")
    page = (Path(__file__).parents[3] / "docs" / "repl.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f":{name}" in text and f"`:{name}" in page
        assert said(session, f":help {name}").startswith(f":{name}")
