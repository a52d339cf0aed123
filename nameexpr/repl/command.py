"""`nameexpr repl`: the choice of reader, the output of answers, and the exit code."""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from nameexpr.carets import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from nameexpr.repl.loop import PlainReader
    from nameexpr.repl.prompt import PromptReader
    from nameexpr.session.session import Answer, Session

EXAMPLES = """\
examples:
  nameexpr repl
  nameexpr repl x=photos.npy 'scale[C]=scale.npy'
  nameexpr repl --script session.ne              run a file, print a transcript
  nameexpr repl --script talk.txt | diff talk.txt -
  printf 'x = ones(N=2)\\nx + 1\\n' | nameexpr repl

With prompt_toolkit (pip install 'nameexpr[repl]'), the prompt has colours and completion, and shows the type
of the result as you type; without it, there is plain line editing. At a terminal, a line that is expected to
take more than ten seconds runs only after you confirm it. A transcript can be run as a script: only the text
after its prompts is run. With --json, each line gives one object with line, text and fault."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `nameexpr repl`."""
    parser.add_argument("files", metavar="NAME=FILE", nargs="*", help="load tensors first, as :load does")
    parser.add_argument("--script", metavar="FILE", help="run the lines of a file; - reads standard input")
    parser.add_argument("--plain", action="store_true", help="no colours, toolbar or menus")


def run(options: argparse.Namespace) -> int:
    """Run a session; return 1 if it is not interactive and a line failed."""
    from nameexpr.session.commands import new_session

    session = new_session()
    for argument in options.files:
        _load(session, argument)
    stdin = sys.stdin
    if options.script is not None:
        return int(_run_script(session, options) > 0)
    if stdin is None:
        return 0
    from nameexpr.repl.loop import loop, piped_lines
    from nameexpr.session.session import Answer

    if not stdin.isatty():
        write = _writer(session, options, is_piped=True)
        return int(loop(_runner(session, options), piped_lines(stdin), write) > 0)
    if sys.stdout is None or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        options.plain = True  # cursor movement is not for files, nor for dumb terminals
    reader, write = _reader(session, options), _writer(session, options)
    session.confirm = reader.confirm
    if sys.stdout is not None and sys.stdout.isatty():
        session.width = lambda: shutil.get_terminal_size().columns
    sys.stdout.write("nameexpr: help lists what can be typed, Ctrl-D or exit leaves\n")
    loop(
        session.run,
        iter(reader.read, None),
        write,
        interrupted=Answer(session.strong("interrupted"), is_fault=True),
    )
    return 0


def _load(session: Session, argument: str) -> None:
    from nameexpr.session.files import is_target, load
    from nameexpr.session.lines import CommandLine
    from nameexpr.terminal.faults import UsageError, harmless, quoted

    name, equals, path = argument.partition("=")
    if equals and not is_target(name):
        hint = "letters, digits and underscores, then names of dims if need be: 'x[N C]=photos.npy'"
        raise UsageError(f"{quoted(name)} is not a name of a tensor", hint)
    if not equals or not path:
        raise UsageError(
            f"which tensor is {quoted(argument)}?", f"write its name before it: x={harmless(argument)}"
        )
    load(session, CommandLine("load", f"{name} {path}".rstrip(), 0, f":load {name} {path}"))


def _run_script(session: Session, options: argparse.Namespace) -> int:
    """Print a transcript of a script, or with --json the answers; return how many lines failed."""
    from nameexpr.repl.loop import loop
    from nameexpr.session.continuation import lines_of
    from nameexpr.session.files import read_script, transcript

    if options.script == "-":
        lines = lines_of("" if sys.stdin is None else sys.stdin.read())
    else:
        lines = read_script(options.script)
    write = _writer(session, options)
    if options.json:
        return loop(_runner(session, options), iter(lines), write)
    wrong = 0
    for answer in transcript(session, lines):
        write(answer)
        wrong += answer.is_fault
    return wrong


def _runner(session: Session, options: argparse.Namespace) -> Callable[[str], Answer]:
    """Return the function that runs a line; with --json, the output of Python becomes part of the answer."""
    if not options.json:
        return session.run

    def run(line: str) -> Answer:
        printed = io.StringIO()
        with redirect_stdout(printed):
            answer = session.run(line)
        return answer._replace(text=visible(printed.getvalue()) + answer.text)

    return run


def _reader(session: Session, options: argparse.Namespace) -> PlainReader | PromptReader:
    """Return a reader with prompt_toolkit, or a plain one if that is not installed or not requested."""
    if not options.plain:
        try:
            from nameexpr.repl.prompt import PromptReader
        except ImportError:
            sys.stderr.write(
                "nameexpr: colours, a toolbar and menus come with: pip install 'nameexpr[repl]'\n"
            )
        else:
            from nameexpr.terminal.screen import is_colour_wanted

            return PromptReader(session, has_colour=is_colour_wanted(options.color, sys.stdout))
    from nameexpr.repl.loop import PlainReader

    return PlainReader(session)


def _writer(
    session: Session, options: argparse.Namespace, *, is_piped: bool = False
) -> Callable[[Answer], None]:
    """Return the function that prints answers: errors in colour on a terminal, and on standard error for a
    pipe.
    """
    from nameexpr.terminal import screen

    if not options.json:
        session.strong = screen.emphasis(options.color, sys.stderr if is_piped else sys.stdout)

    def write(answer: Answer) -> None:
        if options.json:
            import json

            screen.say(json.dumps({"line": answer.line, "text": answer.text, "fault": answer.is_fault}))
        elif answer.text and answer.is_fault and is_piped:
            screen.finish()
            screen.complain(answer.text)
        elif answer.text:
            screen.say(answer.text)
            screen.finish()

    return write
