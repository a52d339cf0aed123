"""The commands, and the parsing of arguments. Only argparse is loaded: `--help` is fast.

A command's module is imported when the command is used. It contains `EXAMPLES`, the text after its options in
`--help`, which ends with its exit codes; `add_arguments(parser)`; and `run(options)`, which loads the code
that computes, and returns the report to print, or an exit code.

Two features are added to argparse: options may be placed between operands, and an argument that begins with a
hyphen but is an expression ("->a") or a number (-1e3) is not an option.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

from nameexpr.terminal.arguments import PLAIN, merged_sizes, plain
from nameexpr.terminal.faults import UsageError, harmless, quoted
from nameexpr.version import __version__

_NO_OPTION = re.compile(
    r"-(?:>|(?:[\d.]|inf|nan)[\w.+-]*$"
    r"|[(~]|(?!o.*\.(?:npy|npz|csv))[^\W\d]\w*'*[\[(])",  # a formula: -x[N], -(x + 1)
    re.DOTALL,
)
_COLUMNS = 80
_COLORS = ("auto", "always", "never")
_EXITS = "exit codes:"
_TAIL = f"""
{_EXITS} 0 success, 1 the expression or the data is wrong, 2 the arguments are wrong, 130 interrupted.
Arguments after -- are not options."""
_EXAMPLES = """\
examples:
  nameexpr eval 'N C H W, C -> N C H W' images.npy scale.npy -o y.npy
  nameexpr eval 'N C -> C : mean' table.csv
  nameexpr eval 'd[i j] = sum[D]((x[i D] - y[j D]) ** 2)' x=points.npy y=centres.npy
  nameexpr plan 'a b, b c, c d -> a d' 10,2000 2000,10 10,3000
  nameexpr fmt 'N  (C H=2),C->N H : sum'
  nameexpr explain NE304
"""


class Subcommand(NamedTuple):
    """A command: its name, its operands in the usage line, its summary, and the suffixes of files with which
    shells complete its operands. `home` is the module of one that is not in `commands`.
    """

    name: str
    operands: str
    summary: str
    suffixes: tuple[str, ...] = ()
    home: str = ""

    def load(self) -> Any:
        """Import and return the command's module."""
        return import_module(self.home or f"nameexpr.cli.commands.{self.name}")


_ARRAYS = (".npy", ".npz", ".csv")
_PYTHON = (".py", ".ipynb")
_PLANNED = "show how an expression would be evaluated: steps, costs, pictures"
_SOURCE = "show an expression as NumPy code to paste"
_GRADIENT = "write out the gradients of a formula"
_EXPLAINED = "explain an error code or an expression"
_SESSION = "try expressions and formulas interactively"
_INSTALLED = "check the installation: versions, BLAS, threads"
_MEASURED = "measure this machine, to choose the fastest strategies for it"
ROWS = (
    Subcommand("eval", "EXPR FILE ...", "evaluate an expression on arrays in files", _ARRAYS),
    Subcommand("plan", "EXPR SHAPE ...", _PLANNED, _ARRAYS),
    Subcommand("code", "EXPR SHAPE ...", _SOURCE, _ARRAYS),
    Subcommand("gradient", "EXPR [SHAPE ...]", _GRADIENT, _ARRAYS),
    Subcommand("check", "PATH ...", "find mistakes in expressions in Python files and notebooks", _PYTHON),
    Subcommand("fmt", "[TEXT ...]", "print the canonical form of expressions and formulas"),
    Subcommand("explain", "[CODE ... | EXPR SHAPE ...]", _EXPLAINED),
    Subcommand("repl", "[NAME=FILE ...]", _SESSION, _ARRAYS, "nameexpr.repl.command"),
    Subcommand("doctor", "", _INSTALLED, (), "nameexpr.cli.doctor"),
    Subcommand("calibrate", "", _MEASURED),
    Subcommand("lsp", "", "start the language server for editors"),
    Subcommand("completion", "SHELL", "print a completion script for bash or zsh"),
)
NAMES = tuple(row.name for row in ROWS)


class _Form(argparse.RawDescriptionHelpFormatter):
    """A help formatter as wide as the terminal; argparse's would load shutil to find the width."""

    def __init__(self, prog: str, **settings: Any) -> None:
        super().__init__(prog, **{"width": _columns() - 2, "max_help_position": 28, **settings})


def _columns() -> int:
    with suppress(KeyError, ValueError):
        return int(os.environ["COLUMNS"]) or _COLUMNS
    with suppress(OSError):
        return os.get_terminal_size(1).columns or _COLUMNS
    return _COLUMNS


class Parser(argparse.ArgumentParser):
    """A parser that raises its errors, and removes the marks of arguments that are not options."""

    def __init__(self, prog: str, **settings: str) -> None:
        super().__init__(prog, formatter_class=_Form, allow_abbrev=False, **settings)  # type: ignore[arg-type]
        self.color = False  # Python 3.14 would colour by its own rules
        self.register("type", None, plain)
        self.register("type", str, plain)

    def error(self, message: str) -> NoReturn:
        """Raise a `UsageError`."""
        hint = f"see {self.prog} --help"
        raise UsageError(harmless(message.replace(PLAIN, "")), hint, usage=self.format_usage())


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments (UsageError if they are invalid). `run` is the function of the command, `command`
    its name. SystemExit means that help or the version was requested, and printed.
    """
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    row = next((row for row in ROWS if [row.name] == [*arguments[:1]]), None)
    if row is None:
        raise _no_command(arguments)
    parser = command_parser(row)
    options = parser.parse_intermixed_args(_protected(arguments[1:]))
    options.command, options.run = row.name, row.load().run
    options.usage = f"usage: {parser.usage}\n"
    if "size" in options:
        options.sizes = merged_sizes(options)
    return options


def color_of(arguments: Sequence[str]) -> str:
    """Return the `--color` among arguments that may otherwise be invalid.

    >>> color_of(["eval", "--color", "never", "--bogus"])
    'never'
    """
    chosen = [argument.removeprefix("--color=") for argument in arguments if argument.startswith("--color=")]
    chosen += [after for argument, after in pairwise(arguments) if argument == "--color"]
    return next((color for color in chosen if color in _COLORS), "auto")


def command_parser(row: Subcommand) -> Parser:
    """Return the parser of a command, whose module is imported for it."""
    command = row.load()
    parser = Parser(
        f"nameexpr {row.name}",
        usage=" ".join(filter(None, ["nameexpr", row.name, "[options]", row.operands])),
        description=f"{row.summary[0].upper()}{row.summary[1:]}.",
        epilog=command.EXAMPLES.strip("\n") + ("" if _EXITS in command.EXAMPLES else f"\n{_TAIL}"),
    )
    command.add_arguments(parser)
    data = "print results and errors as one line of JSON"
    parser.add_argument("--json", action="store_true", help=data)
    colors = "when to colour errors; auto: on terminals, unless NO_COLOR is set"
    parser.add_argument("--color", choices=_COLORS, default="auto", help=colors)
    return parser


def _no_command(arguments: Sequence[str]) -> UsageError:
    """Return the error for arguments that do not begin with a command; `--help` and `--version` end here."""
    parser = Parser("nameexpr", usage="nameexpr [--help] [--version] COMMAND ...")
    width = max(map(len, NAMES))
    listed = "\n".join(f"  {row.name:<{width}}  {row.summary}" for row in ROWS)
    parser.description = f"Array expressions with named dims.\n\ncommands:\n{listed}"
    parser.epilog = f"Run nameexpr COMMAND --help for the options of a command.\n\n{_EXAMPLES}{_TAIL}"
    version = f"nameexpr {__version__}"
    parser.add_argument("--version", action="version", version=version, help="show the version and exit")
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    word = parser.parse_known_args(_protected(arguments[:1]))[0].command
    names = ", ".join(NAMES)
    if word is None:
        wrong = f"there is no option {harmless(arguments[0])}" if arguments else "a command is missing"
        return UsageError(wrong, f"the commands are {names}", usage=parser.format_usage())
    if " " in word or "->" in word:
        hint = f"to evaluate an expression: nameexpr eval {quoted(word)} FILE..."
    else:
        from nameexpr.errors import did_you_mean

        hint = did_you_mean(word, NAMES) or f"the commands are {names}"
    return UsageError(f"there is no command {quoted(word)}", hint, usage=parser.format_usage())


def _protected(arguments: Sequence[str]) -> list[str]:
    """Mark the arguments that argparse would mistake for options."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    marked = [PLAIN + argument if _NO_OPTION.match(argument) else argument for argument in arguments[:end]]
    return [*marked, *(PLAIN + argument for argument in arguments[end + 1 :])]
