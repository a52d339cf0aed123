"""What a line is taken for."""

from __future__ import annotations

import pytest

from nameexpr.session.lines import (
    CommandLine,
    EmptyLine,
    ExpressionLine,
    FactoryLine,
    FormulaLine,
    PythonLine,
    read_line,
)
from nameexpr.terminal.faults import LineError

LINES = {
    "": EmptyLine,
    "   # a comment": EmptyLine,
    ":plan x * 2": CommandLine,
    " : names": CommandLine,
    "!x.sum()": PythonLine,
    "z = !np.ones(3)": PythonLine,
    "z[N C] = !np.ones((2, 3))": PythonLine,
    "x = randn(N=2, C=3)": FactoryLine,
    "x = ones()": FactoryLine,
    "N C, C -> N": ExpressionLine,
    "N C, C -> N : max | x, w": ExpressionLine,
    "N (h d) -> N h d | x, h=2": ExpressionLine,
    "N C, C": ExpressionLine,
    "N C | x": ExpressionLine,
    "batch=N C -> C batch": ExpressionLine,
    "N C => N": ExpressionLine,
    "N C → N": ExpressionLine,
    "y[N] = sum[C](x[N C])": FormulaLine,
    "x": FormulaLine,
    "x * 2": FormulaLine,
    "x | y": FormulaLine,
    "x != y": FormulaLine,
    "-x": FormulaLine,
    "sqrt(x)": FormulaLine,
    "2": FormulaLine,
    "_": FormulaLine,
    "x *": FormulaLine,
    "x = randn * 2": FormulaLine,
    "x = 2 # randn(N=2)": FormulaLine,
    "a = !=": FormulaLine,
}


@pytest.mark.parametrize(("line", "kind"), LINES.items())
def test_the_line_is_taken_for_what_it_says(line: str, kind: type) -> None:
    assert type(read_line(line)) is kind


def test_operands_stand_behind_the_bar_with_their_places() -> None:
    line = "N C, C -> N | x,  w # those"
    read = read_line(line)
    assert isinstance(read, ExpressionLine) and read.operands is not None
    assert read.text == "N C, C -> N"
    assert [word.text for word in read.operands] == ["x", "w"]
    assert [line[word.span.start : word.span.end] for word in read.operands] == ["x", "w"]


def test_a_command_knows_where_its_argument_begins() -> None:
    read = read_line("  :plan   x * 2 ")
    assert isinstance(read, CommandLine)
    assert (read.name, read.argument, read.start) == ("plan", "x * 2", 10)


def test_python_has_its_target_and_its_names() -> None:
    assert read_line("z[N C] = !np.ones(3) + 1") == PythonLine("np.ones(3) + 1", "z", "N C")
    assert read_line("! x == 1") == PythonLine("x == 1")


@pytest.mark.parametrize("line", ["x = randn(N=2", "x = randn(N=2) + 1", "x = zeros(N=2))"])
def test_a_factory_that_does_not_end_is_a_mistake(line: str) -> None:
    with pytest.raises(LineError) as fault:
        read_line(line)
    assert fault.value.span is not None and fault.value.hint


def test_pieces_of_a_factory_are_kept_apart() -> None:
    read = read_line("x = rand( N = 2,C=3 ,)  # random")
    assert isinstance(read, FactoryLine)
    assert [piece.text for piece in read.pieces] == ["N = 2", "C=3"]
