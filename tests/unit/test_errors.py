"""Errors as objects: families, parts and text, and that they travel whole between threads and processes."""

from __future__ import annotations

import copy
import pickle
import re
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nameexpr as ne
from cases.case_files import fault_of, read_cases
from nameexpr import errors
from nameexpr.carets import marked_text, visible, width
from nameexpr.errors import Diagnostic, Mark, OperandInfo, Span, did_you_mean, error
from nameexpr.terminal.faults import LineError

CASES = read_cases("expressions")
BUILTINS = {
    ne.ParseError: ValueError,
    ne.RuleError: ValueError,
    ne.SizeError: ValueError,
    ne.DimNameError: RuntimeError,
    ne.OperandError: TypeError,
    ne.OptionError: TypeError,
    ne.LimitError: MemoryError,
    ne.DimRangeError: IndexError,
}


@pytest.mark.parametrize(("kind", "builtin"), BUILTINS.items(), ids=lambda kind: kind.__name__)
def test_each_family_is_ours_a_value_error_and_the_builtin_that_fits(
    kind: type[ne.NameExprError], builtin: type[Exception]
) -> None:
    assert issubclass(kind, ne.NameExprError) and issubclass(kind, ValueError) and issubclass(kind, builtin)
    assert kind in vars(errors).values()


@pytest.mark.parametrize("digit", range(1, 9))
def test_the_first_digit_of_a_code_gives_the_family(digit: int) -> None:
    assert type(error(Diagnostic(f"NE{digit}99", "wrong"))) is list(BUILTINS)[digit - 1]


def clash() -> ne.NameExprError:
    return fault_of('ne.einsum("batch chan, chan out -> batch out", ones(2, 3), ones(5, 4))')


def test_an_error_has_code_spans_operands_and_hint() -> None:
    fault = clash()
    assert fault.code == "NE304"
    assert fault.spans == (Span(6, 10), Span(12, 16))
    assert [operand.shape for operand in fault.operands] == [(2, 3), (5, 4)]
    assert fault.operands[0].labels == ("batch=2", "chan=3")
    assert fault.hint.startswith("if these are different dims")
    assert fault.diagnostics[0].text == "batch chan, chan out -> batch out"


def marked(fault: ne.NameExprError) -> list[str]:
    return [fault.text[span.start : span.end] for span in fault.spans]


def test_the_spans_of_an_error_mark_its_text() -> None:
    assert marked(clash()) == ["chan", "chan"]
    left_out = fault_of('ne.einsum("-> h", named("H", 2))')
    assert left_out.text == "H -> h" and marked(left_out) == ["H", "h"]
    called = fault_of('named("N C", 2, 3).rename(Z="a")')
    assert called.text == "rename(Z='a')" and marked(called) == ["Z='a'"]
    assert fault_of("ne.einsum(1)").text == ""


LABELS = st.sampled_from(
    ["a", "B", "größe", "(a b)", "b=2", "...", "a...", "3", "_", "(", "é=", ":", ",", "-"]
)


@given(st.lists(LABELS, max_size=4), st.lists(LABELS, max_size=4), st.booleans())
def test_every_span_lies_in_the_text_of_its_mistake(
    inputs: list[str], outputs: list[str], is_left_out: bool
) -> None:
    text = f"{'' if is_left_out else ' '.join(inputs)} -> {' '.join(outputs)}"
    x = ne.tensor(np.ones((2, 3)), names="a größe")
    with suppress(ne.NameExprError):
        ne.einsum(text, x)
        return
    with pytest.raises(ne.NameExprError) as caught:
        ne.einsum(text, x)
    assert caught.value.text == caught.value.diagnostics[0].text
    for one in caught.value.diagnostics:
        assert all(0 <= mark.span.start <= mark.span.end <= len(one.text) for mark in one.marks)
        assert is_left_out or not inputs or one.text == text


MANY = 2_000
LONG: dict[str, Callable[[], object]] = {
    "unknown sizes": lambda: ne.einsum("a -> a", np.ones(2), sizes={f"k{i}": 2 for i in range(MANY)}),
    "groups without sizes": lambda: ne.einsum(
        f"a -> {' '.join(f'(b{i} c)' for i in range(1000))}", np.ones(2)
    ),
    "operands of other dims": lambda: ne.einsum(
        f"{', '.join(['a b c'] * 1000)} -> a", *[np.ones((2, 2))] * 1000
    ),
    "operands of other sizes": lambda: ne.einsum(
        f"{', '.join(['a'] * 1000)} -> a", *map(np.ones, range(1, 1001))
    ),
    "too many operands": lambda: ne.einsum("a -> a", *[np.ones(2)] * MANY),
    "long names": lambda: ne.einsum(
        "a -> a", ne.tensor([1], names=("x" * 50_000,)), ne.tensor([1], names=("y" * 50_000,))
    ),
    "arguments": lambda: ne.zeros(*[-1] * MANY),
    "a name of words": lambda: ne.zeros(1, names=("x " * MANY,)),
    "new dims": lambda: ne.zeros(2).unflatten(0, [(f"k{i}", 2) for i in range(MANY)]),
    "operands of a formula": lambda: ne.evaluate("x[a]", **{f"k{i}": 1.0 for i in range(MANY)}),
    "a path": lambda: ne.einsum("a, a -> a", [1], [1], optimize=[(i, i + 1) for i in range(MANY)]),
}


@pytest.mark.parametrize("name", LONG)
def test_an_error_is_short_however_much_is_wrong(name: str) -> None:
    with pytest.raises(ne.NameExprError) as caught:
        LONG[name]()
    assert len(str(caught.value)) <= 20_000


def test_what_is_left_out_of_an_error_is_counted() -> None:
    fault = error(*[Diagnostic("NE602", f"mistake {i}") for i in range(1000)])
    assert str(fault).splitlines()[-2:] == ["OptionError[NE602]: mistake 19", "... and 980 more mistakes"]
    assert len(fault.diagnostics) == 1000
    operands = tuple(OperandInfo(i, (i,), is_told=i == 700) for i in range(1000))
    rows = Diagnostic("NE310", "operand 700 has 1 dim", operands=operands).render().splitlines()
    assert rows[-3:] == ["  operand 15   (15,)", "  operand 700  (700,)", "  ... and 983 more operands"]
    assert not any(
        "more" in row for row in Diagnostic("NE310", "", operands=operands[:16]).render().splitlines()
    )


def test_an_error_names_its_operands_as_they_are() -> None:
    fault = fault_of('ne.einsum("N C -> C N", named("batch C", 2, 3))')
    assert fault.operands == (OperandInfo(0, (2, 3), ("batch", "C"), ("N=2", "C=3"), is_told=True),)


def test_the_first_mistake_speaks_for_all() -> None:
    fault = fault_of('ne.einsum("a b, a b -> a b", ones(2, 3), ones(4, 5))')
    assert [one.code for one in fault.diagnostics] == ["NE304", "NE304"]
    assert fault.spans == tuple(mark.span for mark in fault.diagnostics[0].marks)
    assert str(fault) == "\n".join(one.render() for one in fault.diagnostics)


def test_no_error_of_the_parser_behind_shines_through() -> None:
    for case in CASES:
        fault = fault_of(case.source)
        assert not re.search(r"\blark\b|Traceback|Unexpected|Token\(", str(fault)), case.title
        if fault.code.startswith("NE1"):
            assert fault.__suppress_context__ or fault.__context__ is None, case.title


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda fault: pickle.loads(pickle.dumps(fault))]
)
def test_errors_can_be_copied_and_pickled(copied: object) -> None:
    for case in CASES:
        fault = fault_of(case.source)
        again = copied(fault)
        assert type(again) is type(fault)
        assert again.diagnostics == fault.diagnostics and str(again) == str(fault)
        assert again.args == fault.args and repr(again) == repr(fault)


def test_an_error_comes_back_from_another_process() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = pool.submit(ne.check, "N C", np.ones(2)).exception()
    with pytest.raises(ne.SizeError) as here:
        ne.check("N C", np.ones(2))
    assert type(there) is ne.SizeError
    assert str(there) == str(here.value)


def test_threads_raise_their_own_errors() -> None:
    start = threading.Barrier(8)

    def wrong(number: int) -> list[str]:
        start.wait()
        return [
            str(fault_of(f'ne.einsum("a b, b -> a", ones(2, {number}), ones({number + 1 + k % 3}))'))
            for k in range(40)
        ]

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(wrong, range(2, 10)))
    for number, texts in zip(range(2, 10), told, strict=True):
        for k, text in enumerate(texts):
            assert f"'b' is {number} in operand 0 and {number + 1 + k % 3} in operand 1" in text


def test_a_wrong_call_leaves_the_next_one_right() -> None:
    for case in CASES:
        fault_of(case.source)
        assert ne.einsum("a b -> b a", np.ones((2, 3))).shape == (3, 2)
    first, second = (str(fault_of(CASES[0].source)) for _ in range(2))
    assert first == second


def test_the_same_mistake_is_told_alike_by_einsum_and_compile() -> None:
    for text in ("a b => b a", "a b -> a", "a b -> c : sum max", "(a, b) -> a", "a... b... -> a..."):
        with pytest.raises(ne.NameExprError) as called:
            ne.einsum(text, np.ones((2, 3)))
        with pytest.raises(ne.NameExprError) as compiled:
            ne.compile(text)
        assert str(called.value) == str(compiled.value)


def test_did_you_mean_finds_what_is_near_and_nothing_else() -> None:
    assert did_you_mean("chanel", ["batch", "channel"]) == "did you mean 'channel'?"
    assert did_you_mean("BATCH", ["batch"]) == "did you mean 'batch'?"
    assert did_you_mean("chan", ["batch", "chan"]) == ""
    assert did_you_mean("x", []) == ""


marks = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 40), st.sampled_from(["", "3", "no operand"])), max_size=4
)


@given(st.text(st.sampled_from("ab \n\té幅🐈\x1b\u202e\ud800\u0301"), max_size=40), marks)
def test_carets_stand_below_what_they_mark(text: str, found: list[tuple[int, int, str]]) -> None:
    inside = [(min(a, b, len(text)), min(max(a, b), len(text)), note) for a, b, note in found]
    lines = marked_text(text, inside)
    assert all(line.isprintable() for line in lines)
    if len(inside) == 1 and "\n" not in text:
        start, end, _ = inside[0]
        assert lines[1] == " " * width(visible(text[:start])) + "^" * max(1, width(visible(text[start:end])))


def test_a_diagnostic_without_text_has_no_carets() -> None:
    assert Diagnostic("NE601", "wrong").render() == "OptionError[NE601]: wrong"
    assert Diagnostic("NE601", "wrong", hint="right").render() == "OptionError[NE601]: wrong\n  help: right"


def test_the_head_and_the_carets_are_set_off() -> None:
    fault = error(Diagnostic("NE304", "no", "a b", (Mark(Span(2, 3), "2"),), hint="yes"))
    assert fault.render("<{}>".format) == "<SizeError[NE304]: no>\n  a b\n  <  ^>\n    2\n  help: yes"
    line = LineError("no", "a b", Span(2, 3), "yes")
    assert line.render("<{}>".format) == "<no>\n  a b\n  <  ^>\n  help: yes"


def test_a_mark_at_the_end_of_the_text_has_one_caret() -> None:
    assert Diagnostic("NE126", "wrong", "a =", (Mark(Span(3, 3)),)).render().splitlines()[1:] == [
        "  a =",
        "     ^",
    ]
