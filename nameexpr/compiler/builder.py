"""Writing programs: values that know their labels, and the small steps that every lowering needs.

Strides are in bytes for operands and in cells for values made here; they are only ever compared within one
value. None stands for a value whose layout NumPy chooses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from nameexpr.compiler.program import Cast, Diagonal, Instruction, Note, Reshape, Transpose

Strides = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """One array in a program: its number, the labels of its axes, its dtype and what is known of its memory.

    `is_fresh` says that no operand shares its memory. `bound` is the largest magnitude an integer in it can
    have, if known.
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


@dataclass
class Builder:
    """Collects instructions; every method that emits one returns the new value."""

    sizes: Mapping[str, int]
    count: int
    instructions: list[Instruction] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    step: int | None = None
    used_strides: bool = False

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

    def shape(self, labels: Sequence[str]) -> tuple[int, ...]:
        """Return the sizes of labels."""
        return tuple(self.sizes[label] for label in labels)

    def size(self, labels: Sequence[str]) -> int:
        """Return the number of cells that labels span."""
        total = 1
        for label in labels:
            total *= self.sizes[label]
        return total

    def dense(self, labels: Sequence[str]) -> Strides:
        """Return the strides, in cells, of a fresh row-major array."""
        strides = []
        step = 1
        for label in reversed(labels):
            strides.append(step)
            step *= self.sizes[label]
        return tuple(reversed(strides))

    def cast(self, value: Value, dtype: str) -> Value:
        """Return the value in a dtype; itself if it has it."""
        if value.dtype == dtype or not dtype:
            return value
        made = self.emit(
            Cast(value.number, dtype), value.labels, dtype, None, is_fresh=True, bound=value.bound
        )
        return replace(made, strides=value.strides)

    def known(self, value: Value, dtype: str) -> Value:
        """Return a value that was just made, with the dtype that is known to come out of it."""
        self.notes[-1] = replace(self.notes[-1], dtype=dtype)
        return replace(value, dtype=dtype)

    def transpose(self, value: Value, labels: Sequence[str]) -> Value:
        """Return a view with the axes in the order of `labels`."""
        labels = tuple(labels)
        if labels == value.labels:
            return value
        axes = tuple(value.axis(label) for label in labels)
        strides = None if value.strides is None else tuple(value.strides[axis] for axis in axes)
        return self.emit(
            Transpose(value.number, axes),
            labels,
            value.dtype,
            strides,
            is_fresh=value.is_fresh,
            bound=value.bound,
        )

    def reshape(self, value: Value, shape: tuple[int, ...], labels: Sequence[str]) -> Value:
        """Return the value in another shape; the caller says what its axes are called afterwards."""
        return self.emit(
            Reshape(value.number, shape),
            labels,
            value.dtype,
            None,
            is_fresh=value.is_fresh,
            bound=value.bound,
        )

    def expand(self, value: Value, labels: Sequence[str]) -> Value:
        """Return a view with the axes in the order of `labels`, and an axis of size 1 for each that the value
        lacks.
        """
        here = [label for label in labels if label in value.labels]
        value = self.transpose(value, here)
        first = next(
            (position for position, label in enumerate(labels) if label in value.labels), len(labels)
        )
        wanted = labels[first:]
        if len(here) == len(wanted):
            return value
        shape = tuple(self.sizes[label] if label in value.labels else 1 for label in wanted)
        return self.reshape(value, shape, wanted)

    def diagonal(self, value: Value) -> Value:
        """Return a view on the diagonal of labels that repeat."""
        labels = tuple(dict.fromkeys(value.labels))
        letters = tuple(labels.index(label) for label in value.labels)
        strides = None
        if value.strides is not None:
            pairs = list(zip(value.labels, value.strides, strict=True))
            strides = tuple(sum(stride for other, stride in pairs if other == label) for label in labels)
        return self.emit(
            Diagonal(value.number, letters),
            labels,
            value.dtype,
            strides,
            is_fresh=value.is_fresh,
            bound=value.bound,
        )

    def by_memory(self, value: Value, labels: Sequence[str]) -> tuple[str, ...]:
        """Return labels in the order in which they lie in memory, the slowest first."""
        if value.strides is None or len(labels) < 2:  # noqa: PLR2004
            return tuple(label for label in value.labels if label in labels)
        self.used_strides = True
        strides = dict(zip(value.labels, value.strides, strict=True))
        return tuple(sorted(labels, key=lambda label: (-abs(strides[label]), value.axis(label))))

    def merges(self, value: Value, labels: Sequence[str]) -> bool:
        """Whether the axes of these labels, in this order, are one axis in memory, so that merging them
        copies nothing.
        """
        labels = [label for label in labels if self.sizes[label] != 1]
        if len(labels) < 2:  # noqa: PLR2004
            return True
        if value.strides is None:
            first = value.axis(labels[0])
            inside = [label for label in value.labels[first:] if self.sizes[label] != 1]
            return list(labels) == inside[: len(labels)]
        self.used_strides = True
        strides = {label: value.strides[value.axis(label)] for label in labels}
        return all(strides[one] == strides[other] * self.sizes[other] for one, other in pairwise(labels))
