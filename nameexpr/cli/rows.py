"""The commands, one row each. A command's module is imported when the command is asked for, not before.

Such a module has `EXAMPLES`, the text below its options in `--help`; `add_arguments(parser)`; and
`run(options)`, which returns the exit code. It loads what computes inside `run`, so that `--help` is quick.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib import import_module
from typing import Any, NamedTuple, Protocol


class Command(Protocol):
    """What the module of a command has. Exit codes of its own are told at the end of `EXAMPLES`."""

    EXAMPLES: str

    def add_arguments(self, parser: ArgumentParser, /) -> None:
        """Add the command's operands and options to its parser."""

    def run(self, options: Namespace, /) -> int:
        """Do what the options ask for and return the exit code."""


class Row(NamedTuple):
    """A command: its name, what it does in a few words, its operands in the usage line, and its module.

    `suffixes` are those of the files that a shell completes its operands by.
    """

    name: str
    summary: str
    operands: str
    module: str
    suffixes: tuple[str, ...] = ()

    def load(self) -> Command:
        """Import and return the command's module."""
        module: Any = import_module(self.module)
        return module  # type: ignore[no-any-return]


ARRAYS = (".npy", ".npz", ".csv")

ROWS = (
    Row(
        "eval",
        "compute an expression over arrays in files",
        "EXPR FILE ...",
        "nameexpr.cli.commands.eval",
        ARRAYS,
    ),
    Row(
        "plan",
        "show how an expression would be computed: steps, costs, pictures",
        "EXPR SHAPE ...",
        "nameexpr.cli.commands.plan",
        ARRAYS,
    ),
    Row(
        "code",
        "show the NumPy that computes an expression, ready to paste",
        "EXPR SHAPE ...",
        "nameexpr.cli.commands.code",
        ARRAYS,
    ),
    Row(
        "check",
        "find wrong texts in Python files and notebooks",
        "PATH ...",
        "nameexpr.cli.commands.check",
        (".py", ".ipynb"),
    ),
    Row(
        "fmt",
        "print the canonical form of expressions and formulas",
        "[TEXT ...]",
        "nameexpr.cli.commands.fmt",
    ),
    Row(
        "explain",
        "show a page about an error code, or all there is to say of an expression",
        "[CODE ... | EXPR SHAPE ...]",
        "nameexpr.cli.commands.explain",
    ),
    Row(
        "repl",
        "try expressions and formulas, line by line",
        "[NAME=FILE ...]",
        "nameexpr.repl.command",
        ARRAYS,
    ),
    Row(
        "doctor",
        "show versions, BLAS and threads, and what is wrong with them",
        "",
        "nameexpr.cli.doctor",
    ),
    Row(
        "completion",
        "print a script that completes these commands in bash or zsh",
        "SHELL",
        "nameexpr.cli.commands.completion",
    ),
)

NAMES = tuple(row.name for row in ROWS)


def row_of(name: str) -> Row | None:
    """Return the row of a command, or None if there is no such command."""
    return next((row for row in ROWS if row.name == name), None)
