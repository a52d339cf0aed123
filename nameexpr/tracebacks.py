"""What a traceback shows of an error of ours: the user's own lines, then the error.

Ten frames of a compiler do not help to find a mistake in a text. So the frames of this package are left out
where tracebacks are shown: by `sys.excepthook` and `threading.excepthook`, unless a program has replaced
them, by IPython and Jupyter, and by pytest; and so are exceptions of NumPy's that ours explain. The exception
itself keeps all frames, and the environment variable `NAMEEXPR_TRACEBACK=full` shows them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from copy import copy
from types import TracebackType
from typing import Any

FULL = "NAMEEXPR_TRACEBACK"
"""The environment variable that shows all frames if it is "full"."""
_PACKAGE = __name__.partition(".")[0]


def hide_frames() -> None:
    """Have this package's frames left out of tracebacks; called where an error of ours is made."""
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _show
    threading: Any = sys.modules.get("threading")
    if threading is not None and threading.excepthook is threading.__excepthook__:
        threading.excepthook = _show_in_thread
    frame: Any = sys._getframe(1)
    while frame is not None:
        if _is_ours(frame):
            frame.f_globals["__tracebackhide__"] = _is_hidden  # pytest asks each frame's module
        frame = frame.f_back


def shortened(error: BaseException) -> TracebackType | None:
    """Return the traceback of an error of ours without this package's frames, if any others are left."""
    if not _is_shortened(error):
        return error.__traceback__
    short: TracebackType | None = None
    for entry in reversed([*_entries(error.__traceback__)]):
        if not _is_ours(entry.tb_frame):
            short = TracebackType(short, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return short or error.__traceback__


def shorten(error: BaseException) -> None:
    """Shorten the traceback of an exception, and of those it was raised from, and drop what ours explain."""
    seen, pending = set(), [error]
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        cause = one.__cause__ or one.__context__
        if cause is not None and _is_shortened(one) and _is_explained(cause):
            one.__cause__, one.__suppress_context__ = None, True
        one.__traceback__ = shortened(one)
        pending += [other for other in (one.__cause__, one.__context__) if other is not None]


def rendered_by_ipython(error: BaseException) -> list[str]:
    """Return the lines that IPython shows: its own rendering of a shorter traceback."""
    from IPython.core.getipython import get_ipython

    shown = copy(error).with_traceback(error.__traceback__)
    shown.__cause__, shown.__context__ = error.__cause__, error.__context__
    shown.__suppress_context__ = error.__suppress_context__
    shorten(shown)
    shell: Any = get_ipython()
    lines: list[str] = shell.InteractiveTB.structured_traceback(type(shown), shown, shown.__traceback__)
    return lines


def _is_shortened(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] == _PACKAGE and os.environ.get(FULL) != "full"


def _is_explained(cause: BaseException) -> bool:
    """Whether an exception was raised and caught inside this package."""
    first = cause.__traceback__
    return first is not None and _is_ours(first.tb_frame)


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_ours(frame: Any) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] == _PACKAGE or frame.f_code.co_filename == f"<{_PACKAGE}>"


def _is_hidden(info: Any) -> bool:
    """Answer pytest, which asks for each frame of an exception that it shows."""
    return shortened(info.value) is not info.value.__traceback__


def _show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    shorten(error)
    sys.__excepthook__(kind, error, error.__traceback__)


def _show_in_thread(facts: Any) -> None:
    import threading

    if facts.exc_value is not None:
        shorten(facts.exc_value)
        facts = (facts.exc_type, facts.exc_value, facts.exc_value.__traceback__, facts.thread)
        facts = threading.ExceptHookArgs(facts)
    threading.__excepthook__(facts)
