"""Completion of commands and their arguments. Of files, only part of one folder is read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from itertools import islice

from nameexpr.dims import WORD
from nameexpr.session.complete.choices import MOST, Choice, Completion, Known, placed, ranked, tensors
from nameexpr.session.lines import ARRAYS, COMMANDS, FULL_NAMES, PICTURES, SCRIPTS

LOOKED_AT = 5_000
"""Entries of a folder that are read; in a larger one some are not offered."""
_COMMAND = re.compile(r"(\s*)(:\s*[^\s:]*)(\s*)")
_TENSOR_AND_FILE = re.compile(rf"{WORD}\s*(?:\[[^\[\]]*\])?\s+(?=\S|$)")
_PATH = re.compile(r"['\"~./]|.*[/.]", re.DOTALL)
_DRAWN = re.compile(rf"(?:(?:{'|'.join(PICTURES)})\s+)?(?:\S+\.svg\s+)?")
_UNQUOTED = re.compile(r"[\w./~+@%,:=-]*")


def command_choices(known: Known) -> list[Choice]:
    """Return all commands as choices."""
    return [Choice(name, about) for name, about in known.commands.items()]


def complete_command(
    text: str, cursor: int, known: Known, value: Callable[[str, int, Known], tuple[Completion, ...]]
) -> tuple[Completion, ...]:
    """Complete a command; `value` completes an expression or formula."""
    command = _COMMAND.match(text, 0, cursor)
    assert command is not None, "the text begins with a colon"
    name, start = "".join(command[2].split()).casefold(), command.end()
    if start == cursor and (not command[3] or name == ":"):
        return placed(command.start(2), ranked(name, command_choices(known)))
    given = text[start:cursor]
    row = COMMANDS.get(FULL_NAMES.get(name[1:], ""))
    takes = row.takes if row else "text"
    if row and takes == "file":
        offset, choices = _path(row.name, given, known)
        return placed(start + offset, choices)
    if takes == "text":
        return value(" " * start + text[start:], cursor, known)
    if takes == "picture":
        kinds = [] if " " in given else ranked(given, (Choice(kind, "picture") for kind in PICTURES))
        drawn = _DRAWN.match(given)
        begin = start + (drawn.end() if drawn else 0)
        return (*placed(start, kinds), *value(" " * begin + text[begin:], cursor, known))
    *words, last = (given.replace("=", " ") if takes == "setting" else given).split(" ")
    return placed(
        cursor - len(last), ranked(last, _words(takes, [word for word in words if word], last, known))
    )


def _words(takes: str, words: list[str], last: str, known: Known) -> list[Choice]:
    """Return the choices for the last word of an argument that is no text and no file."""
    match takes, words:
        case "setting", []:
            return [Choice(option, "option") for option in known.options]
        case "setting", [option]:
            return [Choice(value, option) for value in known.options.get(option, ())]
        case "code", []:
            return [Choice(code, about) for code, about in known.codes.items()]
        case "command", []:
            skipped = not last.startswith(":")
            return [choice._replace(text=choice.text[skipped:]) for choice in command_choices(known)]
    return []


def _path(name: str, given: str, known: Known) -> tuple[int, list[Choice]]:
    """Return the offset of the path in an argument, and its choices.

    A path is the rest of the line, with or without quotes. `:load` takes a name before it, `:save` may.
    """
    target = _TENSOR_AND_FILE.match(given) if name != "script" else None
    if target is not None:
        return target.end(), files(given[target.end() :], ARRAYS)
    if name == "load":
        return 0, []
    names = ranked(given, tensors(known)) if name == "save" and not _PATH.match(given) else []
    return 0, [*names, *files(given, SCRIPTS)]


def files(written: str, endings: tuple[str, ...]) -> list[Choice]:
    """Return the files and folders that complete a path, which may begin with a quote.

    Hidden ones are there only if the path asks for them.

    Examples
    --------
    >>> files("examples/data/pho", (".npy",))
    [Choice(text='examples/data/photos.npy', about='file')]
    """
    quote = written[:1] if written[:1] in ("'", '"') else ""
    folder, slash, beginning = written[len(quote) :].rpartition("/")
    choices = []
    for name, is_folder in _entries(_expanded(folder + slash) or ".", beginning.casefold()):
        if name.startswith(".") and not beginning.startswith("."):
            continue
        if is_folder or name.casefold().endswith(endings):
            text = _quoted(quote, f"{folder}{slash}{name}", is_folder)
            choice = Choice(text, "folder" if is_folder else "file")
            choices.append((not name.startswith(beginning), name, choice))
    return [choice for _, _, choice in sorted(choices) if choice.text != written][:MOST]


def _expanded(folder: str) -> str:
    """Expand `~`, but not the home folders of other users."""
    return os.path.expanduser(folder) if folder.startswith("~/") else folder


def _entries(folder: str, beginning: str) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            looked_at = islice(entries, LOOKED_AT)
            fitting = [entry for entry in looked_at if entry.name.casefold().startswith(beginning)]
            return [(entry.name, entry.is_dir()) for entry in fitting if entry.name.isprintable()]
    except (OSError, ValueError):  # no such folder, or a path that no system takes
        return []


def _quoted(quote: str, path: str, is_folder: bool) -> str:
    """Quote a path if that is needed; the quote of a folder stays open."""
    if not quote and not _UNQUOTED.fullmatch(path):
        quote = "'" if '"' in path else '"'
    return f"{quote}{path}/" if is_folder else f"{quote}{path}{quote}"
