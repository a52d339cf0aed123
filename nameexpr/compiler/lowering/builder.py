"""Building programs: values that know their labels, and the small steps that every lowering needs.

Strides are in elements. None means that NumPy chooses the layout of a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import dropwhile, pairwise
from typing import Any, TypeVar

from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.layouts import Layout, OperandLayout
from nameexpr.compiler.ir.nodes import Read, windowed
from nameexpr.compiler.ir.program import Instruction, Note
from nameexpr.compiler.ir.strides import of_window
from nameexpr.compiler.ir.target import Target
from nameexpr.records import field, record, replace

Strides = tuple[int, ...]
Chosen = TypeVar("Chosen")


@record
class Value:
    """An array in a program: its number, the labels of its axes, its dtype, and its memory layout if known.

    `is_fresh` means that no operand shares its memory. `bound` is the largest possible magnitude of an
    integer in it, if known.
    """

    number: int
    labels: tuple[str, ...]
    dtype: str
    strides: Strides | None
    is_fresh: bool
    bound: int | None = None

    def axis(self, label: str) -> int:
        """Return the position of a label."""
        return self.labels.index(label)


@record
class Operands:
    """The operands of a program: the shape, dtype, and strides in bytes of each; the strides are None for
    row-major.
    """

    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    layouts: tuple[Strides | None, ...]

    def strides(self, position: int) -> Strides | None:
        """Return the strides of an operand in elements; in bytes if they are not multiples of the element
        size.
        """
        layout, item = self.layouts[position], ITEM_BYTES.get(self.dtypes[position], 8)
        if layout is None or any(stride % item for stride in layout):
            return layout and tuple(layout)
        return tuple([stride // item for stride in layout])

    @property
    def given(self) -> tuple[OperandLayout, ...]:
        """What is known about the memory of each operand."""
        found = []
        for position, (dtype, layout) in enumerate(zip(self.dtypes, self.layouts, strict=True)):
            more = (layout.item, layout.is_swapped, layout.is_uneven) if isinstance(layout, Layout) else ()
            found.append(OperandLayout(dtype, self.strides(position), *more))
        return tuple(found)


@record(frozen=False)
class Builder:
    """A collector of instructions; every method that emits one returns the new value.

    `offers` has the costs of the candidates at each choice; `ranks` selects among them, 0 for the best by
    these costs. `windows` are the values that are windows, with their sources and how these are read.
    `found` are candidates that are needed again if several orders are tried.
    """

    sizes: Mapping[str, int]
    count: int
    target: Target
    instructions: list[Instruction] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    step: int | None = None
    used_strides: bool = False
    ranks: tuple[int, ...] = ()
    offers: list[tuple[float, ...]] = field(default_factory=list)
    windows: dict[int, tuple[Value, tuple[Read, ...]]] = field(default_factory=dict)
    found: dict[Any, Any] = field(default_factory=dict)

    def emit(
        self,
        instruction: Instruction,
        labels: Sequence[str],
        dtype: str,
        strides: Strides | None = None,
        *,
        is_fresh: bool = True,
        bound: int | None = None,
    ) -> Value:
        """Append an instruction and return its value."""
        self.instructions.append(instruction)
        self.notes.append(Note(tuple(labels), dtype, self.step))
        number = self.count + len(self.instructions) - 1
        return Value(number, tuple(labels), dtype, strides, is_fresh, bound)

    def moved(
        self, value: Value, instruction: Instruction, labels: Sequence[str], strides: Strides | None
    ) -> Value:
        """Append an instruction that returns the elements of a value, perhaps in its memory."""
        is_fresh, bound = value.is_fresh, value.bound
        return self.emit(instruction, labels, value.dtype, strides, is_fresh=is_fresh, bound=bound)

    def shape(self, labels: Sequence[str]) -> tuple[int, ...]:
        """Return the sizes of labels."""
        return tuple(self.sizes[label] for label in labels)

    def size(self, labels: Iterable[str]) -> int:
        """Return the number of elements that labels span."""
        total = 1
        for label in labels:
            total *= self.sizes[label]
        return total

    def row_major_strides(self, labels: Sequence[str]) -> Strides:
        """Return the strides, in elements, of a fresh row-major array."""
        strides = []
        step = 1
        for label in reversed(labels):
            strides.append(step)
            step *= self.sizes[label]
        return tuple(reversed(strides))

    def steps(self, value: Value) -> dict[str, int]:
        """Return the strides of a value; if NumPy chooses its layout, row-major strides."""
        strides = self.row_major_strides(value.labels) if value.strides is None else value.strides
        return dict(zip(value.labels, strides, strict=True))

    def cast(self, value: Value, dtype: str) -> Value:
        """Return the value in a dtype; the value itself if it already has it."""
        if value.dtype == dtype or not dtype:
            return value
        cast = Instruction("cast", (value.number,), dtype=dtype)
        return self.emit(cast, value.labels, dtype, self.compact_strides(value), bound=value.bound)

    def compact_strides(self, value: Value) -> Strides | None:
        """Return the strides of a copy that keeps the order of a value's axes in memory, as casts do."""
        if value.strides is None:
            return None
        strides = dict(zip(value.labels, value.strides, strict=True))
        order = sorted(value.labels, key=lambda label: -abs(strides[label]))
        packed = dict(zip(order, self.row_major_strides(order), strict=True))
        return tuple(packed[label] for label in value.labels)

    def row_major(self, value: Value, labels: Sequence[str]) -> Value:
        """Return a value that lies in memory in the order of `labels`: a copy, unless it already does."""
        value = self.transpose(value, labels)
        if value.strides == self.row_major_strides(labels):
            return value
        return self.copied(value, is_lax=value.strides is None and value.is_fresh)

    def copied(self, value: Value, *, is_lax: bool = False) -> Value:
        """Return a row-major copy; with `is_lax` the value itself if it is already row-major when the program
        runs.
        """
        how = "row_major" if is_lax else "contiguous" if self.is_large(value) else ""
        copy, labels = Instruction("copy", (value.number,), function=how), value.labels
        return self.emit(copy, labels, value.dtype, self.row_major_strides(labels), bound=value.bound)

    def is_diagonal(self, value: Value) -> bool:
        """Return whether a value is a view of a diagonal."""
        number = value.number - self.count
        return 0 <= number < len(self.instructions) and self.instructions[number].primitive == "diagonal"

    def is_large(self, value: Value) -> bool:
        """Return whether a copy of the value can exceed the cache."""
        return self.size(value.labels) * ITEM_BYTES.get(value.dtype, 8) > self.target.near_bytes

    def make_mergeable(self, value: Value, groups: Sequence[Sequence[str]]) -> Value:
        """Return a value in which each group of labels, one after the other, can be merged.

        If that requires a copy, a large value is copied here, since `reshape` copies without regard to the
        cache (R19).
        """
        value = self.transpose(value, [label for group in groups for label in group])
        if (
            value.strides is None
            or not self.is_large(value)
            or all(self.is_mergeable(value, group) for group in groups)
        ):
            return value
        return self.copied(value)

    def choose(self, candidates: Sequence[Chosen]) -> Chosen:
        """Return the first candidate, or the one whose rank `ranks` contains for this choice."""
        number = len(self.offers)
        self.offers.append(tuple([getattr(one, "cost", 0.0) for one in candidates]))
        rank = self.ranks[number] if number < len(self.ranks) else 0
        return candidates[min(rank, len(candidates) - 1)]

    def transpose(self, value: Value, labels: Sequence[str]) -> Value:
        """Return a view with the axes in the order of `labels`."""
        labels = tuple(labels)
        if labels == value.labels:
            return value
        axes = tuple(value.axis(label) for label in labels)
        strides = None if value.strides is None else tuple(value.strides[axis] for axis in axes)
        return self.moved(value, Instruction("transpose", (value.number,), axes=axes), labels, strides)

    def reshape(self, value: Value, shape: tuple[int, ...], labels: Sequence[str]) -> Value:
        """Return the value in another shape, whose axes get the given labels."""
        return self.moved(value, Instruction("reshape", (value.number,), shape), labels, None)

    def expand(self, value: Value, labels: Sequence[str], *, has_leading: bool = False) -> Value:
        """Return a view with the axes in the order of `labels`, and an axis of size 1 for each label that the
        value lacks; for those before all that it has only if `has_leading`.
        """
        here = [label for label in labels if label in value.labels]
        value = self.transpose(value, here)
        wanted = list(labels if has_leading else dropwhile(lambda label: label not in value.labels, labels))
        if len(here) == len(wanted):
            return value
        shape = tuple(self.sizes[label] if label in value.labels else 1 for label in wanted)
        return self.reshape(value, shape, wanted)

    def with_labels(self, value: Value, labels: Sequence[str]) -> Value:
        """Return a value with exactly these labels: axes that it lacks, or has in addition, have size 1."""
        labels = tuple(labels)
        return value if labels == value.labels else self.reshape(value, self.shape(labels), labels)

    def diagonal(self, value: Value) -> Value:
        """Return a view of the diagonal of repeated labels."""
        labels = tuple(dict.fromkeys(value.labels))
        letters = tuple([labels.index(label) for label in value.labels]), tuple(range(len(labels)))
        strides = None
        if value.strides is not None:
            pairs = list(zip(value.labels, value.strides, strict=True))
            strides = tuple(sum(stride for other, stride in pairs if other == label) for label in labels)
        return self.moved(value, Instruction("diagonal", (value.number,), letters=letters), labels, strides)

    def window(self, source: Value, reads: Sequence[Read]) -> Value:
        """Return a view with one axis per label, in which some dims are read at positions."""
        at, labels = {read.label: read for read in reads}, windowed(source.labels, reads)
        every = [at.get(own, Read(own, 0, ((own, 1),))) for own in source.labels]
        offsets = tuple([read.offset for read in every])
        rows = tuple([tuple([dict(read.strides).get(label, 0) for label in labels]) for read in every])
        made = Instruction("window", (source.number,), self.shape(labels), offsets, rows)
        known = source.strides
        steps = known and of_window(made, [(self.shape(source.labels), known)], made.shape)
        value = self.moved(source, made, labels, steps)
        self.windows[value.number] = source, tuple(reads)
        return value

    def window_of(self, value: Value) -> tuple[Value, tuple[Read, ...]] | None:
        """Return what a window shows and how, by the labels that the value has, which may be others than
        those of the window; None if they are among those of what it shows.
        """
        source, reads = self.windows[value.number]
        labels = windowed(source.labels, reads)
        if labels == value.labels:
            return source, reads
        names = dict(zip(labels, value.labels, strict=True))
        if not {read.label for read in reads}.isdisjoint(value.labels):
            return None
        moved = [
            replace(read, strides=tuple([(names[one], by) for one, by in read.strides])) for read in reads
        ]
        own = tuple([names.get(label, label) for label in source.labels])
        return replace(source, labels=own), tuple(moved)

    def read_strides(self, *values: Value) -> None:
        """Record that a choice depends on the layout of values; for small values this hardly matters."""
        self.used_strides |= any(self.size(value.labels) > self.target.any_layout_cells for value in values)

    def memory_order(self, value: Value, labels: Sequence[str]) -> tuple[str, ...]:
        """Return labels in the order of their axes in memory, the slowest first."""
        if value.strides is None or len(labels) < 2:  # noqa: PLR2004
            return tuple(label for label in value.labels if label in labels)
        self.read_strides(value)
        strides = dict(zip(value.labels, value.strides, strict=True))
        return tuple(sorted(labels, key=lambda label: (-abs(strides[label]), value.axis(label))))

    def is_mergeable(self, value: Value, labels: Sequence[str]) -> bool:
        """Return whether the axes of these labels, in this order, form one axis in memory, so that merging
        them copies nothing.
        """
        labels = [label for label in labels if self.sizes[label] != 1]
        if len(labels) < 2:  # noqa: PLR2004
            return True
        if value.strides is None:
            first = value.axis(labels[0])
            inside = [label for label in value.labels[first:] if self.sizes[label] != 1]
            return list(labels) == inside[: len(labels)]
        self.read_strides(value)
        strides = {label: value.strides[value.axis(label)] for label in labels}
        return all(strides[one] == strides[other] * self.sizes[other] for one, other in pairwise(labels))
