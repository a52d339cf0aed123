"""Names for labels: those of the text are their own names, others get the name of a dim that is as large,
with primes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import count

from nameexpr.compiler.ir.axes import Axes, Unnamed, shown
from nameexpr.records import field, record
from nameexpr.syntax import ast


class NotWritableError(Exception):
    """A value that formulas cannot express: why."""


@record(frozen=False)
class LabelNames:
    """The names of labels; `taken` are those of the text, `sizes` the sizes of all labels. With `is_strict`,
    the dims of a value have different names. `written` are the sizes in the text.
    """

    taken: set[str]
    sizes: Mapping[str, int]
    is_strict: bool = False
    written: Mapping[str, int] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)

    def name(self, label: str) -> str:
        """Return the name of a label."""
        if not isinstance(label, Unnamed):
            return label
        if label.is_literal or label.is_stretched:
            raise NotWritableError(f"the dim '{shown(label)}' has no name")
        if label not in self.known:
            alike = self.alike(label, self.sizes)
            free = (name for number in count(1) if (name := f"d{number}") not in self.taken)
            self.known[label] = fresh(alike, self.taken) if alike else next(free)
            self.taken.add(self.known[label])
        return self.known[label]

    def sizes_by_name(self) -> dict[str, int]:
        """Return the sizes of labels by their names."""
        plain = {label: size for label, size in self.sizes.items() if not isinstance(label, Unnamed)}
        return {**plain, **{name: self.sizes[label] for label, name in self.known.items()}}

    def alike(self, label: str, labels: Collection[str]) -> str | None:
        """Return the first label of the text among some that is as large as another."""
        size = self.sizes[label]
        same = (one for one in labels if not isinstance(one, Unnamed) and self.sizes.get(one) == size)
        return next(same, None)

    def term(self, labels: Sequence[str]) -> ast.Term:
        """Return a term that consists of labels."""
        return ast.Term(tuple([ast.Label(self.name(label)) for label in labels]))

    def term_of(self, axes: Axes) -> ast.Term:
        """Return the term of dims that are products of labels."""
        return ast.Term(tuple([self._item(labels) for labels in axes]))

    def left(self, axes: Axes) -> ast.Term:
        """Return the term of dims on the left of a statement."""
        items = list(self.term_of(axes).items)
        for place, item in enumerate(items):
            if self.is_strict and isinstance(item, ast.Label) and item in items[:place]:
                dim = fresh(item.name, self.taken | {one.name for one in items if isinstance(one, ast.Label)})
                items[place] = ast.Alias(dim, item.name)
        return ast.Term(tuple(items))

    def sized(self, term: ast.Term) -> ast.Term:
        """Return a term with the sizes that the text has for its labels."""
        sizes = [self.written.get(one.name) if isinstance(one, ast.Label) else None for one in term.items]
        pairs = zip(term.items, sizes, strict=True)
        return ast.Term(tuple([
            one if size is None or not isinstance(one, ast.Label) else ast.Sized(one.name, size)
            for one, size in pairs
        ]))  # fmt: skip

    def _item(self, labels: Sequence[str]) -> ast.Item:
        items = self.term(labels).items
        if len(items) == 1:
            return items[0]
        return ast.Group(items) if items else ast.Literal(1)


def fresh(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken, with primes."""
    while name in taken:
        name += "'"
    return name
