"""`nameexpr completion`: the script by which bash or zsh completes arguments, as shtab writes it."""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace
from typing import Any

SHELLS = ("bash", "zsh")
FILE = "FILE"
"""Metavar of the arguments that are files."""
DTYPES = ("bool", "int64", "float16", "float32", "float64", "complex64", "complex128")
EXAMPLES = """\
examples:
  eval "$(nameexpr completion bash)"             in ~/.bashrc
  nameexpr completion zsh > ~/.zfunc/_nameexpr   in a folder of fpath, before compinit

completed are commands, options, their values where there is a choice, error codes, and files:
arrays for eval, plan and code, Python files and notebooks for check. the script is written by
shtab: pip install 'nameexpr[completion]'."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add SHELL."""
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash or zsh")


def run(options: Namespace) -> int:
    """Print the script."""
    from nameexpr.terminal.report import Report, tell

    text = script(options.shell)
    tell(Report(text.rstrip("\n"), {"shell": options.shell, "script": text}), options)
    return 0


def script(shell: str) -> str:
    """Return the completion script for a shell.

    Raises
    ------
    OptionError
        NE686, if shtab is not installed.
    """
    try:
        import shtab
    except ImportError as missing:
        from nameexpr.errors import Diagnostic, error

        message = "completion needs shtab, which is not installed"
        raise error(Diagnostic("NE686", message, hint="pip install 'nameexpr[completion]'")) from missing
    return str(shtab.complete(_all_commands(shtab), shell))


def _all_commands(shtab: Any) -> ArgumentParser:
    """Return one parser with the commands' own below it, marked with what completes their arguments."""
    from nameexpr.cli.parser import NAMES, ROWS, Parser, command_parser
    from nameexpr.version import __version__

    rows = {f"nameexpr {row.name}": row for row in ROWS}

    def subparser(prog: str, **_: Any) -> Parser:
        return command_parser(rows[prog]) if prog in rows else Parser(prog)

    kind: Any = subparser

    parser = Parser("nameexpr")
    parser.add_argument("--version", action="version", version=__version__, help="show the version and exit")
    commands = parser.add_subparsers(parser_class=kind)
    for row in ROWS:
        patterns = [f"*{suffix}" for suffix in row.suffixes]
        for action in commands.add_parser(row.name, help=row.summary)._actions:  # no public list of them
            is_operand = not action.option_strings and action.nargs in ("*", "+")
            action.choices = action.choices or _words(action)
            if is_operand and patterns and not action.choices:
                action.complete = shtab.glob(*patterns)
            elif action.metavar == FILE:
                action.complete = shtab.FILE
    helped = commands.add_parser("help", help="show the help of a command")
    helped.add_argument("command", choices=NAMES)
    return parser


def _words(action: Action) -> tuple[str, ...] | None:
    """Return values worth offering, where others will do as well."""
    if action.dest == "dtype":
        return DTYPES
    if action.dest == "reduce":
        from nameexpr.ops import REDUCTIONS

        return tuple(REDUCTIONS)
    if action.dest == "optimize":
        from nameexpr.compiler.planning.path import STRATEGIES

        return ("true", "false", *sorted(STRATEGIES))
    if action.dest == "words":
        from nameexpr.terminal.pages import codes

        return codes()
    return None
