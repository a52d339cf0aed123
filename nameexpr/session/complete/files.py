"""Files as they may be completed: a bounded look into one folder, and quotes where a path needs them."""

from __future__ import annotations

import os
import re
from itertools import islice

from nameexpr.session.complete.known import MOST, Choice

ARRAYS = (".npy", ".npz", ".csv")
SCRIPTS = (".ne",)
LOOKED_AT = 5_000
"""Entries of a folder that are looked at; in a larger one some are not offered."""
_PLAIN = re.compile(r"[\w./~+@%,:=-]*")


def files(written: str, endings: tuple[str, ...]) -> list[Choice]:
    """Return the files and folders that a path may become, which may begin with a quote.

    Hidden ones are there only if the path asks for them.

    Examples
    --------
    >>> files("examples/data/pho", (".npy",))
    [Choice(text='examples/data/photos.npy', about='file')]
    """
    quote = written[:1] if written[:1] in ("'", '"') else ""
    folder, slash, beginning = written[len(quote) :].rpartition("/")
    found = []
    for name, is_folder in _entries(_expanded(folder + slash) or ".", beginning.casefold()):
        if name.startswith(".") and not beginning.startswith("."):
            continue
        if is_folder or name.casefold().endswith(endings):
            text = _quoted(quote, f"{folder}{slash}{name}", is_folder)
            found.append(
                (not name.startswith(beginning), name, Choice(text, "folder" if is_folder else "file"))
            )
    return [choice for _, _, choice in sorted(found) if choice.text != written][:MOST]


def _expanded(folder: str) -> str:
    """Return the folder with the home folder for `~`; those of other users are not looked up."""
    return os.path.expanduser(folder) if folder.startswith("~/") else folder


def _entries(folder: str, beginning: str) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            fitting = [one for one in islice(entries, LOOKED_AT) if one.name.casefold().startswith(beginning)]
            return [(one.name, one.is_dir()) for one in fitting if one.name.isprintable()]
    except (OSError, ValueError):  # no such folder, or a path that no system takes
        return []


def _quoted(quote: str, path: str, is_folder: bool) -> str:
    """Return the path as it is typed: in quotes if it needs them, which a folder leaves open."""
    if not quote and not _PLAIN.fullmatch(path):
        quote = "'" if '"' in path else '"'
    return f"{quote}{path}/" if is_folder else f"{quote}{path}{quote}"
