"""`...` in formulas: every value has dims of its own there, which broadcast as NumPy's do.

The k-th dim from the right under `...`, of size n, has the label `...k@n`. Where the order of dims counts,
all dims under `...` stand together, where the text mentions `...` first, even for a value that has
none there: the marker `...` keeps the place in a list of mentioned labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.compiler.ir.axes import Axes
from nameexpr.compiler.ir.graph import Labels
from nameexpr.syntax.ast import Dots, Term

DOTS = "..."
Under = Mapping[str, str | None]
"""Names of the dims under `...` by their place: `...1` is the last."""


def is_dots(label: str) -> bool:
    """Return whether a label is that of a dim under `...`, or the marker."""
    return label.startswith(DOTS)


def position_of(label: str) -> str:
    """Return `...k` for a dim under `...`."""
    return label.partition("@")[0]


def number_of(label: str, word: str) -> int:
    """Return the number of a dim under a pack or `...`, in the order in which they stand."""
    number = int(label.removeprefix(word).partition("@")[0])
    return -number if word == DOTS else number


def dots_of(labels: Sequence[str]) -> list[str]:
    """Return the labels under `...`, from left to right."""
    return sorted((label for label in labels if is_dots(label)), key=lambda label: number_of(label, DOTS))


def mentioned(term: Term, axes: Axes) -> Labels:
    """Return the labels of a use in the order of its term, the marker where `...` stands."""
    dots = [place for place, item in enumerate(term.items) if isinstance(item, Dots)]
    cut = dots[0] if dots else len(axes)
    behind = len(term.items) - 1 - cut if dots else 0
    last = len(axes) - behind
    order = [label for group in axes[:cut] for label in group]
    order += [DOTS] if dots else []
    order += [label for group in axes[last:] for label in group]
    order += [label for group in axes[cut:last] for label in group if not is_dots(label)]
    return tuple(dict.fromkeys(order))


def without(order: Sequence[str], gone: Sequence[str], *, has_dots: bool) -> Labels:
    """Return the mentioned labels that a reduction leaves; with `...` in its brackets, all of those go."""
    return tuple(label for label in order if label not in gone and not (has_dots and label == DOTS))


def in_order(order: Sequence[str], labels: Labels) -> Labels:
    """Return a value's labels in the order in which they are mentioned."""
    dots = dots_of(labels)
    flat: list[str] = []
    for label in order:
        flat += dots if is_dots(label) else [label]
    return tuple(label for label in dict.fromkeys((*flat, *labels)) if label in labels)


def own_dots(axes: Axes, labels: Labels) -> Axes:
    """Return the axes of a left term with the dims that the value has under `...` where `...` stands."""
    own = {position_of(label): label for label in labels if is_dots(label)}
    result = []
    for group in axes:
        found = tuple(own.get(label, label) for label in group if not is_dots(label) or label in own)
        if found or not any(map(is_dots, group)):
            result.append(found)
    return tuple(result)
