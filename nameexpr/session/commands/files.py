"""The commands that read and write files: `:load`, `:save`, `:script`."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from nameexpr.dims import WORD, normalised
from nameexpr.session.faults import LineError
from nameexpr.session.lines import Command
from nameexpr.session.replies import Answer
from nameexpr.session.values import as_named, described
from nameexpr.terminal.faults import CommandError, quoted, reason

if TYPE_CHECKING:
    from nameexpr.session.session import Session
    from nameexpr.tensors import NamedTensor

_LOAD = re.compile(rf"({WORD})\s*(?:\[([^\[\]]*)\])?\s+(\S.*)", re.DOTALL)
_TARGET = re.compile(rf"({WORD})\s*(?:\[[^\[\]]*\])?\s*")
_SAVE = re.compile(rf"({WORD})\s+(\S.*)", re.DOTALL)
_QUOTES = re.compile(r"(['\"])(.*)\1", re.DOTALL)
ARRAYS = (".npy", ".npz", ".csv")
DEEPEST = 20
"""Scripts that may call each other."""


def is_target(text: str) -> bool:
    """Return whether a text names a tensor to load, with or without its dims.

    >>> is_target("x[N C]"), is_target("1x")
    (True, False)
    """
    found = _TARGET.fullmatch(text)
    return found is not None and found[1].isidentifier()


def load(session: Session, command: Command, line: str) -> Answer:
    """Read a tensor from a file; `x[N C]` gives its dims names."""
    found = _LOAD.fullmatch(command.argument)
    if found is None or not found[1].isidentifier():
        raise LineError(
            "what is to be loaded, and from where?", hint=":load x photos.npy, or :load x[N C] photos.npy"
        )
    name, term, path = normalised(found[1]), found[2], _path(found[3])
    tensor = _read(path, term)
    session.put(line, {name: tensor})
    session.entered.append(line)
    return Answer(f"{name}: {described(tensor)}")


def _read(path: str, term: str | None) -> NamedTensor:
    from nameexpr.terminal.files import read_array, split_key

    if not os.path.exists(split_key(path)[0]):
        raise LineError(f"there is no file {quoted(path)}")
    try:
        return as_named(read_array(path), term)
    except CommandError as fault:
        raise LineError(fault.message, hint=fault.hint) from None


def save(session: Session, command: Command, line: str) -> Answer:
    """Write a tensor, or the lines that succeeded, to a file."""
    name, path = _target(session, command.argument)
    if name is None:
        lines = [entered for entered in session.entered if entered.strip()]
        return Answer(
            f"{len(lines)} lines written to {write_text(path, ''.join(one + os.linesep for one in lines))}"
        )
    from nameexpr.terminal.writing import find_target, write

    if name not in session.tensors:
        raise LineError(f"there is no tensor '{name}'", hint=":names lists them")
    try:
        write(session.tensors[name].data, find_target(path, as_json=path == "-"))
    except CommandError as fault:
        raise LineError(fault.message, hint=fault.hint) from None
    return Answer(f"{name} written to {quoted(path)}")


def _target(session: Session, argument: str) -> tuple[str | None, str]:
    """Return the tensor, or None for the lines, and the path."""
    if (found := _SAVE.fullmatch(argument)) and found[1].isidentifier():
        return normalised(found[1]), _path(found[2])
    path = _path(argument)
    if not path:
        raise LineError("where to?", hint=":save x x.npy writes a tensor, :save session.ne what was entered")
    if path.casefold().endswith(ARRAYS) or path in session.tensors:
        raise LineError(
            "a tensor and a file are needed", hint=f":save {path if path in session.tensors else 'x'} x.npy"
        )
    return None, path


def _path(text: str) -> str:
    text = text.strip()
    if found := _QUOTES.fullmatch(text):
        text = found[2]
    return os.path.expanduser(text)


def write_text(path: str, text: str) -> str:
    """Write a text to a file, and return its name as it is shown (LineError if that fails)."""
    try:
        with open(path, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
    except (OSError, ValueError) as fault:
        raise LineError(f"cannot write {quoted(path)}: {reason(fault)}") from None
    return quoted(path)


def script(session: Session, command: Command, line: str) -> Answer:
    """Run the lines of a file, and answer what they say as a transcript."""
    from nameexpr.session.script import read_script, transcript

    path = _path(command.argument)
    if not path:
        raise LineError("which file?", hint=":script session.ne")
    if session.depth >= DEEPEST:
        raise LineError("these scripts call each other without end")
    session.depth += 1
    try:
        lines = list(transcript(session, read_script(path)))
    finally:
        session.depth -= 1
    return Answer(
        "\n".join(one.text for one in lines if one.text), is_fault=any(one.is_fault for one in lines)
    )
