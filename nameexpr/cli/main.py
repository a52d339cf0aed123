"""The entry point: runs a command, and turns the outcome into an exit code.

0 is success, 1 is a wrong expression or wrong data, 2 is wrong usage, 130 is Ctrl-C. A closed pipe is not an
error: its reader has seen enough. `--version` and `--help` load neither NumPy nor the compiler.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from nameexpr.cli.parser import color_of, parse
from nameexpr.terminal import screen
from nameexpr.terminal.faults import CommandError, FileError, UsageError, reason

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `argv` are its arguments, by default those of the process.

    >>> main(["--version"])
    nameexpr 0.1.0
    0
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        status = _run(arguments)
        screen.finish()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        screen.discard()
        return 0
    except OSError as fault:
        screen.discard()
        unwritten = FileError(
            f"cannot write to standard output: {reason(fault)}", "make room, or write elsewhere"
        )
        return _fail(unwritten, as_json="--json" in arguments, color="auto")
    return status


def _run(arguments: Sequence[str]) -> int:
    as_json, color = "--json" in arguments, color_of(arguments)
    try:
        options = parse(arguments)
        as_json, color = options.json, options.color
        return _execute(options)
    except SystemExit as stop:  # argparse has printed help or the version
        return stop.code if isinstance(stop.code, int) else 0
    except CommandError as fault:
        return _fail(fault, as_json=as_json, color=color)


def _execute(options: Namespace) -> int:
    """Run a command and report its errors."""
    import warnings

    from nameexpr.errors import NameExprError

    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: screen.warn(str(message), color=options.color)
            result: screen.Report | int | None = options.run(options)
            if isinstance(result, screen.Report):
                screen.tell(result, options)
    except NameExprError as fault:
        strong = screen.emphasis(options.color, sys.stderr)
        screen.complain(screen.dumped(screen.error_data(fault)) if options.json else fault.render(strong))
        return 1
    except MemoryError:
        raise CommandError("there is not enough memory for these arrays") from None
    return result if isinstance(result, int) else 0


def _fail(fault: CommandError, *, as_json: bool, color: str) -> int:
    """Report an error in the arguments or the files, and return its exit code."""
    if as_json:
        error = {"code": fault.code, "message": fault.message, "hint": fault.hint}
        screen.complain(screen.dumped({"error": error}))
        return fault.status
    usage = fault.usage if isinstance(fault, UsageError) else ""
    screen.complain(usage + screen.emphasis(color, sys.stderr)(f"nameexpr: {fault}"))
    return fault.status
