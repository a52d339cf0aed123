"""Every primitive has a row in each of the tables."""

from __future__ import annotations

import re
from typing import get_args

from nameexpr.compiler.ir import program
from nameexpr.compiler.ir.primitives import PRIMITIVES, WORKING, is_view
from nameexpr.compiler.ir.program import Instruction, Primitive
from nameexpr.compiler.memory.program import SCRATCH


def test_every_primitive_has_a_row() -> None:
    assert tuple(PRIMITIVES) == get_args(Primitive)
    assert set(SCRATCH) <= set(PRIMITIVES)
    assert set(PRIMITIVES) >= WORKING


def test_every_primitive_is_in_the_grammar_of_programs() -> None:
    assert set(PRIMITIVES) <= set(re.findall(r"\w+", program.__doc__ or ""))


def test_an_instruction_shows_the_parameters_that_it_has() -> None:
    assert repr(Instruction("transpose", (0,), axes=(1, 0))) == "transpose(sources=(0,), axes=(1, 0))"
    assert repr(Instruction("constant", constants=(1.5,))) == "constant(constants=(1.5,))"


def test_views_have_one_source() -> None:
    views = {name for name in PRIMITIVES if is_view(Instruction(name))}
    assert views == {"reshape", "transpose", "diagonal", "window", "inside", "item", "as_real", "as_complex"}
