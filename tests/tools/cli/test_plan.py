"""`nameexpr plan`, `code` and `eval` with the options of the Python API, and the pictures of a plan."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.cli.main import main
from nameexpr.terminal.arguments import as_bytes
from tools.cli.helpers import answer, fails, folder, process  # noqa: F401  every test runs in it

CHAIN = ["a b, b c, c d -> a d", "10,20", "20,30", "30,40"]
PLAN = ne.compile(CHAIN[0]).plan((10, 20), (20, 30), (30, 40))
SLICED = ["i k, k j, i j -> : sum", "200,50", "50,200", "200,200"]
FORMULA = ["y[N] = sum[C](x[N C] * w[C])", "x=32,3", "w=3"]


@pytest.mark.parametrize("kind", ["network", "tree", "memory"])
@pytest.mark.parametrize("text", [CHAIN, FORMULA], ids=["expression", "formula"])
def test_a_picture_is_written_beside_the_table(
    kind: str, text: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", *text]) == 0
    table = capsys.readouterr().out
    assert main(["plan", *text, "--svg", "plan.svg", "--draw", kind]) == 0
    assert capsys.readouterr().out == table
    drawn = Path("plan.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(drawn).tag.endswith("svg")
    if text is CHAIN:
        assert drawn == PLAN.draw(kind)  # type: ignore[arg-type]
    assert main(["plan", *text, "--draw", kind, "--svg", "-"]) == 0
    assert capsys.readouterr().out.rstrip("\n") == drawn.rstrip("\n")


def test_the_network_is_drawn_if_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *CHAIN, "--svg", "-"]) == 0
    assert capsys.readouterr().out.rstrip("\n") == PLAN.draw("network").rstrip("\n")


@pytest.mark.parametrize("kind", ["network", "tree"])
def test_graphs_are_printed_as_text(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    for option, text in (("--dot", PLAN.dot(kind)), ("--mermaid", PLAN.mermaid(kind))):  # type: ignore[arg-type]
        assert main(["plan", *CHAIN, option, "--draw", kind]) == 0
        assert capsys.readouterr().out.rstrip("\n") == text.rstrip("\n")
        assert answer(capsys, "plan", *CHAIN, option, "--draw", kind)[option.strip("-")] == text


def test_a_plan_as_data_has_times_and_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "plan", *CHAIN, "--svg", "plan.svg")
    assert data["svg"] == "plan.svg" and data["seconds"] == PLAN.seconds > 0
    assert [step["seconds"] for step in data["steps"]] == [step.seconds for step in PLAN.steps]
    assert answer(capsys, "plan", *CHAIN)["svg"] is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--draw", "tree"], "not a file; add --save FILE"),
        (["--draw", "memory", "--dot"], "not a graph"),
        (["--draw", "memory", "--mermaid"], "not a graph"),
        (["--draw", "cube", "--dot"], "invalid choice: 'cube'"),
        (["--dot", "--mermaid"], "not allowed with"),
        (["--save", "plan.gif"], "end it in .svg, .png or .pdf"),
        (["--svg", "-", "--json"], "both want standard output"),
        (["--svg", "-", "--dot"], "both want standard output"),
    ],
)
def test_pictures_that_make_no_sense_are_wrong_usage(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in fails(capsys, "plan", *CHAIN, *options, code=2)


def test_a_picture_that_cannot_be_written_is_no_half_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no folder 'no'" in fails(capsys, "plan", *CHAIN, "--svg", "no/plan.svg")
    Path("folder.svg").mkdir()
    assert "it is a folder" in fails(capsys, "plan", *CHAIN, "--svg", "folder.svg")
    assert "NE310" in fails(capsys, "plan", "a b -> b a", "2", "--svg", "plan.svg")
    assert not Path("plan.svg").exists() and not list(Path().glob(".*.part"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("1000", 1000),
        ("512MB", 512 * 1000**2),
        ("2GiB", 2 * 1024**3),
        ("1.5kB", 1500),
        ("0.5 kib", 512),
        ("3 TB", 3 * 1000**4),
        ("10B", 10),
        ("1m", 1000**2),
    ],
)
def test_bytes_are_read_with_their_units(text: str, expected: int) -> None:
    assert as_bytes(text) == expected


@pytest.mark.parametrize("text", ["", "x", "-1", "1e9", "2 XB", "1iB", "GB", "1.2.3", "٣", "1" * 400])
def test_what_is_no_number_of_bytes_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError):
        as_bytes(text)


def test_a_limit_on_memory_reaches_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    whole = answer(capsys, "plan", *SLICED)
    assert whole["peak_bytes"] > 100_000
    sliced = answer(capsys, "plan", *SLICED, "--memory-limit", "100kB")
    assert sliced["peak_bytes"] <= 100_000
    assert any(step["what"] == "looped" for step in sliced["steps"])
    said = fails(capsys, "plan", *CHAIN, "--memory-limit", "100B")
    assert "LimitError[NE709]" in said
    assert "is not a number of bytes" in fails(capsys, "plan", *CHAIN, "--memory-limit", "lots", code=2)
    assert "NE709" in fails(capsys, "plan", *FORMULA, "--memory-limit", "10")
    assert "NE709" in fails(capsys, "code", *CHAIN, "--memory-limit", "10")


def test_a_limit_on_memory_changes_no_result(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("a.npy", np.arange(600.0).reshape(30, 20) % 7)
    command = ["eval", "i k, j k, i j -> : sum", "a.npy", "a.npy"]
    np.save("b.npy", np.ones((30, 30)))
    expected = answer(capsys, *command, "b.npy")["data"]
    assert answer(capsys, *command, "b.npy", "--memory-limit", "6kB")["data"] == expected
    assert "NE709" in fails(capsys, "eval", "i k, j k -> i j", "a.npy", "a.npy", "--memory-limit", "1kB")
    formula = ["eval", "y[i j] = sum[k](a[i k] * a[j k])", "a=a.npy"]
    assert "NE709" in fails(capsys, *formula, "--memory-limit", "1kB")
    assert answer(capsys, *formula, "--memory-limit", "1MB")["shape"] == [30, 30]


def test_an_order_reaches_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    plain = answer(capsys, "code", "a b -> b a", "2,3")["code"]
    ordered = answer(capsys, "code", "a b -> b a", "2,3", "--order", "C")["code"]
    assert ".copy()" in ordered and ".copy()" not in plain
    assert main(["eval", "a b c d -> d c b a", "x.npy", "--order", "C", "-o", "y.npy"]) == 0
    assert np.load("y.npy").flags.c_contiguous
    assert "invalid choice: 'F'" in fails(capsys, "eval", "a -> a", "s.npy", "--order", "F", code=2)
    assert ".copy()" in answer(capsys, "code", "y[b a] = x[a b]", "x=2,3", "--order", "C")["code"]
    for option in (["--order", "C"], ["--memory-limit", "1MB"]):
        assert f"{option[0]} is for expressions with an arrow" in fails(
            capsys, "eval", "a b", "t.csv", *option, code=2
        )


def test_a_name_of_an_operand_cannot_act_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\x1b" not in fails(capsys, "plan", FORMULA[0], "\x1b[31m", code=2)
    said = process("plan", "a\u202eb c -> c", "2,3")
    assert "\u202e".encode() not in said.stdout + said.stderr


def test_the_table_is_that_of_python(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *CHAIN]) == 0
    said = capsys.readouterr().out
    assert said == f"{PLAN}\n" and re.search(r"^time: about ", said, re.MULTILINE)
