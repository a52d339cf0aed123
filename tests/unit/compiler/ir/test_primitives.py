"""Every primitive has a row in each of the tables, and a constructor that says what it is."""

from __future__ import annotations

import inspect
from typing import get_args

from nameexpr.compiler.ir import instructions
from nameexpr.compiler.ir.primitives import PRIMITIVES, WORKING, is_view
from nameexpr.compiler.ir.program import Instruction, Primitive
from nameexpr.compiler.memory.program import SCRATCH


def test_every_primitive_has_a_row() -> None:
    assert tuple(PRIMITIVES) == get_args(Primitive)
    assert set(SCRATCH) <= set(PRIMITIVES)
    assert set(PRIMITIVES) >= WORKING


def test_every_primitive_has_a_constructor() -> None:
    functions = {
        name
        for name, function in inspect.getmembers(instructions, inspect.isfunction)
        if function.__annotations__.get("return") == "Instruction"
    }
    assert {"sum" if name == "add_up" else name for name in functions} == set(PRIMITIVES)


def test_an_instruction_shows_the_parameters_that_it_has() -> None:
    assert repr(instructions.transpose(0, (1, 0))) == "transpose(sources=(0,), axes=(1, 0))"
    assert repr(Instruction("constant", constants=(1.5,))) == "constant(constants=(1.5,))"


def test_views_have_one_source() -> None:
    views = {name for name in PRIMITIVES if is_view(Instruction(name))}
    assert views == {"reshape", "transpose", "diagonal", "as_real", "as_complex"}
