"""Whether a window overlaps, compared with counting its elements."""

from itertools import product

import pytest

from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.ir.windows import is_overlapping


def counted(window: Instruction, source: tuple[int, ...]) -> bool:
    """Return whether two indices of a window read the same element."""
    seen = set()
    for index in product(*map(range, window.shape)):
        place = tuple(
            offset + sum(step * number for step, number in zip(row, index, strict=True))
            for offset, row in zip(window.axes, window.letters, strict=True)
        )
        assert all(0 <= one < size for one, size in zip(place, source, strict=True))
        if place in seen:
            return True
        seen.add(place)
    return False


@pytest.mark.parametrize("first", [-3, -1, 1, 2, 3, 5])
@pytest.mark.parametrize("second", [-2, 0, 1, 2, 3, 4])
@pytest.mark.parametrize("sizes", [(1, 4), (2, 2), (3, 2), (2, 5), (0, 3), (4, 3)])
def test_overlap_along_one_dim_is_found_by_counting(first: int, second: int, sizes: tuple[int, int]) -> None:
    ends = [step * (size - 1) for step, size in zip((first, second), sizes, strict=True) if size]
    offset = -sum(min(end, 0) for end in ends)
    source = (offset + sum(max(end, 0) for end in ends) + 1,)
    window = Instruction("window", (0,), sizes, (offset,), ((first, second),))
    assert is_overlapping(window, source) == counted(window, source)


@pytest.mark.parametrize("rows", [((1, 1, 0), (0, 0, 1)), ((1, 0, 1), (0, 1, 1)), ((2, 1, 0), (0, 1, 2))])
def test_overlap_along_two_dims_is_found_by_counting(rows: tuple[tuple[int, ...], ...]) -> None:
    for sizes in product((1, 2, 3), repeat=3):
        source = tuple(
            sum(step * (size - 1) for step, size in zip(row, sizes, strict=True)) + 1 for row in rows
        )
        window = Instruction("window", (0,), sizes, (0, 0), rows)
        assert is_overlapping(window, source) == counted(window, source)
