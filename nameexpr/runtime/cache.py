"""A bounded cache without bookkeeping on a hit: two generations of entries.

What is used stays: an entry found in the old generation moves to the young one, and when the young one is
full it becomes the old one and the old one is dropped. That keeps at least the `size` latest entries and at
most twice as many, whatever comes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from nameexpr.forks import lock

Key = TypeVar("Key", bound=Hashable)
Entry = TypeVar("Entry")


class Generations(Generic[Key, Entry]):
    """A mapping that keeps the latest entries; safe under threads, and in a child forked beside them."""

    __slots__ = ("old", "size", "young")

    def __init__(self, size: int) -> None:
        self.size = size
        self.young: dict[Key, Entry] = {}
        self.old: dict[Key, Entry] = {}

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.young.keys() | self.old.keys())

    def get(self, key: Key) -> Entry | None:
        """Return the entry of a key, or None."""
        entry = self.young.get(key)
        if entry is None and (entry := self.old.get(key)) is not None:
            self.put(key, entry)
        return entry

    def get_or_make(self, key: Key, make: Callable[[], Entry]) -> Entry:
        """Return the entry of a key; make it if there is none. Two threads may both make it: then the first
        one stays.
        """
        entry = self.get(key)
        if entry is None:
            made = make()
            with lock:
                entry = self.young.get(key)
                if entry is None:
                    entry = made
                    self.put(key, made)
        return entry

    def put(self, key: Key, entry: Entry) -> None:
        """Set an entry."""
        with lock:
            if len(self.young) >= self.size:
                self.old = self.young
                self.young = {}
            self.young[key] = entry

    def clear(self) -> None:
        """Drop all entries."""
        with lock:
            self.young, self.old = {}, {}
