"""The functions that run: what is bound in them, and that their source is the one that people read."""

from __future__ import annotations

import numpy as np
import pytest

from nameexpr.backends.numpy import formulas
from nameexpr.backends.numpy.codegen import function
from nameexpr.backends.numpy.codegen.function import bound_statements, function_code
from nameexpr.backends.numpy.codegen.source import Routine, source_of
from nameexpr.backends.numpy.kernels import c_einsum
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Note, Program
from oracle.generate import instructions as ir

X, Y = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)


def program(*instructions: Instruction, operands: tuple[tuple[int, ...], ...] = ((2, 3), (3, 4))) -> Program:
    notes = (Note((), "float64", None),) * len(instructions)
    return Program(operands, instructions, notes, len(operands) + len(instructions) - 1, False)


def run(compiled: Program, *operands: object) -> tuple[object, dict[str, object]]:
    constants: dict[str, object] = {"missing": None}
    statements = bound_statements(compiled, shapes_of(compiled), constants)
    exec(function_code([False] * len(operands), [], statements, constants), constants)
    return constants["call"](*operands), constants  # type: ignore[operator]


def test_functions_of_numpy_are_bound_by_their_path() -> None:
    result, constants = run(program(ir.matmul(0, 1), ir.add_up(2, (0,))), X, Y)
    np.testing.assert_array_equal(result, (X @ Y).sum(0))
    assert constants["np_matmul"] is np.matmul
    assert constants["np_add_reduce"] == np.add.reduce
    assert "np" not in constants


def test_einsum_is_bound_to_the_c_function_behind_it() -> None:
    result, constants = run(program(ir.einsum((0, 1), ((0, 1), (1, 2)), (0, 2))), X, Y)
    np.testing.assert_array_equal(result, X @ Y)
    assert constants["np_einsum"] is c_einsum


def test_dtypes_are_bound_by_their_name_unless_that_is_no_name_of_python() -> None:
    cast = ir.cast(0, "float32")
    result, constants = run(program(cast, operands=((2, 3),)), X)
    np.testing.assert_array_equal(result, X.astype("f4"), strict=True)
    assert constants["dtype_float32"] == np.dtype("float32")
    swapped = ir.cast(0, ">f4")
    result, constants = run(program(swapped, operands=((2, 3),)), X)
    np.testing.assert_array_equal(result, X.astype(">f4"), strict=True)
    assert not [name for name in constants if name.startswith("dtype")]


@pytest.mark.parametrize("returns_arrays", [True, False])
def test_a_result_without_dims_is_an_array(returns_arrays: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not returns_arrays:  # as before NumPy 2.3
        monkeypatch.setattr("nameexpr.backends.numpy.codegen.function._RETURNS_ARRAYS", False)
    result, constants = run(program(ir.add_up(0, (0, 1)), operands=((2, 3),)), X)
    np.testing.assert_array_equal(result, np.asarray(X.sum()), strict=True)
    assert type(result) is np.ndarray
    assert ("np_asarray" in constants) == (not function._RETURNS_ARRAYS)


def test_kernels_of_ours_are_bound_too() -> None:
    erf = ir.pointwise("erf", (0,), (None,), (2, 3), "float64")
    result, constants = run(program(erf, operands=((2, 3),)), X)
    np.testing.assert_array_equal(result, formulas.erf(X))
    assert constants["formulas_erf"] is formulas.erf


def test_ones_are_made_once_and_bound_by_the_name_of_their_value() -> None:
    result, constants = run(program(ir.ones((3,), "float64"), ir.dot(0, 1), operands=((2, 3),)), X)
    np.testing.assert_array_equal(result, X.sum(1))
    assert not constants["t0"].flags.writeable  # type: ignore[attr-defined]


def test_of_two_functions_to_paste_the_first_stands_last_and_imports_stand_once() -> None:
    whole = program(ir.repeat(0, (5, 2, 3)), operands=((2, 3),))
    prepared = program(ir.embed(0, (3, 3), (0, 0)), operands=((3,),))
    routines = [
        Routine(name, one, shapes_of(one), "text", ["term"], "result")
        for name, one in (("compute", whole), ("prepare", prepared))
    ]
    assert source_of(*routines).splitlines() == [
        "import numpy as np",
        "from nameexpr.backends.numpy import copies",
        "from nameexpr.backends.numpy import kernels",
        "",
        "",
        "def prepare(a0):",
        "    # text",
        "    # a0: term",
        "    return kernels.embed(a0, (3, 3), (0, 0))  # result",
        "",
        "",
        "def compute(a0):",
        "    # text",
        "    # a0: term",
        "    return copies.repeated(a0, (5, 2, 3))  # result",
    ]
