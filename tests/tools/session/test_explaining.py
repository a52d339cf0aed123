"""`:explain` has a page about every mistake that a session reports."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import nameexpr
from nameexpr.session import session as sessions
from nameexpr.session.explaining import KINDS
from nameexpr.session.session import Session
from tools.session.helpers import said

PACKAGE = Path(nameexpr.__file__).parent


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.wrong])
def test_the_example_of_a_kind_is_wrong_and_then_right(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    kind = KINDS[name]
    assert session.run(kind.wrong).is_fault and session.last_fault.code == name
    page = " ".join(said(session, ":explain").split())
    assert page.startswith(f"{kind.title} {kind.about} ") and f" > {kind.wrong} > {kind.right[0]}" in page
    for line in kind.right:
        answer = session.run(line)
        assert not answer.is_fault, answer.text


@pytest.mark.parametrize(
    ("line", "title"),
    {
        "x * v": "tensor",
        "_ * 2": "tensor",
        ":save v v.npy": "tensor",
        "N -> N | x, 2..5": "operand",
        "N C -> C N | x, h=2.5": "operand",
        ":plan N C | x": "operand",
        "y = zeros(3": "factory",
        "y = zeros(N=3) + 1": "factory",
        "!1/0": "python",
        "y = !'text'": "python",
        "!(": "python",
        "!": "python",
        ":load q none.npy": "file",
        ":save x x.txt": "file",
        ":script none.ne": "file",
        ":draw nowhere/else.svg x * 2": "file",
        ":lod": "command",
        ":load": "command",
        ":undo now": "command",
        ":explain NE9999": "command",
        ":help qqqqqqqq": "command",
        ":set colour on": "setting",
        ":set precision": "setting",
        ":set optimize fast": "NE",
        "y = zeros(A=10000000, B=10000000)": "limit",
        "x * [": "NE",
        "sum[Q](x)": "NE",
    }.items(),
)
def test_every_kind_of_mistake_is_explained(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, title: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert session.run(line).is_fault
    page = session.run(":explain")
    assert not page.is_fault
    assert page.text.startswith(KINDS[title].title if title in KINDS else title)


def test_every_error_in_the_source_has_a_kind() -> None:
    used = set()
    for path in [*PACKAGE.glob("session/**/*.py"), *PACKAGE.glob("terminal/*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "LineError":
                codes = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
                used |= {value.value for value in codes if isinstance(value, ast.Constant)}
    assert used <= set(KINDS)
    assert set(KINDS) == used | {"command", "file", "internal"}, "no kind is explained that cannot occur"


def test_a_python_exception_is_explained_with_its_lines_and_its_class(session: Session) -> None:
    said(session, "!def f(a):\n  return a.foo\n")
    session.run("!f(\n  np.ones(3))")
    page = said(session, ":explain")
    assert 'File "<line>", line 1, in <module>\n    f(\n' in page
    assert "line 2, in f" in page and "AttributeError: 'numpy.ndarray' object has no attribute 'foo'" in page
    assert "constructors.py" not in page, "the frames of the package are left out"
    session.run("!1/0")
    assert "Second argument to a division or modulo operation was zero." in said(session, ":explain")


def test_an_exception_of_the_user_cannot_act_on_the_terminal(session: Session) -> None:
    session.run("!raise type('E\x1b[31m', (Exception,), {'__doc__': '\x1b'})('\x1b]0;t\x07')")
    assert not set(said(session, ":explain")) & {"\x1b", "\x07"}


def test_a_bug_is_explained_with_its_traceback(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*operands: object) -> None:
        raise ValueError("impossible")

    monkeypatch.setattr(sessions, "value_of", broken)
    assert "a bug of its own: ValueError: impossible" in said(session, "x * 2")
    page = said(session, ":explain")
    assert page.startswith(KINDS["internal"].title) and "in broken" in page


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_what_is_too_large_is_explained(
    session: Session, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def broken(*operands: object) -> None:
        raise error

    monkeypatch.setattr(sessions, "value_of", broken)
    assert session.run("x * 2").is_fault
    assert said(session, ":explain").startswith(KINDS["limit"].title)


def test_a_kind_can_be_asked_for_by_its_name(session: Session) -> None:
    for name, kind in KINDS.items():
        assert said(session, f":explain {name}").startswith(kind.title)
    answer = session.run(":explain pythn")
    assert answer.is_fault and "did you mean 'python'?" in answer.text
