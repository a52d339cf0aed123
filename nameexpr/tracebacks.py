"""Tracebacks of nameexpr's errors: the user's own lines, then the error.

Ten frames of a compiler do not help to find a mistake in a text. An error that leaves a public function, a
method or an operator has no frame of this package (`forget_frames`), and `traceback.format_exc()` and logs
are short, too. Remaining frames, such as the one in which wrong arguments were noticed, are hidden when
tracebacks are shown: by `sys.excepthook` and `threading.excepthook`, unless a program has replaced them, by
IPython and Jupyter, and by pytest. Exceptions of NumPy that ours explain are left out in both cases. The
environment variable `NAMEEXPR_TRACEBACK=full` restores all of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from copy import copy
from functools import partial
from types import TracebackType
from typing import Any

FULL = "NAMEEXPR_TRACEBACK"
"""The environment variable that shows all frames if it is "full"."""
_PACKAGE = __name__.partition(".")[0]
_LIBRARIES = {"lark", "numpy", "opt_einsum"}


def hide_frames() -> None:
    """Have this package's frames left out of tracebacks; called when one of its errors is created."""
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _show
    threading: Any = sys.modules.get("threading")
    if threading is not None and threading.excepthook is threading.__excepthook__:
        threading.excepthook = _show_in_thread
    frame: Any = sys._getframe(1)
    while frame is not None:
        if _is_ours(frame):
            frame.f_globals["__tracebackhide__"] = _is_hidden  # pytest checks each frame's module
        frame = frame.f_back


def outside() -> int:
    """Return the `stacklevel` of a warning of the caller that is about the call of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and (_is_ours(frame) or "importlib" in frame.f_code.co_filename):
        level += not frame.f_code.co_filename.startswith("<frozen importlib")  # not counted by `warnings`
        frame = frame.f_back
    return level


def shown_short(error: AttributeError) -> AttributeError:
    """Return an exception of Python's whose traceback is to be shown as those of ours are."""
    error._render_traceback_ = partial(rendered_by_ipython, error)  # type: ignore[attr-defined]
    hide_frames()
    return error


def shortened(error: BaseException) -> TracebackType | None:
    """Return the traceback of an error of this package without its frames, if any others are left."""
    if not _is_shortened(error):
        return error.__traceback__
    return _of_others(error) or error.__traceback__


def shorten(error: BaseException) -> None:
    """Shorten the traceback of an exception, and of those it was raised from, and drop those that ours
    explain.
    """
    seen, pending = set(), [error]
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        _forget_explained(one)
        one.__traceback__ = shortened(one)
        pending += [other for other in (one.__cause__, one.__context__) if other is not None]


def forget_frames(error: BaseException) -> None:
    """Remove all frames from an error of this package, before a public function raises it again for its
    caller.
    """
    if _is_shortened(error):
        _forget_explained(error)
        error.__traceback__ = _of_others(error)


def rendered_by_ipython(error: BaseException) -> list[str]:
    """Return the lines that IPython shows: its rendering of a shorter traceback."""
    from IPython.core.getipython import get_ipython

    shown = copy(error).with_traceback(error.__traceback__)
    shown.__cause__, shown.__context__ = error.__cause__, error.__context__
    shown.__suppress_context__ = error.__suppress_context__
    shorten(shown)
    shell: Any = get_ipython()
    lines: list[str] = shell.InteractiveTB.structured_traceback(type(shown), shown, shown.__traceback__)
    return lines


def _of_others(error: BaseException) -> TracebackType | None:
    """Return a traceback without this package's frames."""
    short: TracebackType | None = None
    for entry in reversed([*_entries(error.__traceback__)]):
        if not _is_ours(entry.tb_frame):
            short = TracebackType(short, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return short


def _is_shortened(error: BaseException) -> bool:
    is_ours = type(error).__module__.partition(".")[0] == _PACKAGE or "_render_traceback_" in vars(error)
    return is_ours and os.environ.get(FULL) != "full"


def _forget_explained(error: BaseException) -> None:
    """Remove the exception that an error of this package explains, and keep the one being handled before."""
    inner = cause = error.__cause__ or error.__context__
    if not _is_shortened(error):
        return
    seen = {id(error)}  # what is raised from itself has itself as its cause
    while inner is not None and id(inner) not in seen and _is_explained(inner):
        seen.add(id(inner))
        inner = inner.__cause__ or inner.__context__
    if id(inner) in seen:
        inner = None
    if inner is not cause:
        error.__cause__, error.__context__, error.__suppress_context__ = None, inner, False


def _is_explained(cause: BaseException) -> bool:
    """Return whether an exception was caught inside this package, and raised in it or in a library that it
    calls.
    """
    entries = [*_entries(cause.__traceback__)]
    if not entries or not _is_ours(entries[0].tb_frame):
        return False
    last = entries[-1].tb_frame
    return _is_ours(last) or str(last.f_globals.get("__name__", "")).partition(".")[0] in _LIBRARIES


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_ours(frame: Any) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] == _PACKAGE or frame.f_code.co_filename == f"<{_PACKAGE}>"


def _is_hidden(info: Any) -> bool:
    """Return pytest's answer for each frame of an exception that it shows."""
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
