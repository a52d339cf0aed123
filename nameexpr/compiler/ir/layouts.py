"""What is known about the memory layout of operands."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.records import record

Shape = tuple[int, ...]
Strides = tuple[int, ...]


class Layout(tuple[int, ...]):
    """The strides of an array in bytes, and other properties of its memory.

    `item` is the size of an element in bytes; `is_swapped` means a foreign byte order, `is_uneven` that some
    elements are not aligned. Layouts are equal only if they agree in all of these.
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
    """An operand's dtype and its strides in elements; "" and None if unknown. The other fields are as in
    `Layout`, with 0 bytes if they follow from the dtype.
    """

    dtype: str = ""
    strides: Strides | None = None
    item: int = 0
    is_swapped: bool = False
    is_uneven: bool = False


def layouts_or_default(layouts: Sequence[OperandLayout], operands: Sequence[Shape]) -> list[OperandLayout]:
    """Return the layouts, or unknown ones if these belong to other operands.

    A part of a program, such as the part that runs after operands are bound, is queried with the layouts of
    the whole program.
    """
    is_of_these = len(layouts) == len(operands) and all(
        layout.strides is None or len(layout.strides) == len(shape)
        for layout, shape in zip(layouts, operands, strict=True)
    )
    return list(layouts) if is_of_these else [OperandLayout()] * len(operands)
