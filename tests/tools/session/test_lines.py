"""What a line is taken for."""

from __future__ import annotations

import pytest

from nameexpr.session.faults import LineError
from nameexpr.session.lines import Command, Expression, Formula, Make, Nothing, Python, read_line

LINES = {
    "": Nothing,
    "   # a comment": Nothing,
    ":plan x * 2": Command,
    " : names": Command,
    "!x.sum()": Python,
    "z = !np.ones(3)": Python,
    "z[N C] = !np.ones((2, 3))": Python,
    "x = randn(N=2, C=3)": Make,
    "x = ones()": Make,
    "N C, C -> N": Expression,
    "N C, C -> N : max | x, w": Expression,
    "N (h d) -> N h d | x, h=2": Expression,
    "N C, C": Expression,
    "N C | x": Expression,
    "batch=N C -> C batch": Expression,
    "N C => N": Expression,
    "N C → N": Expression,
    "y[N] = sum[C](x[N C])": Formula,
    "x": Formula,
    "x * 2": Formula,
    "x | y": Formula,
    "x != y": Formula,
    "-x": Formula,
    "sqrt(x)": Formula,
    "2": Formula,
    "_": Formula,
    "x *": Formula,
    "x = randn * 2": Formula,
    "x = 2 # randn(N=2)": Formula,
    "a = !=": Formula,
}


@pytest.mark.parametrize(("line", "kind"), LINES.items())
def test_the_line_is_taken_for_what_it_says(line: str, kind: type) -> None:
    assert type(read_line(line)) is kind


def test_operands_stand_behind_the_bar_with_their_places() -> None:
    line = "N C, C -> N | x,  w # those"
    read = read_line(line)
    assert isinstance(read, Expression) and read.operands is not None
    assert read.text == "N C, C -> N"
    assert [word.text for word in read.operands] == ["x", "w"]
    assert [line[word.span.start : word.span.end] for word in read.operands] == ["x", "w"]


def test_a_command_knows_where_its_argument_begins() -> None:
    read = read_line("  :plan   x * 2 ")
    assert isinstance(read, Command)
    assert (read.name.text, read.argument, read.start) == ("plan", "x * 2", 10)


def test_python_has_its_target_and_its_names() -> None:
    assert read_line("z[N C] = !np.ones(3) + 1") == Python("np.ones(3) + 1", "z", "N C")
    assert read_line("! x == 1") == Python("x == 1")


@pytest.mark.parametrize("line", ["x = randn(N=2", "x = randn(N=2) + 1", "x = zeros(N=2))"])
def test_a_factory_that_does_not_end_is_a_mistake(line: str) -> None:
    with pytest.raises(LineError) as fault:
        read_line(line)
    assert fault.value.span is not None and fault.value.hint


def test_pieces_of_a_factory_are_kept_apart() -> None:
    read = read_line("x = rand( N = 2,C=3 ,)  # random")
    assert isinstance(read, Make)
    assert [piece.text for piece in read.pieces] == ["N = 2", "C=3"]
