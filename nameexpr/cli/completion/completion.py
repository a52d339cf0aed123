"""What shells complete: commands, options, values and files, taken from the commands' own parsers.

`completion_bash` and `completion_zsh` write it as scripts, which run nothing of ours when a key is pressed.
"""

from __future__ import annotations

from argparse import Action
from typing import NamedTuple

from nameexpr.cli.parser import command_parser
from nameexpr.cli.rows import ROWS, Row

DTYPES = ("bool", "int64", "float16", "float32", "float64", "complex64", "complex128")
FILE = "FILE"
"""Metavar of the arguments that are files."""


class Option(NamedTuple):
    """An option: names and help; whether it takes a value, which words that may be, or if it is a file."""

    names: tuple[str, ...]
    help: str
    takes_value: bool
    words: tuple[str, ...] = ()
    is_file: bool = False


class Completed(NamedTuple):
    """A command: its options, the words and files that its operands may be, and what its first operand is.

    `is_text_first` says that the first operand is an expression, which nothing completes.
    """

    row: Row
    options: tuple[Option, ...]
    words: tuple[str, ...]
    suffixes: tuple[str, ...]
    is_text_first: bool


def completed() -> tuple[Completed, ...]:
    """Return what there is to complete, by command."""
    return tuple(_completed(row) for row in ROWS)


def _completed(row: Row) -> Completed:
    actions = command_parser(row)._actions  # argparse has no public list of them
    operands = [action for action in actions if not action.option_strings]
    words = [word for action in operands for word in action.choices or ()]
    if "<codes>" in row.completed:
        from nameexpr.terminal.pages import codes

        words += codes()
    options = tuple(_option(action) for action in actions if action.option_strings)
    suffixes = tuple(one for one in row.completed if one.startswith("."))
    is_text_first = bool(operands) and operands[0].dest == "expression"
    return Completed(row, options, tuple(map(str, words)), suffixes, is_text_first)


def _option(action: Action) -> Option:
    takes_value = action.nargs != 0
    words = tuple(map(str, action.choices or ())) or _suggested(action.option_strings[-1])
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    return Option(tuple(action.option_strings), action.help or "", takes_value, words, metavar == FILE)


def _suggested(name: str) -> tuple[str, ...]:
    """Return values of an option that are worth offering, though others will do as well."""
    if name == "--dtype":
        return DTYPES
    if name == "--reduce":
        from nameexpr.ops import REDUCTIONS

        return tuple(REDUCTIONS)
    if name == "--optimize":
        from nameexpr.compiler.planning.path import STRATEGIES

        return ("true", "false", *sorted(STRATEGIES))
    return ()
