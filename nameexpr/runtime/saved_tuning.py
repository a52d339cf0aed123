"""What `tune=True` has chosen, in files: `save_tuning` and `load_tuning`."""

from __future__ import annotations

import json
import os
from typing import Any, NoReturn

from nameexpr.errors import Diagnostic, error
from nameexpr.runtime import public
from nameexpr.runtime.tuning import Tuning, machine_key, tunings
from nameexpr.whole_files import read_json, replace_file

FORMAT, VERSION = "nameexpr tuning", 1
LONGEST = 1 << 28
"""The characters of a file."""
HINT = "write it with ne.save_tuning, after calls with tune=True"


@public
def save_tuning(path: str | os.PathLike[str]) -> int:
    """Write what calls with ``tune=True`` have chosen in this process, and what was loaded, to a file.

    Returns
    -------
    int
        The number of choices in the file: one for each text, its options, and the shapes, dtypes and strides
        of its operands.

    Raises
    ------
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile, numpy as np, nameexpr as ne
    >>> path = tempfile.mkdtemp() + "/tuning.json"
    >>> x, w = np.ones((20, 3, 30)), np.ones((30, 20, 4))
    >>> _ = ne.einsum("a b c, c a d -> b d", x, w, tune=True)
    >>> ne.save_tuning(path) == ne.load_tuning(path) > 0
    True
    """
    known = {**tunings.old, **tunings.young}
    entries = [[key, list(one.ranks), list(one.offers)] for key, one in sorted(known.items())]
    data = {"format": FORMAT, "version": VERSION, "entries": entries}
    replace_file(_name_of(path), lambda file: file.write((json.dumps(data, indent=0) + "\n").encode()))
    return len(entries)


@public
def load_tuning(path: str | os.PathLike[str]) -> int:
    """Read a file of `save_tuning`: calls with ``tune=True`` use its choices and time nothing.

    Texts that have been compiled before keep their functions; `cache_clear` drops those that are cached.

    Returns
    -------
    int
        The number of choices that are used: those of this release on this machine with the same profile.
        Others are ignored.

    Raises
    ------
    OptionError
        NE618 if the file cannot be read, or is not one of `save_tuning`.
    """
    name = _name_of(path)
    try:
        data = read_json(name, LONGEST)
    except OSError as fault:
        _refuse(name, fault.strerror or "it cannot be read", fault)
    except ValueError as fault:
        _refuse(name, str(fault), fault)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        _refuse(name, f"its format is not {FORMAT!r}")
    if data.get("version") != VERSION:
        _refuse(name, f"its version is {data.get('version')!r}, and this release reads version {VERSION}")
    entries = data.get("entries")
    if not isinstance(entries, list) or not all(map(_is_entry, entries)):
        _refuse(name, "its entries are not as save_tuning writes them")
    start = f"({machine_key()!r}, "
    own = [
        (key, Tuning(tuple(ranks), tuple(offers))) for key, ranks, offers in entries if key.startswith(start)
    ]
    for key, one in own:
        tunings.put(key, one)
    return len(own)


def _is_entry(entry: Any) -> bool:
    if not (isinstance(entry, list) and len(entry) == 3 and isinstance(entry[0], str)):  # noqa: PLR2004
        return False
    ranks, offers = entry[1:]
    if not (isinstance(ranks, list) and isinstance(offers, list) and len(ranks) == len(offers)):
        return False
    pairs = zip(ranks, offers, strict=True)
    return all(type(rank) is type(count) is int and 0 <= rank < count for rank, count in pairs)


def _refuse(path: str, reason: str, cause: Exception | None = None) -> NoReturn:
    raise error(Diagnostic("NE618", f"{path!r} is not a file of tunings: {reason}", hint=HINT)) from cause


def _name_of(path: Any) -> str:
    """Return a path as a string (NE618 for anything else)."""
    if not isinstance(path, str | os.PathLike) or "\0" in str(path):
        raise error(Diagnostic("NE618", f"{path!r} is not the path of a file", hint="give a str or a Path"))
    return os.fspath(path)
