"""What begins with a colon. Each command is a row: how it is written, what it does, and the function for it.

>>> from nameexpr.session.session import Session
>>> session = Session()
>>> _ = session.run("x = randn(N=2, C=3)")
>>> print(session.run(":type sum[C](x)").text)
N=2  float64  12 flops  16 B
>>> print(session.run(":pan x").text)
there is no command ':pan'
  help: did you mean ':plan'?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nameexpr.carets import aligned_columns, visible
from nameexpr.errors import did_you_mean
from nameexpr.pictures.words import bytes_text
from nameexpr.session import settings
from nameexpr.session.commands import files as commands_of_files
from nameexpr.session.commands import texts as commands_of_texts
from nameexpr.session.faults import LineError
from nameexpr.session.lines import FACTORIES, Command
from nameexpr.session.replies import Answer
from nameexpr.session.values import dims_text

if TYPE_CHECKING:
    from nameexpr.session.session import Session


@dataclass(frozen=True, slots=True)
class Row:
    """A command: what stands behind its name, what it does, and the function."""

    usage: str
    about: str
    run: Callable[[Session, Command, str], Answer]


def run(session: Session, command: Command, line: str) -> Answer:
    """Return what a command answers.

    Raises
    ------
    LineError
        If there is no such command, or it makes nothing of what it is given.
    """
    name = command.name.text.casefold()
    row = ROWS.get(SHORT.get(name, name))
    if row is None:
        close = did_you_mean(name, ROWS)
        hint = close.replace("'", "':", 1) if close else ":help lists them"
        raise LineError(f"there is no command ':{command.name.text}'", hint=hint)
    return row.run(session, command, line)


def _names(session: Session, command: Command, line: str) -> Answer:
    _takes_nothing(command)
    if not session.tensors:
        return Answer("there are no tensors yet; make one: x = randn(N=2, C=3)")
    rows = [
        [
            f"{visible(name)} ",
            f"{dims_text(one.names, one.shape)} ",
            f"{one.dtype} ",
            bytes_text(one.data.nbytes),
        ]
        for name, one in sorted(session.tensors.items(), key=lambda item: item[0] == "_")
    ]
    return Answer("\n".join(aligned_columns(rows)))


def _set(session: Session, command: Command, line: str) -> Answer:
    words = command.argument.replace("=", " ", 1).split()
    if not words:
        rows = [[f"{name} ", f"{value} ", about] for name, value, about in settings.listed(session.settings)]
        return Answer("\n".join(aligned_columns(rows)))
    if len(words) == 1:
        raise LineError(f"what is {words[0]} to be?", hint=f":set {words[0]} VALUE, or auto")
    name, value = words[0], " ".join(words[1:])
    if name == "seed":
        _seed(value)
    else:
        after = settings.changed(session.settings, name, value)
        session.remember(line)
        session.settings = after
    session.entered.append(line)
    return Answer("")


def _seed(value: str) -> None:
    from nameexpr.tensors.arguments import manual_seed

    if not value.isascii() or not value.isdigit() or len(value) > 18:  # noqa: PLR2004  those of 64 bits
        raise LineError(f"'{value}' is no seed", hint="such as :set seed 0")
    manual_seed(int(value))


def _undo(session: Session, command: Command, line: str) -> Answer:
    _takes_nothing(command)
    if not session.undone:
        raise LineError("there is nothing to undo")
    undone, session.tensors, session.settings, entered = session.undone.pop()
    session.version += 1
    del session.entered[entered:]
    return Answer(f"undone: {visible(' '.join(undone.split()))}")


def _help(session: Session, command: Command, line: str) -> Answer:
    word = command.argument.strip().removeprefix(":").casefold()
    if word:
        row = ROWS.get(SHORT.get(word, word))
        if row is None:
            close = did_you_mean(word, ROWS)
            hint = close.replace("'", "':", 1) if close else ":help lists them"
            raise LineError(f"there is no command ':{word}'", hint=hint)
        return Answer(f":{SHORT.get(word, word)} {row.usage}".rstrip() + f"\n  {row.about}")
    rows = [[f"  {example} ", about] for example, about in EXAMPLES]
    rows += [[f"  :{name} {row.usage}".rstrip() + " ", row.about] for name, row in ROWS.items()]
    return Answer("\n".join([*aligned_columns(rows), *KEYS]))


def _quit(session: Session, command: Command, line: str) -> Answer:
    _takes_nothing(command)
    return Answer("", leaves=True)


def _takes_nothing(command: Command) -> None:
    if command.argument.strip():
        raise LineError(f":{command.name.text} takes nothing")


EXAMPLES = (
    ("x = randn(N=2, C=3)", f"a new tensor; also {', '.join(list(FACTORIES)[1:])}"),
    ("N C, C -> N | x, w", "an expression and its operands; sizes, too: | x, h=8"),
    ("N C, C -> N", "the same, if one tensor each has those names"),
    ("y[N] = sum[C](x * w)", "a formula over the tensors, by name; _ is the last result"),
    ("N C, C | x, w", "without an arrow shapes are checked"),
    ("!x.data.max()", "Python, with np and ne"),
    ("z[N C] = !np.eye(3)", "a tensor from a value of Python's"),
)
KEYS = (
    "Tab completes, F2 shows what NumPy would do, Ctrl-R searches what was entered before,",
    "Ctrl-C stops what runs, Ctrl-D leaves.",
)
ROWS: Mapping[str, Row] = {
    "names": Row("", "the tensors there are", _names),
    "type": Row("TEXT", "names, sizes, dtype and cost of the result", commands_of_texts.type_of),
    "plan": Row("[TEXT]", "the steps with flops, bytes and NumPy calls", commands_of_texts.plan),
    "code": Row("[TEXT]", "the NumPy it runs, ready to paste", commands_of_texts.code),
    "draw": Row("[network|tree|memory] [FILE.svg] [TEXT]", "a picture, here as text", commands_of_texts.draw),
    "time": Row("[TEXT]", "how long it takes", commands_of_texts.time),
    "explain": Row("[CODE]", "a page about an error, by default the last one", commands_of_texts.explain),
    "set": Row("[NAME VALUE]", "the settings, or change one", _set),
    "load": Row("NAME[DIMS] FILE", "a tensor from .npy, .npz or .csv", commands_of_files.load),
    "save": Row(
        "[NAME] FILE", "a tensor to .npy, .npz, .csv; or what was entered to .ne", commands_of_files.save
    ),
    "script": Row("FILE", "run the lines of a file", commands_of_files.script),
    "undo": Row("", "take the last change back", _undo),
    "help": Row("[COMMAND]", "this", _help),
    "quit": Row("", "leave", _quit),
}
SHORT: Mapping[str, str] = {"h": "help", "?": "help", "q": "quit", "exit": "quit", "t": "type", "p": "plan"}
"""Other names of commands."""
