"""Which calls are a chain, for made-up times."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from nameexpr.backends.numpy.threads.chains import chains
from nameexpr.backends.numpy.threads.gain import Sharing, Spread
from nameexpr.compiler.ir.normalising import BLOCK
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Note, Program, Shape
from nameexpr.compiler.memory.program import info_of, peak_bytes

SHARING = Sharing(2, 1e-5, 1e-4, 1 << 20)
MATRIX, ROW = (64, 32), (64,)


def call(function: str, sources: tuple[int, ...], shape: Shape, over: int | None = None) -> Instruction:
    constants = (None,) * len(sources)
    made = Instruction("pointwise", sources, shape, dtype="float64", function=function, constants=constants)
    return made._replace(over=over)


def found(
    operands: Sequence[Shape],
    *instructions: Instruction,
    times: Sequence[float] = (),
    alone: Sequence[int] = (),
    limit: int | None = None,
) -> dict[int, Spread]:
    notes = tuple(Note((), "float64", None) for _ in instructions)
    last = len(operands) + len(instructions) - 1
    program = Program(tuple(operands), instructions, notes, last, depends_on_layout=False)
    info = info_of(program, shapes_of(program), ())
    seconds = times or [1e-3] * len(instructions)
    return chains(info, seconds, SHARING, lambda number: number not in alone, limit)


def test_calls_that_read_each_others_parts_are_one_chain() -> None:
    column = Instruction("reshape", (2,), (64, 1))
    divided = call("divide", (1, 3), MATRIX, 0)
    chain = found([MATRIX], call("exp", (0,), MATRIX), Instruction("vecdot", (1, 1)), column, divided)
    assert list(chain) == [0, 1, 3]
    assert {one.last for one in chain.values()} == {3}
    assert [one.part.cuts for one in chain.values() if one.part] == [(0,), (0, 0), (0, 0)]
    assert len({one.part.step for one in chain.values() if one.part}) == 1
    assert sum(one.seconds for one in chain.values()) < 0.6 * 3e-3


def test_a_value_that_is_read_as_a_whole_is_computed_before() -> None:
    assert found([ROW, (64, 64)], call("exp", (0,), ROW), call("add", (1, 2), (64, 64))) == {}
    assert found([ROW, (64, 64)], call("exp", (0,), ROW), call("sqrt", (2,), ROW)).keys() == {0, 1}


def test_what_was_read_as_a_whole_is_not_written_over_in_parts() -> None:
    first, added = call("exp", (0,), ROW), call("add", (1, 2), (64, 64))
    for over, expected in ((None, {1, 2}), (0, set[int]())):
        root = call("sqrt", (2,), ROW, over)
        assert found([ROW, (64, 64)], first, added, root, alone=[0]).keys() == expected


def test_transposed_values_are_other_parts() -> None:
    turned = Instruction("transpose", (1,), axes=(1, 0))
    assert found([(64, 64)], call("exp", (0,), (64, 64)), turned, call("sqrt", (2,), (64, 64))) == {}


def test_a_value_in_parts_is_not_read_through_a_transposed_view() -> None:
    turned, added = Instruction("transpose", (2,), axes=(1, 0)), call("add", (3, 1), (64, 64))
    assert found([(64, 64)] * 2, call("exp", (0,), (64, 64)), turned, added) == {}


def test_what_is_read_transposed_is_not_written_over_in_parts() -> None:
    first, turned = call("exp", (0,), (64, 64)), Instruction("transpose", (1,), axes=(1, 0))
    added = call("add", (2, 0), (64, 64))
    for over, expected in ((None, {2, 3}), (0, set[int]())):
        root = call("sqrt", (1,), (64, 64), over)
        assert found([(64, 64)], first, turned, added, root, alone=[0]).keys() == expected


def test_views_of_operands_between_calls_do_not_end_a_chain() -> None:
    column, added = Instruction("reshape", (1,), (64, 1)), call("add", (2, 3), MATRIX)
    assert found([MATRIX, ROW], call("exp", (0,), MATRIX), column, added).keys() == {0, 2}


def test_parts_of_a_chain_are_whole_blocks_of_what_is_normalised_in_blocks() -> None:
    def softmax(source: int) -> Instruction:
        return Instruction("along_axes", (source,), axes=(1,), function="softmax", dtype="float64")

    shape = (64, 128, 64)
    other = (64, 128, 32)
    block = BLOCK // (128 * 64)
    chain = found([shape], softmax(0), call("exp", (1,), shape))
    assert chain.keys() == {0, 1}
    assert all(one.part and one.part.step % block == 0 for one in chain.values())
    assert found([shape, other], softmax(0), softmax(1)) == {}


def test_calls_along_other_sizes_are_another_chain() -> None:
    first = call("exp", (0,), MATRIX), call("sqrt", (2,), MATRIX)
    chain = found([MATRIX, (48,)], *first, call("exp", (1,), (48,)), call("sqrt", (4,), (48,)))
    assert [one.last for one in chain.values()] == [1, 1, 3, 3]


@pytest.mark.parametrize(
    ("times", "expected"),
    [((1e-6, 1e-3, 1e-6, 1e-3), [1, 2, 3]), ((1e-3, 1e-6, 1e-6, 1e-6), []), ((1e-5,) * 4, [])],
)
def test_short_calls_at_the_ends_are_left_out(times: Sequence[float], expected: list[int]) -> None:
    program = [call("exp", (number,), MATRIX) for number in range(4)]
    assert list(found([MATRIX], *program, times=times)) == expected


def test_memory_that_a_chain_keeps_is_counted() -> None:
    program = [call("exp", (number,), MATRIX) for number in range(4)]
    last = found([MATRIX], *program)[3]
    arrays, casts = 2 * 64 * 32 * 8, 2 * 4 * 32 * 8  # without the chain two of four arrays are alive at once;
    assert last.bytes == arrays + casts  # threads may cast a part of the operand each, of four rows
    whole = Program((MATRIX,), tuple(program), (Note((), "float64", None),) * 4, 4, depends_on_layout=False)
    most = peak_bytes(whole, shapes_of(whole))
    assert found([MATRIX], *program, limit=most + last.bytes).keys() == {0, 1, 2, 3}
    assert found([MATRIX], *program, limit=most + last.bytes - 1) == {}
    large = [call("exp", (number,), (64, 1 << 12)) for number in range(4)]
    assert found([(64, 1 << 12)], *large) == {}
