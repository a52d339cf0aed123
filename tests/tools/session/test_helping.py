"""`:help WORD`, `WORD?`, and the signatures in the line below the input."""

from __future__ import annotations

import pytest

import nameexpr as ne
from nameexpr.ops import ALONG, CONSTANTS, OPERATORS, POINTWISE, REDUCTIONS
from nameexpr.session.explaining import KINDS
from nameexpr.session.feedback import completions, status
from nameexpr.session.lines import COMMANDS, FACTORIES
from nameexpr.session.session import Session
from nameexpr.session.settings import SETTINGS
from nameexpr.terminal.pages import codes
from tools.session.helpers import said

FUNCTIONS = {**POINTWISE, **REDUCTIONS, **ALONG}


@pytest.mark.parametrize("name", [*FUNCTIONS, *OPERATORS])
def test_every_function_and_operator_has_help(session: Session, name: str) -> None:
    row = FUNCTIONS.get(name) or OPERATORS[name]
    lines = said(session, f":help {name}").split("\n")
    assert row.usage in lines and f"  {row.doc}" in lines


@pytest.mark.parametrize(
    "word",
    [*FACTORIES, *CONSTANTS, "size", "index", *COMMANDS, *(f":{name}" for name in COMMANDS), *SETTINGS],
)
def test_every_word_of_a_session_has_help(session: Session, word: str) -> None:
    answer = session.run(f":help {word}")
    assert not answer.is_fault
    assert word.removeprefix(":") in answer.text.split("\n")[0]


@pytest.mark.parametrize(
    ("word", "usage"),
    [
        ("@", "H@place"),
        ("positions", "H@place"),
        ("parts", "(a + b)"),
        ("concat", "(a + b)"),
        ("recurrences", "h[(1 + T)] = 0, 0.9 * h[_@T] + x[T]"),
    ],
)
def test_forms_without_names_have_help(session: Session, word: str, usage: str) -> None:
    assert said(session, f":help {word}").startswith(f"{usage}\n  ")
    assert said(session, f"{word}?").startswith(usage)


def test_every_error_code_has_help(session: Session) -> None:
    for code in codes():
        assert said(session, f":help {code.lower()}").startswith(code)


@pytest.mark.parametrize(
    "line",
    ["softmax?", "?softmax", " softmax ? ", ":help softmax", "help softmax", "help(softmax)", ":h softmax"],
)
def test_help_can_be_asked_for_in_many_ways(session: Session, line: str) -> None:
    assert said(session, line).startswith("softmax[C](x)\n")
    assert session.entered == ["x = arange(N=2, C=3)", "w = ones(C=3)"], (
        "a question is not a part of a script"
    )


@pytest.mark.parametrize(
    ("line", "start"),
    {
        "softmax[C](x)?": "softmax[C](x)\n",
        "//?": "x // y\n",
        "x?": "x: N=2, C=3  int64  48 B\ntensor(",
        "C?": "C is a dim of x (3), w (3)",
        ":plan?": ":plan [TEXT]\n",
        "NE304?": "NE304 (SizeError)",
        "arctan2?": "arctan2 is called atan2 here:\natan2(y, x)\n",
        "np.outer?": "np.outer(a, b, out=None)\n  Compute the outer product",
        "!x.flatten?": "x.flatten(",
        "x.data.sum?": "x.data.sum(axis=None",
        "x.T?": "x.T\n",
        "?": "  x = randn(N=2, C=3)",
        "help": "  x = randn(N=2, C=3)",
        "help()": "  x = randn(N=2, C=3)",
    }.items(),
)
def test_what_help_shows(session: Session, line: str, start: str) -> None:
    answer = session.run(line)
    assert not answer.is_fault and answer.text.startswith(start)


def test_a_tensor_that_is_named_like_a_function_has_both_pages(session: Session) -> None:
    said(session, "max = ones(N=2)")
    text = said(session, "max?")
    assert text.startswith("max: N=2") and "\n\nmax[C](x)\n" in text


@pytest.mark.parametrize(
    ("word", "near"), {"sofmtax": "softmax", "pln": "plan", "precison": "precision"}.items()
)
def test_for_an_unknown_word_a_near_one_is_proposed(session: Session, word: str, near: str) -> None:
    answer = session.run(f"{word}?")
    assert answer.is_fault and answer.text.startswith(f"there is no help about '{word}'")
    assert f"did you mean '{near}'?" in answer.text


@pytest.mark.parametrize(
    "word", ["\x1b[31m", "np.nothing", "os.system", "x._data", "x.nothing", "__class__", "a b c"]
)
def test_what_has_no_help_is_told_safely(session: Session, word: str) -> None:
    answer = session.run(f":help {word}")
    assert answer.is_fault and answer.text.startswith("there is no help about") and "\x1b" not in answer.text
    assert "Python" not in session.run(f"{word}?").text


def test_a_comment_with_a_question_mark_asks_nothing(session: Session) -> None:
    assert said(session, "#what?") == said(session, "# what?") == ""


@pytest.mark.parametrize(
    ("line", "signature"),
    {
        "softmax": "softmax[C](x)  exponentials",
        "y = softmax[": "softmax[C](x)  exponentials",
        "y = softmax[C](": "softmax[C](x)  exponentials",
        "y = where(x > 0, sum[C](x), ": "where(condition, x, y)  ",
        "y = sum[C](softmax[N](x) * (w": "sum[C](x)  ",
        "y = where(sum[C](x": "sum[C](x)  ",
        "y = where(softmax[": "softmax[C](x)  exponentials",
        "y = randn(": "randn(N=2, C=3)  normally",
        "y = max": "max[C](x)  the largest",
        "y = soft": "softplus(x)  softmax[C](x)",
        "y = maxi": "maximum(x, y)  the larger one",
        ":load": ":load NAME[DIMS] FILE",
        ":load q ": ":load NAME[DIMS] FILE",
        ":plan softmax[": "softmax[C](x)  exponentials",
        ":help softmax": "softmax[C](x)  exponentials",
        "softmax?": "softmax[C](x)  exponentials",
        "!np.outer(x.data, ": "np.outer(a, b, out=None)",
        "!x.sum(": "x.sum(",
    }.items(),
)
def test_the_line_below_shows_the_signature(session: Session, line: str, signature: str) -> None:
    found = status(session, line)
    assert found.kind == "hint" and found.span is None
    usage, _, about = signature.partition("  ")
    assert found.text.startswith(usage) and about in found.text


@pytest.mark.parametrize("line", ["x[", "q(", "(x", "y = x * (w", "!(", "!os.system("])
def test_brackets_that_call_nothing_known_have_no_signature(session: Session, line: str) -> None:
    assert status(session, line).text in ("a bracket is still open", "Python: Enter runs it")


def test_a_whole_text_has_its_type_below_it_even_if_it_ends_in_a_name(session: Session) -> None:
    said(session, "max = ones(N=2)")
    assert status(session, "max").kind == "type"
    assert status(session, "x * w").kind == "type"


def test_what_there_is_help_about_is_offered(session: Session) -> None:
    offered = {completion.text for completion in completions(session, ":help ", 6)}
    assert {"softmax", "x", "plan", "dtype", "randn"} <= offered
    kinds = {completion.text for completion in completions(session, ":explain ", 9)}
    assert set(KINDS) <= kinds


def test_a_method_is_found_through_a_tensor_without_being_called(session: Session) -> None:
    assert said(session, "x.sum?").startswith("x.sum(") and isinstance(session.tensors["x"], ne.NamedTensor)


def test_no_property_is_computed_for_help(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def computed(tensor: object) -> None:
        pytest.fail("it may take long")

    monkeypatch.setattr(ne.NamedTensor, "T", property(computed, doc="Return it turned."))
    assert said(session, "x.T?") == "x.T\n  Return it turned."
    assert status(session, "!x.T(").text == "Python: Enter runs it"
    assert said(session, "x.T.sum?").startswith("there is no help")
