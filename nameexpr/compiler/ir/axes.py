"""What the checker hands to the planner: every dim of every operand as a product of labels, every label with
its size.

Labels are strings. A label of the user's is its name; dims that have none get one that no name can be: `...2`
is the second dim from the right under the ellipsis, `batch...1` the first of a pack, `_@0` the first
anonymous dim, `3@1.0` the literal at dim 0 of operand 1, `3@out.0` one in the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from nameexpr.ops import SUMMING

Axes = tuple[tuple[str, ...], ...]
Names = tuple[str | None, ...]

CUSTOM = "reduce="


@dataclass(frozen=True, slots=True)
class Typed:
    """One expression with all its sizes known.

    `operands` and `result` give for each dim the labels it is the row-major product of: one for a plain dim,
    several for a group, none for a dim of size 1 that is dropped or made. `dropped` are the labels that the
    result lacks, in the order in which they are first mentioned; `reducer` combines them: None is the unasked
    sum of a contraction, `CUSTOM` a callable.
    """

    operands: tuple[Axes, ...]
    result: Axes
    names: Names
    sizes: Mapping[str, int]
    dropped: tuple[str, ...]
    reducer: str | None

    @property
    def is_summed(self) -> bool:
        """Whether products are added up, so that the dtypes of sums apply (docs/language.md, section 3, rule
        8).
        """
        return bool(self.dropped) if self.reducer is None else self.reducer in SUMMING

    @property
    def result_shape(self) -> tuple[int, ...]:
        """Shape of the result, groups merged."""
        return tuple(self.size(labels) for labels in self.result)

    def size(self, labels: tuple[str, ...]) -> int:
        """Return the number of cells that these labels span."""
        return prod([self.sizes[label] for label in labels])


@dataclass(frozen=True, slots=True)
class Contraction:
    """What is planned: the product of some terms, reduced over labels.

    `terms` are the labels of each factor, each label once; `result` the labels that are wanted in the end, in
    their order, new ones among them; `dropped` those that go, in the order in which they are first mentioned;
    `reducer` combines them, None is the unasked sum of a contraction.
    """

    terms: tuple[tuple[str, ...], ...]
    result: tuple[str, ...]
    dropped: tuple[str, ...]
    reducer: str | None
    sizes: Mapping[str, int]

    @property
    def is_summed(self) -> bool:
        """Whether products are added up, so that the dtypes of sums apply (docs/language.md, section 3, rule
        8).
        """
        return bool(self.dropped) if self.reducer is None else self.reducer in SUMMING

    def size(self, labels: Iterable[str]) -> int:
        """Return the number of cells that these labels span."""
        return prod([self.sizes[label] for label in labels])


def shown(label: str) -> str:
    """Return the label as a person reads it: literals and anonymous dims without their position."""
    return label.partition("@")[0]
