"""Generated code as data: how it is written, and that only the writer says what a function is called."""

from __future__ import annotations

import math

import pytest

from nameexpr.backends.numpy.codegen.calls import with_out
from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    Callee,
    Invocation,
    Numbering,
    Return,
    Statement,
    Value,
    callee_of,
    delete,
    either,
    indexed,
    literal,
    method,
    nested,
    numpy,
    quoted,
    text_of,
    write,
)
from nameexpr.compiler.ir.program import Note, Program
from oracle.generate import instructions as ir

ADD = numpy("add")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("t0", "t0"),
        (ADD, "np.add"),
        (ADD("a0", "a1"), "np.add(a0, a1)"),
        (ADD("a0", "a1", out=indexed("t0", "i0 : i0 + 4")), "np.add(a0, a1, out=t0[i0 : i0 + 4])"),
        (numpy("add.reduce")("a0", axis="1", dtype=None), "np.add.reduce(a0, axis=1)"),
        (method(ADD("a0", "a1"), "astype", quoted("int64")), 'np.add(a0, a1).astype("int64")'),
        (indexed(numpy("asarray")("a0"), "..."), "np.asarray(a0)[...]"),
        (either("r", "i0 == 0", ADD("t0", "r")), "r if i0 == 0 else np.add(t0, r)"),
        (Callee("kernels", "slices")(ADD, "a0", "(0,)"), "kernels.slices(np.add, a0, (0,))"),
        (Invocation("wrap", ("t0", "names"), {}), "wrap(t0, names)"),
    ],
)
def test_values_are_written_as_python(value: Value, text: str) -> None:
    assert text_of(value) == text


@pytest.mark.parametrize(
    "number", [0, -3, 2.5, 1e300, math.inf, -math.inf, math.nan, 2j, complex(1, -math.inf), True]
)
def test_literals_are_read_back_as_they_were(number: complex) -> None:
    found = eval(text_of(literal(number)), {"np": math, "complex": complex})
    assert type(found) is type(number)
    assert repr(found) == repr(number)


def test_only_functions_of_modules_are_spelled_by_the_writer() -> None:
    spelled: list[Callee] = []

    def spell(callee: Callee) -> str:
        spelled.append(callee)
        return f"f{len(spelled)}"

    value = either(method(ADD("np", "a1"), "add", "a2"), "np", Callee("kernels", "fold")(ADD, "x"))
    assert write([Assign("t0", value)], spell) == ["t0 = f1(np, a1).add(a2) if np else f3(f2, x)"]
    assert spelled == [ADD, ADD, Callee("kernels", "fold")]


def test_a_kernel_is_numpy_s_or_ours() -> None:
    assert [str(callee_of(kernel)) for kernel in ("exp", "erf")] == ["np.exp", "formulas.erf"]


def test_statements_have_their_indent_and_comments_where_names_are_given() -> None:
    body: list[Statement] = [
        Assign("x0", indexed("a0", "j0")),
        Assign(indexed("t0", "j0"), "x0"),
        Assign("t0", "x0", "+="),
        Assign(None, ADD("t0", "x0", out="t0")),
        *delete(["x0", "x0"]),
    ]
    comments = {"t0": "N C", "x0": "C", "return": "result"}
    lines = write([Assign("t0", "None"), *nested([("j0", "3")], body), Return(("t0",))], str, comments, "  ")
    assert lines == [
        "  t0 = None  # N C",
        "  for j0 in range(3):",
        "      x0 = a0[j0]  # C",
        "      t0[j0] = x0",
        "      t0 += x0",
        "      np.add(t0, x0, out=t0)",
        "      del x0",
        "  return t0  # result",
    ]


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        (Return(("t0",)), "return t0"),
        (Return(("t0",), is_tuple=True), "return t0,"),
        (Return(("t0", ADD("t1", "1")), is_tuple=True), "return t0, np.add(t1, 1)"),
    ],
)
def test_a_single_result_is_a_tuple_only_if_asked_for(statement: Return, line: str) -> None:
    assert write([statement], str) == [line]


def test_where_a_call_writes_is_added_to_its_options() -> None:
    call = numpy("multiply")("a0", "a1", dtype=quoted("float32"))
    assert text_of(with_out(call, "t0")) == 'np.multiply(a0, a1, dtype="float32", out=t0)'
    assert delete([]) == []


def test_values_inside_loops_are_numbered_on_and_keep_their_notes() -> None:
    notes = (Note(("N",), "float64", None), Note(("C",), "float64", None))
    body = Program(((2,),), (ir.copy(0), ir.copy(1)), notes, 2, depends_on_layout=False)
    numbering = Numbering()
    assert numbering.values(body) == ["v0", "v1"]
    numbering.skip([body])
    assert numbering.values(body) == ["v4", "v5"]
    assert numbering.notes == [*notes] * 3
