"""What is known of the memory that operands lie in."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.records import record

Shape = tuple[int, ...]
Strides = tuple[int, ...]


class Layout(tuple[int, ...]):
    """Strides of an array in bytes, with what else is to be known of how it lies in memory.

    `item` are the bytes of a cell; `is_swapped` says that cells are in a foreign byte order, `is_uneven` that
    some do not lie at a multiple of their size. It is equal only to a layout that agrees in all of this.
    """

    item: int
    is_swapped: bool
    is_uneven: bool

    def __new__(cls, strides: Strides, item: int, is_swapped: bool, is_uneven: bool) -> Layout:  # noqa: D102
        layout = super().__new__(cls, strides)
        layout.item, layout.is_swapped, layout.is_uneven = item, is_swapped, is_uneven
        return layout

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and tuple(self) == tuple(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((tuple(self), self.is_uneven))


@record
class OperandLayout:
    """An operand's dtype and its strides in cells; "" and None where they are not known. The rest is as for
    `Layout`, with 0 bytes where they follow from the dtype.
    """

    dtype: str = ""
    strides: Strides | None = None
    item: int = 0
    is_swapped: bool = False
    is_uneven: bool = False


def layouts_or_default(layouts: Sequence[OperandLayout], operands: Sequence[Shape]) -> list[OperandLayout]:
    """The layouts, or unknown ones if these are of other operands.

    A part of a program, such as the rest behind bound operands, is asked about with the layouts of its whole.
    """
    is_of_these = len(layouts) == len(operands) and all(
        layout.strides is None or len(layout.strides) == len(shape)
        for layout, shape in zip(layouts, operands, strict=True)
    )
    return list(layouts) if is_of_these else [OperandLayout()] * len(operands)
