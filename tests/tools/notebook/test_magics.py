"""`%ne` and `%%ne` in an IPython shell: what they return, what they assign, how they fail."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

import nameexpr as ne

X = np.arange(6.0).reshape(2, 3)
W = np.array([1.0, 10.0, 100.0])


@pytest.fixture
def shell(ipython: InteractiveShell) -> InteractiveShell:
    ipython.user_ns.clear()  # `reset` collects the garbage of the whole test run, which takes a second
    ipython.init_user_ns()
    ipython.run_cell("%reload_ext nameexpr")
    ipython.user_ns |= {"x": ne.tensor(X, names="N C"), "w": W, "text": "abc", "k": 3}
    return ipython


def run(shell: InteractiveShell, source: str) -> Any:
    """Return what a cell shows, or raise what it raised."""
    found = shell.run_cell(source, store_history=True)
    found.raise_error()
    return found.result


def shown(shell: InteractiveShell, source: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return all that a cell that fails shows."""
    capsys.readouterr()
    assert not shell.run_cell(source).success
    printed = capsys.readouterr()
    assert not printed.err
    return printed.out


def test_an_expression_takes_the_variables_behind_the_bar(shell: InteractiveShell) -> None:
    found = run(shell, "%ne N C, C -> N | x, w")
    assert found.names == ("N",)
    np.testing.assert_array_equal(found.numpy(), X @ W)


def test_an_expression_finds_its_operands_by_their_names(shell: InteractiveShell) -> None:
    np.testing.assert_array_equal(run(shell, "%ne N C -> C N").numpy(), X.T)


def test_results_that_ipython_keeps_are_no_candidates(shell: InteractiveShell) -> None:
    run(shell, "x")
    run(shell, "%ne x * 1")
    np.testing.assert_array_equal(run(shell, "%ne N C -> C N").numpy(), X.T)


def test_a_formula_takes_variables_by_name_and_makes_one(shell: InteractiveShell) -> None:
    found = run(shell, "%ne y[N] = sum[C](x[N C] * w[C]) + k")
    np.testing.assert_array_equal(found.numpy(), X @ W + 3)
    assert shell.user_ns["y"] is found
    assert "y" not in shell.user_ns_hidden


def test_the_value_is_the_last_result(shell: InteractiveShell) -> None:
    run(shell, "%ne x * 2")
    np.testing.assert_array_equal(run(shell, "%ne _ + 1").numpy(), X * 2 + 1)
    np.testing.assert_array_equal(run(shell, "q = %ne x * 4\nq").numpy(), X * 4)


def test_a_cell_makes_all_it_names_and_shows_the_last(shell: InteractiveShell) -> None:
    found = run(shell, "%%ne\nmean[C] = mean[N](x)  # of the columns\nz[N C] = x - mean\n")
    np.testing.assert_array_equal(shell.user_ns["mean"].numpy(), X.mean(0))
    np.testing.assert_array_equal(found.numpy(), X - X.mean(0))
    assert shell.user_ns["z"] is found


def test_a_cell_may_end_in_a_value_without_a_name(shell: InteractiveShell) -> None:
    found = run(shell, "%%ne\na = x * 2\na + 1\n")
    np.testing.assert_array_equal(found.numpy(), X * 2 + 1)
    np.testing.assert_array_equal(shell.user_ns["a"].numpy(), X * 2)


def test_a_semicolon_shows_nothing_and_assigns(shell: InteractiveShell) -> None:
    assert run(shell, "%ne y = x * 2;  # quiet") is None
    np.testing.assert_array_equal(shell.user_ns["y"].numpy(), X * 2)


def test_a_tensor_can_be_made_and_sizes_checked(shell: InteractiveShell) -> None:
    assert run(shell, "%ne t = arange(N=2, K=2)") is shell.user_ns["t"]
    assert run(shell, "%ne N C, C | x, w") == {"N": 2, "C": 3}


def test_lists_and_numbers_are_operands(shell: InteractiveShell) -> None:
    shell.user_ns["row"] = [1, 2, 3]
    np.testing.assert_array_equal(run(shell, "%ne x[N C] * row[C] * k").numpy(), X * [3, 6, 9])


@pytest.mark.parametrize("option", ["-p", "--plan", ":plan"])
def test_the_plan_is_shown(shell: InteractiveShell, option: str) -> None:
    found = run(shell, f"%ne {option} N C, C -> N | x, w")
    assert isinstance(found, ne.Plan)
    assert found.text == "N C, C -> N"


@pytest.mark.parametrize("option", ["-c", "--code"])
def test_the_code_runs_and_is_shown_without_quotes(shell: InteractiveShell, option: str) -> None:
    found = run(shell, f"%%ne {option}\ny[N] = sum[C](x[N C] * w[C])\nz = y + 1")
    assert "z" not in shell.user_ns
    scope: dict[str, Any] = {}
    exec(found, scope)
    np.testing.assert_array_equal(scope["compute"](X, W), X @ W + 1)
    assert shell.display_formatter.format(found)[0]["text/plain"].strip() == found


@pytest.mark.parametrize("option", ["-t", "--type"])
def test_the_type_is_shown(shell: InteractiveShell, option: str) -> None:
    assert run(shell, f"%ne {option} sum[C](x)").startswith("N=2  float64")


def test_a_minus_is_no_option(shell: InteractiveShell) -> None:
    shell.user_ns["p"] = 2.0
    np.testing.assert_array_equal(run(shell, "%ne -p * x").numpy(), -2 * X)
    assert run(shell, "%ne -p") == -2
    assert isinstance(run(shell, "%ne --plan -p"), ne.Plan)
    assert run(shell, "%ne --p") == 2


def test_braces_and_dollars_are_not_expanded(shell: InteractiveShell, capsys: Any) -> None:
    assert "x + {k}" in shown(shell, "%ne x + {k}", capsys)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("%ne x * nope", "%ne: there is no tensor 'nope'\n  x * nope\n      ^^^^\n  help: there are x, w\n"),
        ("%ne N C, C -> N | x, ww", "%ne: there is no tensor 'ww'\n"),
        ("%ne x * text", "%ne: the variable 'text' is not a tensor, but a str\n"),
        ("%ne N C, C -> | x, w", "RuleError[NE217]: "),
        ("%ne N K => N | x, w", "ParseError[NE101]: "),
        ("%ne N C, C -> N | x, k", "SizeError[NE310]: "),
        ("%ne x +", "ParseError["),
        ("%ne", "%ne: there is nothing to compute\n"),
        ("%%ne\n# only this", "%ne: there is nothing to compute\n"),
        ("%ne --nope x", "%ne: there is no option '--nope'\n"),
        ("%ne :names", "%ne: there is no "),
        ("%ne !x", "%ne: Python needs no !"),
    ],
)
def test_a_mistake_ends_the_cell_and_is_shown_without_a_traceback(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], source: str, told: str
) -> None:
    before = set(shell.user_ns)
    printed = shown(shell, source, capsys)
    assert told in printed
    assert "Traceback" not in printed and 'File "' not in printed and "magics.py" not in printed
    assert set(shell.user_ns) == before


def test_a_mistake_stops_the_cell_and_can_be_caught(shell: InteractiveShell) -> None:
    shell.run_cell("%ne x[N K] * w\ndone = True\n%ne x[N] + 1\nafter = True")
    assert "after" not in shell.user_ns
    with pytest.raises(ne.NameExprError) as caught:
        shell.run_line_magic("ne", "N N -> N | x")
    assert caught.value.code == "NE401"


def test_names_with_escapes_come_out_harmless(shell: InteractiveShell, capsys: Any) -> None:
    assert "\x1b[31mred" not in shown(shell, "%ne x * '\x1b[31mred'", capsys)


def test_the_extension_can_be_unloaded_and_loaded_again(shell: InteractiveShell) -> None:
    run(shell, "%unload_ext nameexpr")
    assert shell.find_line_magic("ne") is shell.find_cell_magic("ne") is None
    run(shell, "%load_ext nameexpr")
    assert run(shell, "%ne k * 2") == 6


def test_nothing_imports_ipython_or_pygments() -> None:
    source = (
        "import sys, nameexpr as ne; ne.load_ipython_extension; x = ne.ones(2, names='N');"
        "x._repr_html_(); ne.compile('N -> N')._repr_html_();"
        "print({'IPython', 'pygments'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"
