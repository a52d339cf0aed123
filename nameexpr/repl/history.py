"""Where the lines of earlier sessions are kept: a file that only its owner can read."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def history_file() -> str | None:
    """Return the path of the history, made with mode 0600 if it is not there; None if there can be none.

    It is `nameexpr/history` under XDG_STATE_HOME, which is ~/.local/state if it is not set or not absolute
    (XDG Base Directory Specification).
    """
    home = os.environ.get("XDG_STATE_HOME", "")
    try:
        folder = Path(home) if os.path.isabs(home) else Path.home() / ".local" / "state"
        path = folder / "nameexpr" / "history"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    except (OSError, RuntimeError, ValueError):
        return None
    with suppress(OSError, AttributeError):
        os.fchmod(handle, 0o600)  # an older file may be open to others
    os.close(handle)
    return str(path)
