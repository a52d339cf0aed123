r"""Files of a session: `:load`, `:save` and `:script`, and transcripts, which can be diffed and run again.

>>> from nameexpr.session.session import Session
>>> print("\n".join(answer.text for answer in transcript(Session({}), ["x = arange(N=3)", "x + 1"])))
> x = arange(N=3)
x: N=3  int64
> x + 1
tensor([1, 2, 3], names=('N',), shape=(3,))
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from nameexpr.carets import visible
from nameexpr.dims import WORD, normalised
from nameexpr.session.continuation import MORE, PROMPT, lines_of
from nameexpr.session.lines import ARRAYS, CommandLine
from nameexpr.session.session import Answer, Session
from nameexpr.session.values import as_named, described
from nameexpr.terminal.faults import FileError, LineError, quoted, reason

_LOAD = re.compile(rf"({WORD})\s*(?:\[([^\[\]]*)\])?\s+(\S.*)", re.DOTALL)
_TARGET = re.compile(rf"({WORD})\s*(?:\[[^\[\]]*\])?\s*")
_SAVE = re.compile(rf"({WORD})\s+(\S.*)", re.DOTALL)
_QUOTES = re.compile(r"(['\"])(.*)\1", re.DOTALL)
LARGEST = 1 << 22
"""Size limit of a script in bytes."""
DEEPEST = 20
"""The largest depth of scripts that call each other."""


def is_target(text: str) -> bool:
    """Return whether a text names a tensor to load, with or without its dims.

    >>> is_target("x[N C]"), is_target("1x")
    (True, False)
    """
    target = _TARGET.fullmatch(text)
    return target is not None and target[1].isidentifier()


def load(session: Session, line: CommandLine) -> Answer:
    """Read a tensor from a file; `x[N C]` gives its dims names."""
    parts = _LOAD.fullmatch(line.argument)
    if parts is None or not parts[1].isidentifier():
        hint = ":load x photos.npy, or :load x[N C] photos.npy"
        raise LineError("what is to be loaded, and from where?", hint=hint)
    from nameexpr.terminal.files import read_array, split_key

    name, path = normalised(parts[1]), _path(parts[3])
    if not os.path.exists(split_key(path)[0]):
        raise FileError(f"there is no file {quoted(path)}")
    tensor = as_named(read_array(path), parts[2])
    session.put(line.text, {name: tensor})
    session.entered.append(line.text)
    return Answer(f"{name}: {described(tensor)}")


def save(session: Session, line: CommandLine) -> Answer:
    """Write a tensor, or the lines that succeeded, to a file."""
    name, path = _target(session, line.argument)
    if name is None:
        lines = [entered for entered in session.entered if entered.strip()]
        written = write_content(path, "".join(entered + os.linesep for entered in lines))
        return Answer(f"{len(lines)} lines written to {written}")
    from nameexpr.terminal.writing import find_target, write

    if name not in session.tensors:
        raise LineError(f"there is no tensor '{name}'", hint=":names lists them", code="tensor")
    write(session.tensors[name].data, find_target(path, as_json=path == "-"))
    return Answer(f"{name} written to {quoted(path)}")


def _target(session: Session, argument: str) -> tuple[str | None, str]:
    """Return the name of the tensor, None for the session's lines, and the path."""
    if (parts := _SAVE.fullmatch(argument)) and parts[1].isidentifier():
        return normalised(parts[1]), _path(parts[2])
    path = _path(argument)
    if not path:
        raise LineError("where to?", hint=":save x x.npy writes a tensor, :save session.ne what was entered")
    if path.casefold().endswith(ARRAYS) or path in session.tensors:
        name = path if path in session.tensors else "x"
        raise LineError("a tensor and a file are needed", hint=f":save {name} x.npy")
    return None, path


def _path(text: str) -> str:
    text = text.strip()
    if quotes := _QUOTES.fullmatch(text):
        text = quotes[2]
    return os.path.expanduser(text)


def write_content(path: str, content: str | bytes) -> str:
    """Write a text or bytes to a file and return its quoted name (FileError if that fails)."""
    try:
        with open(path, "wb") as stream:
            stream.write(content.encode("utf-8") if isinstance(content, str) else content)
    except (OSError, ValueError) as fault:
        raise FileError(f"cannot write {quoted(path)}: {reason(fault)}") from None
    return quoted(path)


def script(session: Session, line: CommandLine) -> Answer:
    """Run the lines of a file; the answer is a transcript."""
    path = _path(line.argument)
    if not path:
        raise LineError("which file?", hint=":script session.ne")
    if session.depth >= DEEPEST:
        raise LineError("these scripts call each other without end")
    session.depth += 1
    try:
        answers = list(transcript(session, read_script(path)))
    finally:
        session.depth -= 1
    text = "\n".join(answer.text for answer in answers if answer.text)
    return Answer(text, is_fault=any(answer.is_fault for answer in answers))


def read_script(path: str) -> list[str]:
    """Read the lines of a script, continuation lines joined (FileError)."""
    try:
        with open(path, "rb") as stream:
            data = stream.read(LARGEST + 1)
    except (OSError, ValueError) as fault:
        raise FileError(f"cannot read {quoted(path)}: {reason(fault)}") from None
    if len(data) > LARGEST:
        raise FileError(f"cannot read {quoted(path)}: it is not a script, it has more than {LARGEST:,} bytes")
    return lines_of(data.decode("utf-8-sig", "replace"))


def transcript(session: Session, lines: Iterable[str]) -> Iterator[Answer]:
    """Run lines; yield each after its prompt, followed by its answer."""
    for line in lines:
        first, *others = visible(line).split("\n")
        yield Answer("\n".join([PROMPT + first, *(MORE + other for other in others)]).rstrip())
        answer = session.run(line)
        if answer.text:
            yield answer
        if answer.leaves:
            return
