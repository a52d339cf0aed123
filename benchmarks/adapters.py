"""The adapters that run a workload: nameexpr, and the requested peers that are installed."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.call import Adapter
from benchmarks.ours import OURS
from benchmarks.peers import PEERS

ALL = "all"


def columns(group: str, peers: Iterable[Adapter]) -> list[Adapter]:
    """Return nameexpr's adapters for a group, and those of the peers."""
    return [adapter for adapter in (*OURS, *peers) if group in adapter.groups]


def installed(names: list[str] | None, groups: set[str]) -> tuple[tuple[Adapter, ...], list[str]]:
    """Return the requested peers that can be imported, and a note for each that cannot.

    By default all peers except the slow ones are requested. A peer without a workload in these groups is not
    imported.
    """
    found, notes = [], []
    for adapter in PEERS:
        if not groups & set(adapter.groups) or not _is_wanted(adapter, names):
            continue
        try:
            adapter.load()
            found.append(adapter)
        except ImportError:
            notes.append(f"{adapter.name} left out: {adapter.module} is not installed")
    return tuple(found), notes


def _is_wanted(adapter: Adapter, names: list[str] | None) -> bool:
    return not adapter.is_slow if names is None else adapter.name in names or ALL in names
