"""Which sets of operands look alike: the same network, whatever its labels are called.

A set is read off from one of its operands along shared labels, and its labels are numbered as they come. What
is written down then, its form, is the same for sets that are read off alike. Where to start is decided by
what can be seen from one operand; if several look the same, the least form is taken. A network that looks the
same from all sides can be read in more ways than that: then two sets may be alike without looking it, and
less is shared than could be.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TypeAlias

Form: TypeAlias = tuple[object, ...]
Terms: TypeAlias = Sequence[Sequence[int]]


def members(made: int) -> Iterator[int]:
    """Return the operands of a set, which is given by bits."""
    while made:
        yield (made & -made).bit_length() - 1
        made &= made - 1


class Likeness:
    """What sets of operands look like; `looked` counts the operands that were looked at.

    Parameters
    ----------
    terms : sequence of sequences of int
        Labels of each operand, by number, in the order of its axes.
    leaves : sequence of hashable
        What tells operands apart: equal for those that are the same array with the same axes.
    output : frozenset of int
        Labels of the result.
    """

    def __init__(self, terms: Terms, leaves: Sequence[Hashable], output: frozenset[int]) -> None:
        self.terms, self.output, self.looked = terms, output, 0
        kinds: dict[Hashable, int] = {}
        self._leaves = [kinds.setdefault(leaf, len(kinds)) for leaf in leaves]
        self._users: dict[int, int] = {}
        for position, term in enumerate(terms):
            for label in term:
                self._users[label] = self._users.get(label, 0) | 1 << position
        self._known: dict[int, tuple[Form, tuple[int, ...]]] = {}

    def read(self, made: int) -> tuple[Form, tuple[int, ...]]:
        """Return what a set looks like, and its operands in the order in which it was read off."""
        known = self._known.get(made)
        if known is None:
            marks = {operand: self._mark(operand, made) for operand in members(made)}
            groups: dict[Form, dict[tuple[int, ...], int]] = {}
            for operand, mark in marks.items():
                # Of operands with the same labels any will do.
                groups.setdefault(mark, {}).setdefault(tuple(self.terms[operand]), operand)
            _, starts = min(groups.items(), key=lambda group: (len(group[1]), group[0]))
            known = self._known[made] = min(self._read_from(one, made, marks) for one in starts.values())
        return known

    def kept(self, made: int) -> set[int]:
        """Return the labels that the value of a set has."""
        labels = {label for operand in members(made) for label in self.terms[operand]}
        return {label for label in labels if label in self.output or self._users[label] & ~made}

    def near(self, made: int) -> int:
        """Return all operands that share a label with one of a set."""
        near = 0
        for operand in members(made):
            for label in self.terms[operand]:
                near |= self._users[label]
        return near

    def parts(self, made: int) -> list[int]:
        """Return the parts of a set that share no label."""
        parts = []
        while made:
            part, grown = 0, made & -made
            while part != grown:
                part, grown = grown, (grown | self.near(grown & ~part)) & made
            parts.append(part)
            made ^= part
        return parts

    def _mark(self, operand: int, made: int) -> Form:
        """Return what can be seen of a set from one of its operands."""
        users = [(self._users[label], label in self.output) for label in self.terms[operand]]
        around = [((all_ & made).bit_count(), is_kept or all_ & ~made != 0) for all_, is_kept in users]
        return (self._leaves[operand], *around)

    def _read_from(self, start: int, made: int, marks: dict[int, Form]) -> tuple[Form, tuple[int, ...]]:
        numbers: dict[int, int] = {}
        order, rows, left = [start], [], made & ~(1 << start)
        elsewhere: Iterator[int] | None = None
        for operand in order:
            term = self.terms[operand]
            rows.append((self._leaves[operand], *(numbers.setdefault(label, len(numbers)) for label in term)))
            for label in term:
                order += sorted(members(self._users[label] & left), key=lambda near: (marks[near], near))
                left &= ~self._users[label]
            if left and operand == order[-1]:
                if elsewhere is None:
                    elsewhere = iter(sorted(members(left), key=lambda near: (marks[near], near)))
                order.append(next(near for near in elsewhere if left >> near & 1))
                left &= ~(1 << order[-1])
        self.looked += len(order)
        kept = tuple(sorted(numbers[label] for label in self.kept(made)))
        return (tuple(rows), kept), tuple(order)
