"""`nameexpr completion`: a script that lets bash or zsh complete commands, options and files."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

SHELLS = ("bash", "zsh")
EXAMPLES = """\
examples:
  eval "$(nameexpr completion bash)"             in ~/.bashrc
  nameexpr completion zsh > ~/.zfunc/_nameexpr   in a folder of fpath, before compinit

completed are commands, options, their values where there is a choice, error codes, and files:
arrays for eval, plan and code, Python files and notebooks for check, also behind name=."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add SHELL."""
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash or zsh")


def run(options: Namespace) -> int:
    """Print the script."""
    from nameexpr.terminal.report import Report, tell

    if options.shell == "bash":
        from nameexpr.cli.completion.bash import script
    else:
        from nameexpr.cli.completion.zsh import script
    text = script()
    tell(Report(text.rstrip("\n"), {"shell": options.shell, "script": text}), options)
    return 0
