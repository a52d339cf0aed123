"""The command line: what the commands print, and what they say of mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nameexpr.cli.main import main
from tools.cli.helpers import SCALE, SCALED, S, X, answer, fails, folder  # noqa: F401  every test runs in it


def test_eval_prints_shape_names_dtype_and_a_preview(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "a b -> b a", "t.csv"]) == 0
    assert capsys.readouterr().out == "shape (2, 3)\nnames ('b', 'a')\ndtype int64\n[[1 3 5]\n [2 4 6]]\n"


def test_a_preview_stays_short_whatever_the_size(capsys: pytest.CaptureFixture[str]) -> None:
    for shape in [(100_000,), (500, 500), (40, 40, 40), (9, 9, 9, 9), (2,) * 20, (3,) * 12]:
        np.save("large.npy", np.zeros(shape))
        assert main(["eval", "... -> ...", "large.npy"]) == 0
        assert len(capsys.readouterr().out.splitlines()) < 40, shape


def test_numbers_are_operands_unless_a_file_has_that_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "eval", "C, -> C", "s.npy", "2")["dtype"] == "float32"
    assert answer(capsys, "eval", "C, -> C", "s.npy", "-1e1")["data"] == [-10, -20, -30]
    assert answer(capsys, "eval", ", -> ", "2.5", "1j")["data"] == [0, 2.5]
    np.save("2.npy", S)
    Path("2.npy").rename("2")
    assert answer(capsys, "eval", "C -> C", "2")["data"] == [1, 2, 3]


def test_options_may_stand_anywhere_and_reach_the_expression(capsys: pytest.CaptureFixture[str]) -> None:
    split = answer(capsys, "eval", "--size", "h=2", "N C H (h W) -> h N C H W", "x.npy", "--size", "W=2")
    assert split["shape"] == [2, 2, 3, 4, 2] and split["names"] == ["h", "N", "C", "H", "W"]
    between = answer(
        capsys, "eval", "C, C -> C", "s.npy", "--dtype", "float64", "--optimize", "true", "s.npy"
    )
    assert between["data"] == [1, 4, 9] and between["dtype"] == "float64"
    assert answer(capsys, "eval", "a b -> b", "t.csv", "--reduce", "mean")["data"] == [3, 4]
    assert main(["eval", "->i=2", "--", "-5"]) == 0


def test_a_text_without_an_arrow_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "batch... H W, C", "x.npy", "s.npy"]) == 0
    assert capsys.readouterr().out == "H         4\nW         4\nC         3\nbatch...  (2, 3)\n"
    found = answer(capsys, "eval", "... W", "x.npy")
    assert found == {"sizes": {"W": 4}, "packs": {"...": [2, 3, 4]}}
    assert "SizeError[NE304]" in fails(capsys, "eval", "a a", "t.csv")
    assert "arrow" in fails(capsys, "eval", "a b", "t.csv", "-o", "y.npy", code=2)
    assert not Path("y.npy").exists()


def test_json_holds_no_number_that_json_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("w.npy", np.array([np.nan, np.inf, -np.inf, 1]))
    assert answer(capsys, "eval", "a -> a", "w.npy")["data"] == ["nan", "inf", "-inf", 1]
    np.save("w.npy", np.zeros(2000))
    assert answer(capsys, "eval", "a -> a", "w.npy")["data"] is None
    written = answer(capsys, "eval", "a -> a", "w.npy", "-o", "y.npy")
    assert written == {"shape": [2000], "names": ["a"], "dtype": "float64", "data": None, "output": "y.npy"}


def test_every_result_of_an_expression_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("x.npy", np.arange(6.0).reshape(2, 3))
    split = ["eval", "N (a + b) -> N a, rest=(b N)", "x.npy", "--size", "a=1"]
    first, rest = answer(capsys, *split)["results"]
    assert (first["names"], first["data"]) == (["N", "a"], [[0], [3]])
    assert (rest["names"], rest["data"]) == (["rest"], [1, 4, 2, 5])
    assert main(split) == 0
    assert capsys.readouterr().out.count("shape") == 2
    assert main([*split, "-o", "y.npy"]) == 2
    assert "a single result" in capsys.readouterr().err
    assert not Path("y.npy").exists()


def test_plan_needs_shapes_only_and_takes_dtypes_from_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "a b, b c -> a c", "10,20", "(20, 30)"]) == 0
    assert "flops: 12,000 planned" in capsys.readouterr().out
    plan = answer(capsys, "plan", "a b, b c -> a c", "10,20", "20,30")
    assert plan["flops"] == sum(step["flops"] for step in plan["steps"]) == 12_000
    assert plan["shape"] == [10, 30] and plan["dtype"] == "float64"
    assert answer(capsys, "plan", "C, C -> C", "s.npy", "s.npy")["operand_bytes"] == 24
    assert answer(capsys, "plan", "C, -> C", "3", "scalar")["shape"] == [3]
    Path("s.npy").write_bytes(Path("s.npy").read_bytes()[:-4])
    assert answer(capsys, "plan", "C -> C", "s.npy")["shape"] == [3]


def test_code_can_be_pasted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["code", SCALE, "2,3,4,4", "3"]) == 0
    printed = capsys.readouterr().out
    scope: dict[str, Any] = {}
    exec(printed, scope)
    np.testing.assert_array_equal(scope["compute"](X, S), SCALED)
    assert answer(capsys, "code", SCALE, "2,3,4,4", "3")["code"] == printed
    assert "def compute(a0):" in answer(capsys, "code", "a b -> b a")["code"]


def test_errors_are_the_packages_own_and_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    said = fails(capsys, "eval", "N C H W, H -> N C H W", "x.npy", "s.npy")
    assert said.startswith("SizeError[NE304]: 'H' is 4 in operand 0 and 3 in operand 1\n")
    assert "\x1b" not in said and "^" in said
    data = json.loads(fails(capsys, "plan", "a b -> b", "2,3", "--json"))["error"]
    assert data["code"] == "NE217" and data["text"] == "a b -> b" and data["hint"]
    assert data["spans"][0] | {"note": ""} == {"start": 0, "end": 1, "note": ""}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["eval", "a -> a", "nope.npy"], "there is no file 'nope.npy'"),
        (["eval", "a -> a", "xx.npy"], "did you mean 'x.npy'?"),
        (["eval", "a -> a", "A=s.npy"], "operands have no names"),
        (["eval", "a -> a", "2,3"], "plan and code"),
        (["eval", "a -> a", "."], "cannot read '.'"),
        (["eval", "a -> a", "two.npz"], "holds 2 arrays: x s"),
        (["eval", "a -> a", "two.npz:q"], "holds no array 'q'"),
        (["eval", "a -> a", "s.npy", "-o", "no/y.npy"], "there is no folder 'no'"),
        (["eval", "a b c d -> a b c d", "x.npy", "-o", "y.csv"], "a .csv cannot hold 4 dims"),
        (["eval", "a -> a", "s.npy", "--dtype", "f8,,"], "NE609"),
        (["plan", "a -> a", "nope.npz"], "there is no file 'nope.npz'"),
    ],
)
def test_wrong_data_is_exit_code_1(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in fails(capsys, *arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "a command is missing"),
        (["evl"], "did you mean 'eval'?"),
        (["a b -> b a", "x.npy"], "nameexpr eval 'a b -> b a'"),
        (["--bogus"], "there is no option --bogus"),
        (["eval"], "EXPR"),
        (["eval", "a -> a", "s.npy", "--bogus"], "--bogus"),
        (["eval", "a -> a", "s.npy", "--size", "a=x"], "'a=x' is not a size"),
        (["eval", "a -> a", "s.npy", "--size", "a=3", "--size", "a=4"], "given twice: 3 and 4"),
        (["eval", "a, b -> a b", "-", "-"], "only once"),
        (["eval", "a -> a", "s.npy", "-o", "y.txt"], "what kind of file"),
        (["eval", "a -> a", "s.npy", "-o", "-", "--json"], "both want standard output"),
        (["plan", "a -> a", "3,x"], "'3,x' is not a shape"),
        (["plan", "a -> a", "9" * 5000], "no array can have"),
    ],
)
def test_wrong_usage_is_exit_code_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in fails(capsys, *arguments, code=2)
    data = json.loads(fails(capsys, *(arguments or ["eval"]), "--json", code=2))["error"]
    assert data["code"] == "usage" and data["message"]


def test_control_characters_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["eval", "a -> a", "x\x1b[31m\n\r.npy"],
        ["eval", "a \x1b[31m-> a", "s.npy"],
        ["eval", "a -> a", "s.npy", "--dtype", "\x1b[31m"],
        ["eval", "a -> a", "s.npy", "-o", "\x1b[31m/y.npy"],
    ):
        assert "\x1b" not in fails(capsys, *arguments)
    for arguments in (["\x1b[31m"], ["eval", "a->a", "--\x1b[31m"], ["eval", "a->a", "--size", "\x1b[31m"]):
        assert "\x1b" not in fails(capsys, *arguments, code=2)


def test_colour_is_for_terminals_unless_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = ["eval", "a a -> a", "t.csv"]
    assert "\x1b" not in fails(capsys, *wrong)
    assert "\x1b" in fails(capsys, *wrong, "--color", "always")
    monkeypatch.setenv("FORCE_COLOR", "1")
    said = fails(capsys, *wrong)
    assert said.startswith("\x1b[1;31mSizeError[NE304]") and "  \x1b[1;31m" in said
    assert "\x1b" not in fails(capsys, *wrong, "--color", "never")
    assert "\x1b" not in fails(capsys, *wrong, "--json")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in fails(capsys, *wrong)


def test_a_label_of_any_script_is_a_name_of_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "eval", "é b -> b é", "t.csv")
    assert found["shape"] == [2, 3] and found["names"] == ["b", "é"]


def test_help_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], ["eval", "--help"], ["plan", "--help"], ["code", "--help"]):
        assert main(arguments) == 0
        assert "examples:" in capsys.readouterr().out


def test_several_results_are_printed_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "(a=1 + b) C -> C a, b C", "t.csv"]) == 0
    first, rest = capsys.readouterr().out.split("\n\n")
    assert first == "shape (2, 1)\nnames ('C', 'a')\ndtype int64\n[[1]\n [2]]"
    assert rest == "shape (2, 2)\nnames ('b', 'C')\ndtype int64\n[[3 4]\n [5 6]]\n"
    found = answer(capsys, "eval", "(a=1 + b) C -> C a, b C", "t.csv")
    assert [one["data"] for one in found["results"]] == [[[1], [2]], [[3, 4], [5, 6]]]
    wrong = fails(capsys, "eval", "(a=1 + b) C -> C a, b C", "t.csv", "-o", "y.npy", code=2)
    assert "--output is for a single result" in wrong
