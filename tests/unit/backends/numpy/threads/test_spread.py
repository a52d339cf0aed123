"""What threads share, decided by made-up costs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from nameexpr.backends.numpy import target
from nameexpr.backends.numpy.costs import GENERIC, Profile
from nameexpr.backends.numpy.threads import spread as spreading
from nameexpr.backends.numpy.threads.gain import SLOWED, Sharing, Spread, sharing_on
from nameexpr.backends.numpy.threads.spread import peak_bytes_over, spread_over
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Collected, Instruction, Loop, Note, Primitive, Program
from nameexpr.compiler.memory.program import peak_bytes
from nameexpr.records import replace

EXP = Instruction("pointwise", (0,), dtype="float64", function="exp", constants=(None,))


def fused(shape: tuple[int, ...], tiles: tuple[int, ...], axes: tuple[int, ...] = ()) -> Instruction:
    function = "sum" if axes else ""
    return Instruction(
        "fused", (0,), shape, axes, (), "float64", function, tiles=tiles, steps=(EXP,), factors=(1,)
    )


def program_of(operands: Sequence[tuple[int, ...]], *instructions: Instruction) -> Program:
    notes = tuple(Note((), "float64", None) for _ in instructions)
    last = len(operands) + len(instructions) - 1
    return Program(tuple(operands), instructions, notes, last, depends_on_layout=False)


def decided(
    monkeypatch: pytest.MonkeyPatch,
    program: Program,
    seconds: Sequence[float],
    threads: int = 2,
    limit: int | None = None,
    *,
    blas_threads: int = 1,
    profile: Profile = GENERIC,
) -> dict[int, Spread]:
    monkeypatch.setattr(spreading, "estimate_seconds", lambda *_: tuple(seconds))
    monkeypatch.setattr(target, "blas_threads", lambda: blas_threads)
    monkeypatch.setattr(target, "_choice", target.ChosenProfile(profile, target.TARGET))
    return spread_over(program, shapes_of(program), (), threads, limit)


HANDED = sharing_on(GENERIC, 2).handed


def test_what_is_short_stays_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of([(64, 64)], fused((64, 64), (4, 64)))
    assert decided(monkeypatch, program, [10 * HANDED])[0].threads == 2
    assert decided(monkeypatch, program, [HANDED]) == {}
    assert decided(monkeypatch, program, [10 * HANDED], threads=1) == {}


CALL = Instruction("pointwise", (0,), (64, 64), dtype="float64", function="exp", constants=(None,))


def test_blocks_are_shared_from_a_longer_time_on_than_a_single_call(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks, call = program_of([(64, 64)], fused((64, 64), (4, 64))), program_of([(64, 64)], CALL)
    several = program_of([(64, 64)], CALL._replace(function="clip"))
    assert decided(monkeypatch, call, [4 * HANDED]) == {}
    assert decided(monkeypatch, call, [6 * HANDED])
    for program in (blocks, several):
        assert decided(monkeypatch, program, [6 * HANDED]) == {}
        assert decided(monkeypatch, program, [9 * HANDED])


def test_what_is_normalised_in_several_blocks_shares_them_three_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    softmax = Instruction("along_axes", (0,), axes=(0,), function="softmax", dtype="float64")
    program = program_of([(1 << 12, 1 << 7)], softmax)
    shared = decided(monkeypatch, program, [1.0])[0]
    assert (shared.threads, shared.part) == (2, None)
    assert shared.bytes >= 2 * (1 << 7) * 8  # of two blocks
    assert shared.seconds == pytest.approx(3 * HANDED + SLOWED / 2)
    assert decided(monkeypatch, program, [7 * HANDED]) == {}
    small = program_of([(1 << 11, 1 << 7)], softmax)  # one block
    wide = program_of([(20, 1 << 20)], softmax)  # its sums take as much as the array
    for other in (small, wide):
        assert decided(monkeypatch, other, [1.0]) == {}
    cubes = program_of([(8, 1 << 12, 1 << 7)], softmax._replace(axes=(1,)))
    assert decided(monkeypatch, cubes, [1.0])[0].part is not None


@pytest.mark.parametrize("instruction", [fused((64, 64), (4, 64)), CALL])
def test_a_machine_on_which_handing_over_is_dear_keeps_work_on_one_thread(
    instruction: Instruction, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = program_of([(64, 64)], instruction)
    dear, cheap = (replace(GENERIC, handed_over=nanoseconds) for nanoseconds in (1e6, 1e2))
    shared = [bool(decided(monkeypatch, program, [4e-4], profile=one)) for one in (dear, GENERIC, cheap)]
    assert shared == [False, True, True]
    assert decided(monkeypatch, program, [1.0], profile=dear)


def test_parts_take_longer_where_handing_over_does(monkeypatch: pytest.MonkeyPatch) -> None:
    program, steps = program_of([(64, 64)], CALL), []
    for nanoseconds in (1e3, 1e5, 1.5e5):
        profile = replace(GENERIC, handed_over=nanoseconds)
        part = decided(monkeypatch, program, [1.6e-3], profile=profile)[0].part
        assert part is not None
        steps.append(part.step)
    assert steps == [4, 8, 16]


def test_the_expected_time_counts_the_blocks_of_the_busiest_thread() -> None:
    three = Sharing(2, 1e-5, 0.0, 0).worth(1.0, 3)
    assert three is not None
    assert three.seconds == pytest.approx(1e-5 + SLOWED * 2 / 3)
    many = Sharing(4, 1e-5, 0.0, 0).worth(1.0, 400)
    assert many is not None
    assert many.seconds == pytest.approx(3e-5 + SLOWED / 4)


def test_no_more_threads_than_blocks_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of([(3, 64)], fused((3, 64), (1, 64)))
    assert decided(monkeypatch, program, [1.0], threads=8)[0].threads == 3


@pytest.mark.parametrize(
    ("tiles", "axes", "threads", "keeps"),
    [
        ((4, 64), (1,), 2, False),
        ((4, 64), (0,), 2, True),
        ((8, 16), (0,), 2, False),
        ((8, 16), (0,), 8, True),
        ((4, 64), (0, 1), 2, True),
    ],
)
def test_blocks_of_kept_axes_are_shared_where_there_are_enough(
    tiles: tuple[int, int], axes: tuple[int, ...], threads: int, keeps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = program_of([(64, 64)], fused((64, 64), tiles, axes))
    found = decided(monkeypatch, program, [1.0], threads)[0]
    assert found.keeps_partials == keeps


def test_contributions_that_take_much_memory_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    size = 1 << 12
    program = program_of([(size, size)], fused((size, size), (1, size), (0,)))
    assert decided(monkeypatch, program, [1.0]) == {}
    large = replace(GENERIC, last_cache=1 << 31)
    assert decided(monkeypatch, program, [1.0], profile=large)[0].keeps_partials


def looped(size: int, *instructions: Instruction, combine: str = "add", dtype: str = "float64") -> Program:
    """Return a loop over 16 blocks of 4 rows, whose results are combined."""
    body = program_of([(4, size)], *instructions)
    blocks = Loop((64,), 4, ((0,),), body, None, (Collected(None, combine, dtype),), "a")
    return program_of([(64, size)], Instruction("loop", (0,), dtype="float64", loop=blocks))


ALONE = EXP._replace(shape=(4, 8))


@pytest.mark.parametrize(
    ("combine", "dtype", "is_shared"),
    [("add", "float64", True), ("maximum", "float64", False), ("add", "", False)],
)
def test_blocks_that_only_the_first_one_can_start_stay_on_one_thread(
    combine: str, dtype: str, is_shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = looped(8, ALONE, combine=combine, dtype=dtype)
    assert bool(decided(monkeypatch, program, [1.0])) == is_shared


def test_contributions_of_a_loop_are_counted_and_few(monkeypatch: pytest.MonkeyPatch) -> None:
    def bytes_of(profile: Profile) -> list[int]:
        found = decided(monkeypatch, looped(8, ALONE), [1.0], profile=profile)
        return [one.bytes for one in found.values()]

    contributions = 16 * 4 * 8 * 8
    (taken,) = bytes_of(GENERIC)
    assert taken >= contributions
    assert bytes_of(replace(GENERIC, last_cache=8 * contributions)) == [taken]
    assert bytes_of(replace(GENERIC, last_cache=8 * contributions - 1)) == []


def test_products_in_a_loop_are_left_to_a_blas_that_has_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    turned, product = Instruction("transpose", (0,), axes=(1, 0)), Instruction("matmul", (0, 1))
    for size, expected in ((8, [0]), (1 << 15, [])):
        program = looped(size, turned, product)
        assert list(decided(monkeypatch, program, [1.0], blas_threads=1)) == [0]
        assert list(decided(monkeypatch, program, [1.0], blas_threads=2)) == expected


def test_products_are_left_to_a_blas_that_has_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    product = Instruction("matmul", (0, 1))
    program = program_of([(64, 80), (80, 64)], product, fused((64, 80), (4, 80)))
    assert list(decided(monkeypatch, program, [1.0, 0.09])) == [1]
    assert decided(monkeypatch, program, [1.0, 0.09], blas_threads=2) == {}
    assert list(decided(monkeypatch, program, [1.0, 0.11], blas_threads=2)) == [1]
    batch = program_of([(8, 65, 65)] * 2, product, CALL._replace(sources=(2,), shape=(8, 65, 65)))
    assert list(decided(monkeypatch, batch, [1.0, 1.0])) == [0, 1]
    assert list(decided(monkeypatch, batch, [1.0, 1.0], blas_threads=2)) == [1]


@pytest.mark.parametrize(
    ("product", "shapes", "is_small"),
    [
        ("matmul", [(8, 64, 64)] * 2, True),
        ("matmul", [(8, 65, 65)] * 2, False),
        ("dot", [(64, 64)] * 2, True),
        ("dot", [(65, 65)] * 2, False),
        ("dot", [(96, 96), (96,)], True),
        ("dot", [(97, 97), (97,)], False),
        ("vecdot", [(99, 9216)] * 2, True),
        ("vecdot", [(99, 9217)] * 2, False),
    ],
)
def test_small_products_are_shared_whatever_the_threads_of_blas(
    product: Primitive, shapes: list[tuple[int, ...]], is_small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = program_of(shapes, Instruction(product, (0, 1)), fused(shapes[0], (1, *shapes[0][1:])))
    one, two = (decided(monkeypatch, program, [1e-2, 1e-2], blas_threads=count) for count in (1, 2))
    assert list(one) == ([1] if product == "dot" else [0, 1])
    assert two == (one if is_small else {})
    monkeypatch.setattr(target, "loaded_blas", lambda: (None, None))  # another, of which nothing is known
    assert decided(monkeypatch, program, [1e-2, 1e-2], blas_threads=2) == {}


def test_a_limit_of_memory_holds_for_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of([(64, 64)], fused((64, 64), (4, 64), (1,)))
    shapes = shapes_of(program)
    one = peak_bytes(program, shapes)
    found = decided(monkeypatch, program, [1.0], 3, limit=10 * one)
    most = peak_bytes_over(program, shapes, (), found)
    assert one < most < 3 * one
    assert decided(monkeypatch, program, [1.0], 3, limit=most) == found
    assert decided(monkeypatch, program, [1.0], 3, limit=most - 1) == {}
