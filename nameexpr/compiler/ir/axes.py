"""Labels, axes and names: the result of the analysis for every dim, and the input of the planner.

A label is a string. A label that is written in the text is its name. A dim without one gets an `Unnamed`,
whose text cannot be a name: `...2` is the second dim from the right under the ellipsis, `batch...1` the first
of a pack, `_@0` the first anonymous dim, `3@1.0` the literal at dim 0 of operand 1, `3@out.0` one in the
result.

In formulas every value has its own dims under `...`, which broadcast as in NumPy: the k-th from the right, of
size n, has the label `...k@n`. Where the order of dims matters, all of them are placed together where the
text first mentions `...`, even for a value that has none: the marker `...` reserves the place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any, TypeGuard

from nameexpr.records import record
from nameexpr.syntax.ast import Dots, Term

Labels = tuple[str, ...]
Axes = tuple[Labels, ...]
Names = tuple[str | None, ...]
EllipsisNames = Mapping[int, str | None]
"""The names of the dims under `...` by their number: 1 is the last."""

CUSTOM = "reduce="
DOTS = "..."


def hint_of(size: Any) -> Any:
    """Return a likely value of a size that is a symbol (of a function being traced), a number unchanged.

    It is for choosing among programs that are correct for all sizes: comparing symbols themselves limits the
    sizes that the function is valid for.
    """
    return getattr(size, "hint", size)


class Unnamed(str):
    """The label of a dim without a name.

    `word` is the item that the text contains for the dim (`...`, `batch...`, `_`, `3`), `number` counts the
    dims of an item, `size` is that of a literal or of a formula's dim under `...`. `factors` are the labels
    that were merged into one.
    """

    word: str
    number: int
    size: int | None
    factors: Labels

    @property
    def is_literal(self) -> bool:
        """Whether the text contains only a size for the dim."""
        return self.size is not None and not self.number

    @property
    def is_stretched(self) -> bool:
        """Whether the dim is under `...`, or under a pack."""
        return self.number > 0 and self.word != "_"


def _unnamed(text: str, word: str, number: int = 0, size: int | None = None, factors: Labels = ()) -> Unnamed:
    label = Unnamed(text)
    label.word, label.number, label.size, label.factors = word, number, size, factors
    return label


def under_dots(number: int, size: int | None = None) -> Unnamed:
    """Return the label of a dim under `...`, counted from the right; in formulas it includes its size."""
    return _unnamed(f"{DOTS}{number}" if size is None else f"{DOTS}{number}@{size}", DOTS, number, size)


def under_word(word: str, number: int) -> Unnamed:
    """Return the label of a dim under `...`, counted from the right, or under a pack, from the left."""
    return _unnamed(f"{word}{number}", word, number)


def anonymous(number: int) -> Unnamed:
    """Return the label of a `_`."""
    return _unnamed(f"_@{number}", "_", number)


def whole_dim(word: str, where: str) -> Unnamed:
    """Return the label of a dim that a value does not have as it is: it is read in parts, or at positions."""
    return _unnamed(f"{word}@{where}", word)


def literal(size: int, operand: int | None, position: str) -> Unnamed:
    """Return the label of a dim that is written as its size, at a position of an operand or of the result."""
    where = "out" if operand is None else str(operand)
    return _unnamed(f"{size}@{where}{position}", str(size), size=size)


def product_label(labels: Sequence[str], between: str = "·") -> str:
    """Return the label of some dims that are merged into one.

    >>> product_label(["a"]), product_label(["a", "b"])
    ('a', 'a·b')
    """
    if len(labels) == 1:
        return labels[0]
    return _unnamed(between.join(labels), between.join(map(shown, labels)), factors=tuple(labels))


def factors_of(label: str) -> Labels:
    """Return the labels that were merged into one; the label itself if it is not merged."""
    if not isinstance(label, Unnamed) or not label.factors:
        return (label,)
    return tuple([inner for factor in label.factors for inner in factors_of(factor)])


def shown(label: str) -> str:
    """Return the label as users see it: literals and anonymous dims without their position."""
    if not isinstance(label, Unnamed):
        return label
    return f"{label.word}{label.number}" if label.is_stretched else label.word


def is_dots(label: str) -> bool:
    """Return whether a label is that of a dim under `...`, or the marker."""
    return label == DOTS or is_under_dots(label)


def is_under_dots(label: str) -> TypeGuard[Unnamed]:
    """Return whether a label is that of a dim under `...`."""
    return isinstance(label, Unnamed) and label.word == DOTS


def labels_under(word: str, labels: Iterable[str]) -> list[Unnamed]:
    """Return the labels under a pack or `...`, from left to right."""
    here = [label for label in labels if isinstance(label, Unnamed) and label.word == word]
    return sorted(here, key=lambda label: label.number, reverse=word == DOTS)


def flat(axes: Axes) -> Labels:
    """Return the labels of axes, each once."""
    return tuple(dict.fromkeys([label for labels in axes for label in labels]))


def gathered(labels: Labels, positions: Mapping[str, Labels]) -> Labels:
    """Return the labels of a value, some of which are read at positions that have other labels."""
    return tuple(dict.fromkeys([new for label in labels for new in positions.get(label, (label,))]))


def mentioned(term: Term, axes: Axes) -> Labels:
    """Return the labels of a use in the order of its term, with the marker in place of `...`."""
    dots = [place for place, item in enumerate(term.items) if isinstance(item, Dots)]
    if not dots:
        return flat(axes)
    cut = dots[0]
    last = len(axes) - (len(term.items) - 1 - cut)
    inside = [label for group in axes[cut:last] for label in group if not is_dots(label)]
    return tuple(dict.fromkeys((*flat(axes[:cut]), DOTS, *flat(axes[last:]), *inside)))


def only_orders(axes: Axes, labels: Labels) -> bool:
    """Return whether a term only reorders the dims of the value."""
    every = [label for group in axes for label in group]
    return len(every) == len(set(every)) and all(label in labels for label in every)


def in_order(order: Sequence[str], labels: Labels) -> Labels:
    """Return a value's labels in the order in which they are mentioned."""
    dots = labels_under(DOTS, labels)
    every: list[str] = []
    for label in order:
        every += dots if is_dots(label) else [label]
    return tuple(label for label in dict.fromkeys((*every, *labels)) if label in labels)


def expand_ellipsis(axes: Axes, labels: Labels) -> Axes:
    """Return the axes of a left term with `...` replaced by the dims that the value has there."""
    own = {label.number: label for label in labels if is_under_dots(label)}
    expanded: list[Labels] = []
    for group in axes:
        kept = tuple(
            own[label.number] if is_under_dots(label) else label
            for label in group
            if not is_under_dots(label) or label.number in own
        )
        if kept or not any(map(is_dots, group)):
            expanded.append(kept)
    return tuple(expanded)


@record
class Contraction:
    """The input of the planner: the product of some terms, reduced over labels.

    `terms` are the labels of each factor, each label once; `result` the labels of the result in order,
    including new ones; `dropped` the labels that are reduced, in the order of their first mention; `reducer`
    combines them, None is the implicit sum of a contraction.
    """

    terms: tuple[Labels, ...]
    result: Labels
    dropped: Labels
    reducer: str | None
    sizes: Mapping[str, int]

    def size(self, labels: Iterable[str]) -> int:
        """Return the number of elements that these labels span."""
        return prod([self.sizes[label] for label in labels])
