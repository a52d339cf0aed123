r"""The output of commands: results on standard output, errors on standard error, coloured if wanted.

A report is a result as text for people and as data for programs. No NumPy is loaded.

>>> strong("SizeError[NE304]: no")
'\x1b[1;31mSizeError[NE304]: no\x1b[0m'
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from nameexpr.carets import aligned_columns, visible

if TYPE_CHECKING:
    from nameexpr.errors import NameExprError
    from nameexpr.runtime.check import Sizes
    from nameexpr.runtime.plan.plan import Plan


def say(text: str) -> None:
    """Write a line to standard output; characters that its encoding lacks are escaped."""
    _write(sys.stdout, text)


def complain(text: str) -> None:
    """Write a line to standard error. If that fails, the exit code still reports the error."""
    try:
        _write(sys.stderr, text)
    except (OSError, ValueError):
        return


def warn(message: str, *, color: str = "auto") -> None:
    """Write a warning to standard error, on one line."""
    text = "nameexpr: warning: " + " ".join(visible(message).splitlines())
    complain(emphasis(color, sys.stderr)(text))


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:  # closed before Python started
        return
    try:
        stream.write(text + "\n")
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def strong(text: str) -> str:
    """Return a text in bold red."""
    return f"\x1b[1;31m{text}\x1b[0m"


def emphasis(choice: str, stream: TextIO | None) -> Callable[[str], str]:
    """Return the function that highlights the heads and carets of errors on a stream: `strong`, or `str`
    without colours.
    """
    return strong if is_colour_wanted(choice, stream) else str


def is_colour_wanted(choice: str, stream: TextIO | None) -> bool:
    """Decide whether to colour: as chosen, else by NO_COLOR, then FORCE_COLOR, else on terminals only.

    Notes ----- An environment variable counts if it is set and not empty: https://no-color.org and
    https://force-color.org.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream is not None and os.environ.get("TERM") != "dumb" and stream.isatty()


def finish() -> None:
    """Flush standard output (OSError if its reader is gone)."""
    if sys.stdout is not None:
        sys.stdout.flush()


def discard() -> None:
    """Discard the buffer of standard output, which Python would otherwise try to write again when it ends."""
    try:
        number = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        return


class Report(NamedTuple):
    """A result in both forms."""

    text: str
    data: Mapping[str, Any]


def tell(report: Report, options: Namespace) -> None:
    """Print a report in the requested form: as text, or as one line of JSON."""
    say(dumped(report.data) if options.json else report.text)


def of_sizes(sizes: Sizes) -> Report:
    """Report the sizes that a check found.

    >>> from nameexpr.runtime.check import Sizes
    >>> print(of_sizes(Sizes({"C": 3, "out": 5}, {"batch": (2, 4)})).text)
    C         3
    out       5
    batch...  (2, 4)
    """
    rows = [[f"{label} ", str(size)] for label, size in sizes.items()]
    rows += [[f"{name.removesuffix('...')}... ", str(shape)] for name, shape in sizes.packs.items()]
    text = "\n".join(aligned_columns(rows)) if rows else "the shapes fit"
    return Report(text, {"sizes": dict(sizes), "packs": sizes.packs})


def of_plan(plan: Plan) -> Report:
    """Report a plan as a table; as data, its steps and totals."""
    from dataclasses import asdict

    data = {
        "text": plan.text,
        "steps": [asdict(step) for step in plan.steps],
        "flops": plan.flops,
        "naive_flops": plan.naive_flops,
        "seconds": plan.seconds,
        "speedup": plan.speedup,
        "peak_bytes": plan.peak_bytes,
        "operand_bytes": plan.operand_bytes,
        "shape": plan.result_shape,
        "dtype": plan.dtype or None,
    }
    return Report(str(plan), data)


def error_data(fault: NameExprError) -> dict[str, Any]:
    """Convert an error to data: its first diagnostic, the others under `more`."""
    first, *others = (
        {
            "code": diagnostic.code,
            "class": type(fault).__name__,
            "message": diagnostic.message,
            "text": diagnostic.text,
            "spans": [{"start": m.span.start, "end": m.span.end, "note": m.note} for m in diagnostic.marks],
            "operands": [operand._asdict() for operand in diagnostic.operands],
            "hint": diagnostic.hint,
        }
        for diagnostic in fault.diagnostics
    )
    return {"error": first | {"more": others}}


def dumped(data: Mapping[str, Any]) -> str:
    """Serialise data as JSON on one line, in ASCII."""
    import json

    return json.dumps(data, allow_nan=False, default=str)
