"""The command line on formulas: operands come by name from files or as shapes; what goes wrong is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.cli.main import main
from tools.cli.helpers import S, X, answer, fails, folder, process  # noqa: F401  every test runs in it

SCALED = "y = sum[H W](x[N C H W] * s[C])"
TABLE = "d[i j] = sqrt(sum[D]((t[i D] - t[j D]) ** 2))"


def test_eval_prints_the_value_with_its_names(capsys: pytest.CaptureFixture[str]) -> None:
    expected = ne.evaluate(SCALED, x=X, s=S)
    found = answer(capsys, "eval", SCALED, "x=x.npy", "s=s.npy")
    assert found["data"] == expected.tolist()
    assert found["names"] == ["N", "C"] and found["shape"] == [2, 3]
    assert main(["eval", SCALED, "x=x.npy", "s=s.npy"]) == 0
    said = capsys.readouterr().out
    assert "N" in said and "C" in said and "120" in said


def test_operands_come_in_any_order_from_files_of_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["s=s.npy", "x=x.npy"], ["x=two.npz:x", "s=two.npz:s"]):
        assert answer(capsys, "eval", SCALED, *arguments)["shape"] == [2, 3]
    table = np.array([[1.0, 2], [3, 4], [5, 6]])
    found = answer(capsys, "eval", TABLE, "t=t.csv")
    np.testing.assert_allclose(found["data"], np.linalg.norm(table[:, None] - table, axis=-1))
    assert found["names"] == ["i", "j"]


def test_several_statements_and_comments_are_one_argument(capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "m = mean[i](t[i D])  # of each column\nc[i D] = t - m\ncov[D E] = sum[i](c[i D] * c[i E]) / size[i]"
    )
    found = answer(capsys, "eval", text, "t=t.csv")
    table = np.array([[1.0, 2], [3, 4], [5, 6]])
    np.testing.assert_allclose(found["data"], np.cov(table.T, bias=True))
    assert found["names"] == ["D", "E"]


def test_a_formula_without_operands_has_a_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "eval", "y = 2 ** 10")["data"] == 1024
    assert answer(capsys, "eval", "index[K] * 2", "--size", "K=3")["data"] == [0, 2, 4]


@pytest.mark.parametrize("target", ["y.npy", "y.npz", "y.csv"])
def test_what_eval_writes_is_what_evaluate_gives(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", SCALED, "x=x.npy", "s=s.npy", "-o", target]) == 0
    assert capsys.readouterr().out == ""
    expected = ne.evaluate(SCALED, x=X, s=S)
    if target.endswith("csv"):
        loaded = np.loadtxt(target, delimiter=",")
    else:
        loaded = np.load(target)
        loaded = loaded if isinstance(loaded, np.ndarray) else loaded["arr_0"]
    np.testing.assert_array_equal(loaded, expected)


def test_plan_takes_shapes_or_files(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["x=2,3,4,4", "s=3"], ["x=x.npy", "s=s.npy"]):
        assert main(["plan", SCALED, *arguments]) == 0
        said = capsys.readouterr().out
        assert "flops" in said and "(2, 3)" in said
    data = answer(capsys, "plan", "y[a c] = sum[b](x[a b] * w[b c])", "x=1000,1000", "w=1000,1000")
    assert data["flops"] == 2 * 10**9


def test_code_runs_when_pasted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["code", SCALED, "x=2,3,4,4", "s=3"]) == 0
    names: dict[str, object] = {}
    exec(capsys.readouterr().out, names)
    np.testing.assert_allclose(names["compute"](X, S), (X * S[:, None, None]).sum((2, 3)))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["eval", SCALED, "x.npy", "s.npy"], 2, ["which operand of the formula is", "x=x.npy"]),
        (["eval", SCALED, "x=x.npy", "x=s.npy"], 2, ["given twice"]),
        (["eval", SCALED, "x=x.npy"], 1, ["there is no operand 's'", "^"]),
        (["eval", SCALED, "x=x.npy", "s=s.npy", "w=s.npy"], 1, ["does not use the operand w="]),
        (["eval", SCALED, "x=x.npy", "z=s.npy"], 1, ["there is no operand 's'"]),
        (["eval", SCALED, "x=x.npy", "s=none.npy"], 1, ["none.npy"]),
        (["eval", SCALED, "x=x.npy", "s="], 1, ["there is no file"]),
        (["eval", SCALED, "x=s.npy", "s=s.npy"], 1, ["x has 1 dim, and its term has 4", "(3,)"]),
        (["eval", "y = sum[H](x[N C H W]", "x=x.npy"], 1, ["this ( is not closed"]),
        (["eval", "y = sqtr(x[N C H W])", "x=x.npy"], 1, ["did you mean 'sqrt'?"]),
        (["eval", "y[N] = x[N C H W]", "x=x.npy"], 1, ["would be dropped"]),
        (["eval", SCALED, "x=x.npy", "s=s.npy", "--reduce", "sum"], 2, ["--reduce is for", "sum[C](x)"]),
        (["eval", SCALED, "x=x.npy", "s=s.npy", "--dtype", "int8"], 1, ["dtype=int8 cannot hold"]),
        (["plan", SCALED, "x=2,3,4,4"], 1, ["there is no operand 's'"]),
        (["plan", SCALED, "x=2,3,4,4", "s=4"], 1, ["'C' is 3 in x and 4 in s"]),
        (["plan", SCALED, "x=a,b", "s=3"], None, ["a,b"]),
        (["code", SCALED, "2,3,4,4", "s=3"], 2, ["which operand"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_without_a_traceback(
    arguments: list[str], code: int | None, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    if code is None:
        assert main(arguments) in (1, 2)
        said = capsys.readouterr().err
    else:
        said = fails(capsys, *arguments, code=code)
    assert "Traceback" not in said
    assert all(word in said for word in words), said


def test_an_error_as_json_has_code_and_spans(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "y = sqtr(x[N C H W])", "x=x.npy", "--json"]) == 1
    assert '"NE236"' in "".join(capsys.readouterr())


def test_sizes_are_given_as_options(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "eval", "y[a b] = v[(a b)]", "v=s.npy", "--size", "a=3")
    assert found["shape"] == [3, 1]


def test_names_that_python_knows_and_others(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("lambda.npy", S)
    assert answer(capsys, "eval", "β[N] * 2", "β=s.npy")["data"] == [2, 4, 6]
    Path("a=b.npy").write_bytes(Path("s.npy").read_bytes())
    assert answer(capsys, "eval", "x[N] * 2", "x=a=b.npy")["data"] == [2, 4, 6]


def test_the_process_reads_and_writes_streams() -> None:
    ran = process("eval", "x[N] * 2", "x=-", "-o", "-", stdin=Path("s.npy").read_bytes())
    if ran.returncode == 0:
        assert ran.stdout
    assert b"Traceback" not in ran.stderr
