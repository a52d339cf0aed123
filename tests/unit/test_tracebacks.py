"""What users see of a wrong call: their own line and the error, wherever tracebacks are shown."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import nameexpr as ne

WRONG = {
    "an expression": 'ne.einsum("a b, c -> a", np.ones((2, 3)), np.ones(4))',
    "a formula": 'ne.evaluate("y[N K] = x[N C]", x=np.ones((2, 3)))',
    "a compiled text": 'ne.compile("a b -> a : sum")(np.ones(3))',
    "a method": 'ne.tensor(np.ones((2, 3)), names="N C").sum("D")',
    "an operator": 'ne.tensor(np.ones(2), names="N") + ne.tensor(np.ones(2), names="M")',
    "a function of NumPy's": 'np.sum(ne.tensor(np.ones(2), names="N"), axis="M")',
    "an index": 'ne.tensor(np.ones(2), names="N")[5]',
    "a number that is too large": 'ne.evaluate("y[i] = x[i] + 2 ** 4000", x=np.ones(2))',
    "an option": 'ne.einsum("a b -> b a", np.ones((2, 3)), colour=1)',
}
HEAD = "import numpy as np\nimport nameexpr as ne\n"


def output_of(*command: str, full: bool = False, cwd: Path | None = None) -> str:
    environment = {**os.environ, "NAMEEXPR_TRACEBACK": "full" if full else ""}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=cwd)
    return run.stdout + run.stderr


def frames_in(text: str, name: str = "") -> int:
    return sum(line.startswith("  File ") and name in line for line in text.splitlines())


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_a_script_shows_the_user_s_frames_alone(call: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"{HEAD}def work():\n    {call}\n\nwork()\n", encoding="utf-8")
    short = output_of(sys.executable, str(script))
    assert frames_in(short) == frames_in(short, "script.py") == 2, short
    assert "[NE" in short
    full = output_of(sys.executable, str(script), full=True)
    assert frames_in(full, "nameexpr") > 0, full
    assert "above exception" not in short
    assert full.splitlines()[-1] == short.splitlines()[-1]


def test_errors_raised_from_ours_are_short_too(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    call = WRONG["an expression"]
    script.write_text(
        f"{HEAD}try:\n    {call}\nexcept ne.NameExprError as error:\n    raise OSError('mine') from error\n",
        encoding="utf-8",
    )
    text = output_of(sys.executable, str(script))
    assert frames_in(text) == frames_in(text, "script.py") == 2, text
    assert "direct cause" in text
    assert text.splitlines()[-1] == "OSError: mine"


def test_other_errors_keep_their_frames(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"{HEAD}try:\n    ne.compile('a b')(1)\nexcept ValueError:\n    pass\n"
        "import json\njson.loads('{')\n",
        encoding="utf-8",
    )
    text = output_of(sys.executable, str(script))
    assert frames_in(text, "json") >= 2, text


def test_a_thread_shows_the_user_s_frames_alone(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    call = WRONG["a formula"]
    script.write_text(
        f"{HEAD}import threading\ndef work():\n    {call}\n\n"
        "thread = threading.Thread(target=work)\nthread.start()\nthread.join()\n",
        encoding="utf-8",
    )
    text = output_of(sys.executable, str(script))
    assert frames_in(text, "nameexpr") == 0, text
    assert frames_in(text, "script.py") == 1
    assert "[NE240]" in text


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_a_notebook_shows_the_user_s_frames_alone(call: str, tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    program = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance(colors='NoColor')\n"
        f"shell.run_cell({HEAD!r})\nshell.run_cell({call!r})\n"
    )
    text = output_of(sys.executable, "-c", program, cwd=tmp_path)
    assert "[NE" in text
    assert "nameexpr/" not in text, text
    assert "above exception" not in text
    assert call.split("(", maxsplit=1)[0] in text
    assert len(text.splitlines()) < 25, text
    assert "nameexpr/" in output_of(sys.executable, "-c", program, full=True, cwd=tmp_path)


def test_pytest_shows_the_user_s_frames_alone(tmp_path: Path) -> None:
    tests = "".join(f"def test_{number}():\n    {call}\n\n" for number, call in enumerate(WRONG.values()))
    (tmp_path / "test_wrong.py").write_text(f"{HEAD}\n{tests}", encoding="utf-8")
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(tmp_path))
    text = output_of(*command, cwd=tmp_path)
    assert f"{len(WRONG)} failed" in text
    assert "nameexpr/" not in text, text
    assert "nameexpr/" in output_of(*command, full=True, cwd=tmp_path)


def test_a_hook_of_someone_else_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    monkeypatch.setattr(sys, "excepthook", lambda *facts: shown.append(facts))
    before = sys.excepthook
    with pytest.raises(ne.NameExprError):
        ne.compile("a b ->")(1)
    assert sys.excepthook is before


X = np.ones((2, 3))
T, U = ne.tensor(X, names="N C"), ne.tensor(X, names="C N")
PUBLIC: dict[str, Callable[[], object]] = {
    "einsum": lambda: ne.einsum("a b, b c -> a c", X, X),
    "einsum of a text that ran": lambda: ne.einsum("a b -> b a", np.ones(2)),
    "einsum with out": lambda: ne.einsum("a b -> b a", X, out=X),
    "evaluate": lambda: ne.evaluate("y[N K] = x[N C]", x=X),
    "evaluate with options": lambda: ne.evaluate("y = x", x=X, outputs=["z"]),
    "evaluate by position": lambda: ne.evaluate("y = x", X),  # type: ignore[call-overload]
    "evaluate, refused by NumPy": lambda: ne.evaluate("y[N C] = x[N C] + 2 ** 4000", x=X),
    "compile": lambda: ne.compile("a b -> a"),
    "check": lambda: ne.check("a a", X),
    "explain": lambda: ne.explain("a b, b c -> a c", X, X),
    "a compiled expression": lambda: ne.compile("a b -> b a")(np.ones(2)),
    "a compiled formula": lambda: ne.compile("y = x")(z=X),
    "a plan": lambda: ne.compile("a b, b c -> a c").plan(X, X),
    "code": lambda: ne.compile("y = x").code,
    "bind": lambda: ne.compile("y = x + z").bind(q=X),
    "a method": lambda: T.sum("D"),
    "a keyword of a method": lambda: T.sum(dmi="C"),  # type: ignore[call-arg]
    "a method in place": lambda: T.div_(U),
    "a pointwise method": lambda: T.mul(U),
    "a method of one operand": lambda: ne.tensor([True]).neg(),
    "a function": lambda: ne.softmax(T, "D"),
    "a tensor": lambda: ne.tensor(X, names="N"),
    "+": lambda: T + U,
    "+=": lambda: T.__iadd__(U),
    "an array on the left": lambda: X + ne.tensor(np.ones(7)),
    "<": lambda: T < U,
    "@": lambda: T @ U,
    "an index": lambda: T["C"],
}


def raised_by(call: Callable[[], object]) -> ne.NameExprError:
    with pytest.raises(ne.NameExprError) as caught:
        call()
    return caught.value


def modules_of(error: BaseException) -> list[str]:
    return [
        frame.f_globals.get("__name__", "nameexpr") for frame, _ in traceback.walk_tb(error.__traceback__)
    ]


@pytest.mark.parametrize("call", PUBLIC.values(), ids=PUBLIC)
def test_an_error_leaves_public_functions_without_frames_of_the_package(call: Callable[[], object]) -> None:
    ne.einsum("a b -> b a", X)
    error = raised_by(call)
    assert {*modules_of(error)} == {__name__}
    assert error.__cause__ is None
    assert error.__context__ is None
    assert "nameexpr/" not in "".join(traceback.format_exception(error)).replace(__file__, "")


@pytest.mark.parametrize("call", PUBLIC.values(), ids=PUBLIC)
def test_the_full_traceback_has_all_frames(
    call: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAMEEXPR_TRACEBACK", "full")
    modules = modules_of(raised_by(call))
    assert any(module.startswith("nameexpr.") for module in modules)


def test_what_numpy_raised_is_the_cause_in_the_full_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_TRACEBACK", "full")
    error = raised_by(PUBLIC["evaluate, refused by NumPy"])
    assert isinstance(error.__cause__, OverflowError)


def test_what_was_being_handled_stays() -> None:
    try:
        raise KeyError("mine")
    except KeyError:
        error = raised_by(PUBLIC["evaluate, refused by NumPy"])
    assert isinstance(error.__context__, KeyError)
    assert not error.__suppress_context__


def test_an_exception_of_the_caller_s_reducer_has_no_cause_of_ours() -> None:
    def reduce(array: npt.NDArray[np.float64], axis: int) -> None:
        raise KeyError("mine") from OSError("its cause")

    with pytest.raises(KeyError, match="mine") as caught:
        ne.einsum("a b -> a", X, reduce=reduce)
    assert repr(caught.value.__cause__) == repr(OSError("its cause"))
    assert caught.value.__context__ is None
    assert modules_of(caught.value)[-1] == __name__


def test_frames_of_the_caller_s_code_that_the_package_called_stay() -> None:
    def reduce(array: npt.NDArray[np.float64], axis: int) -> npt.NDArray[np.float64]:
        return np.asarray(ne.einsum("a b -> b", array))  # which does not say how to combine a

    error = raised_by(lambda: ne.einsum("a b -> a", X, reduce=reduce))
    names = [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)]
    assert names[-2:] == ["<lambda>", "reduce"]
    assert {*modules_of(error)} == {__name__}


def test_an_error_that_is_its_own_cause_is_shortened() -> None:
    error = raised_by(PUBLIC["a method"])
    error.__cause__ = error
    error._forget_frames()
    assert error.__cause__ is None


@pytest.mark.parametrize("call", ["ne.tensor([1]).reshape(1)", "ne.plan"])
def test_a_script_leaves_out_where_a_missing_attribute_is_noticed(call: str) -> None:
    short = output_of(sys.executable, "-c", f"{HEAD}{call}")
    assert "AttributeError: " in short
    assert frames_in(short) == 1, short
    assert frames_in(output_of(sys.executable, "-c", f"{HEAD}{call}", full=True), "nameexpr") > 0


def test_pytest_leaves_out_where_a_missing_attribute_is_noticed(tmp_path: Path) -> None:
    calls = ("ne.tensor([1]).reshape(1)", "ne.plan('a -> a')")
    tests = "".join(f"def test_{number}():\n    {call}\n\n" for number, call in enumerate(calls))
    (tmp_path / "test_wrong.py").write_text(f"{HEAD}\n{tests}", encoding="utf-8")
    text = output_of(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(tmp_path), cwd=tmp_path)
    assert "2 failed" in text
    assert "nameexpr/" not in text, text
