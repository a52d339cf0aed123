"""What may come next in a line that begins with a colon: commands, then what each of them takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from nameexpr.dims import WORD
from nameexpr.session.complete.files import ARRAYS, SCRIPTS, files
from nameexpr.session.complete.known import Choice, Completion, Known, placed, ranked, tensors

_COMMAND = re.compile(r"(\s*)(:\s*[^\s:]*)(\s*)")
_TENSOR_AND_FILE = re.compile(rf"{WORD}\s*(?:\[[^\[\]]*\])?\s+(?=\S|$)")
_PATH = re.compile(r"['\"~./]|.*[/.]", re.DOTALL)
_DRAWN = re.compile(r"(?:(?:network|tree|memory)\s+)?(?:\S+\.svg\s+)?")
PICTURES = ("network", "tree", "memory")
NOTHING = frozenset({":names", ":undo", ":quit", ":exit", ":q"})
"""Commands that take nothing."""


def commands(known: Known) -> list[Choice]:
    """Return the commands."""
    return [Choice(name, about) for name, about in known.commands.items()]


def complete_command(
    text: str, cursor: int, known: Known, value: Callable[[str, int, Known], tuple[Completion, ...]]
) -> tuple[Completion, ...]:
    """Return the completions in a command; `value` completes an expression or formula."""
    found = _COMMAND.match(text, 0, cursor)
    assert found is not None, "the text begins with a colon"
    name = "".join(found[2].split()).casefold()
    if found.end() == cursor and (not found[3] or name == ":"):
        return placed(found.start(2), ranked(name, commands(known)))
    given = text[found.end() : cursor]
    if name in (":load", ":save", ":script"):
        start, choices = _path(name, given, known)
        return placed(found.end() + start, choices)
    words = (given.replace("=", " ") if name == ":set" else given).split(" ")
    last = words.pop()
    if (takes := _words(name, [word for word in words if word], last, known)) is not None:
        return placed(cursor - len(last), ranked(last, takes))
    drawn = _DRAWN.match(given) if name == ":draw" else None
    start = found.end() + (drawn.end() if drawn else 0)
    kinds = ranked(given, (Choice(kind, "picture") for kind in PICTURES if name == ":draw"))
    is_first = " " not in given
    return (
        *(placed(found.end(), kinds) if is_first else ()),
        *value(" " * start + text[start:], cursor, known),
    )


def _words(name: str, given: list[str], word: str, known: Known) -> Iterable[Choice] | None:
    """Return what a command takes after some words, None if that is an expression or formula."""
    count = len(given)
    if name in NOTHING:
        return ()
    if name == ":set" and count < 2:  # noqa: PLR2004  a name and a value
        values = known.options.get(given[0], ()) if given else known.options
        return [Choice(one, given[0] if given else "option") for one in values]
    if name == ":explain" and not count:
        return [Choice(code, about) for code, about in known.codes.items()]
    if name in (":help", ":h", ":?") and not count:
        skipped = not word.startswith(":")
        return [one._replace(text=one.text[skipped:]) for one in commands(known) if one.text[skipped:]]
    return () if name in (":set", ":explain", ":help", ":h", ":?") else None


def _path(name: str, given: str, known: Known) -> tuple[int, list[Choice]]:
    """Return where a path begins, and what it may become.

    A path is the rest of the line, with or without quotes. `:load` takes a name before it, `:save` may.
    """
    target = _TENSOR_AND_FILE.match(given) if name != ":script" else None
    if target is not None:
        return target.end(), files(given[target.end() :], ARRAYS)
    if name == ":script":
        return 0, files(given, SCRIPTS)
    if name == ":save":
        return 0, [*([] if _PATH.match(given) else ranked(given, tensors(known))), *files(given, SCRIPTS)]
    return 0, []
