"""The output of `:explain`: the page about an error code, or about a kind of mistake that has no code.

Every error of a session has one or the other. The kinds are rows of a table; their examples are lines of a
session that has a tensor `x[N C]`, and the tests run them.

>>> print(explained(Fault("command"), 80))
Commands
<BLANKLINE>
A command begins with a colon and takes what :help COMMAND shows. :help lists
all commands, and Tab completes their names and arguments.
<BLANKLINE>
    > :plna x
    > :plan x * 2
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import NamedTuple

from nameexpr.carets import visible
from nameexpr.errors import NameExprError, did_you_mean
from nameexpr.session.layout import filled
from nameexpr.terminal.faults import CommandError, LineError
from nameexpr.terminal.pages import WIDTH, page

FRAMES = 6
"""The number of lines of a Python traceback that are kept."""


class Fault(NamedTuple):
    """An error that was printed: its code or kind ("" if there was none), and a Python line's traceback."""

    code: str = ""
    detail: str = ""


class Kind(NamedTuple):
    """A kind of mistake without a code: a title, an explanation, a wrong line and correct lines."""

    title: str
    about: str
    wrong: str = ""
    right: tuple[str, ...] = ()


KINDS: Mapping[str, Kind] = {
    "tensor": Kind(
        "Names without a tensor",
        "A line uses a name that is neither a tensor of the session nor a function. :names lists the "
        "tensors. Create one with a factory, load one from a file with :load, or take one from Python.",
        "x * v",
        ("v = ones(C=3)", "v[C] = !np.ones(3)", "x * v"),
    ),
    "operand": Kind(
        "Operands of an expression",
        "The operands of an expression follow a bar: tensors and Python scalars in the order of the terms, "
        "then the sizes of labels that the operands do not determine. The bar may be left out if each term "
        "has exactly the names of one tensor.",
        "N K -> K N",
        ("N C -> C N | x", "N C -> C N", "N (a b) -> a N b | x, a=1"),
    ),
    "factory": Kind(
        "Calls of a factory",
        "randn, rand, zeros, ones and arange create a tensor from the sizes of its dims. Every size has a "
        "name and is a whole number; dtype= sets the dtype. Nothing may follow the closing bracket; compute "
        "on the next line.",
        "y = zeros(3, 4)",
        ("y = zeros(N=3, C=4)", "y = arange(N=3, dtype=float32)"),
    ),
    "python": Kind(
        "Python lines",
        "What follows ! is run by Python, and the exception is Python's. np, ne and the tensors are "
        "defined; arrays and numbers that the code assigns to variables become tensors of the session. An "
        "error changes no tensor.",
        "!x.data.sum(axis=7)",
        ("!x.data.sum(axis=1)", "y[N] = !x.data.sum(axis=1)"),
    ),
    "file": Kind(
        "Files",
        ":load reads .npy, .npz and .csv files, :save writes them, and :script runs the lines of a .ne "
        "file. Paths are relative to the folder in which the REPL was started; ~ is your home folder. Quote "
        "a path that contains spaces. Of an archive, FILE.npz:KEY is one array. A file is written "
        "completely or not at all.",
        ":load y[N C] nothing.npy",
        (":save x x.npy", ":load y[N C] x.npy"),
    ),
    "command": Kind(
        "Commands",
        "A command begins with a colon and takes what :help COMMAND shows. :help lists all commands, and "
        "Tab completes their names and arguments.",
        ":plna x",
        (":plan x * 2",),
    ),
    "setting": Kind(
        "Settings",
        ":set lists the settings, and :set NAME VALUE changes one; the value auto restores the default. A "
        "setting applies to the lines after it, and :undo takes it back.",
        ":set precision many",
        (":set precision 8", ":set precision auto"),
    ),
    "limit": Kind(
        "Memory and nesting",
        "The line needs more memory than the machine has or than :set memory_limit allows, or its brackets "
        "are nested too deeply. Memory is checked before it is allocated. Take smaller sizes, a smaller "
        "dtype, or sum over dims in the same formula, so that intermediate results need not be stored.",
        "y = zeros(A=100000000, B=100000000)",
        ("y = zeros(A=1000, dtype=float32)", ":set memory_limit 1GB"),
    ),
    "stopped": Kind(
        "Lines that were not run",
        "At a terminal, a line that is expected to take more than ten seconds is run only after you confirm "
        "it, and Ctrl-C stops a line. Nothing has changed. :plan shows which steps take long, and how much "
        "memory they need.",
    ),
    "internal": Kind(
        "Bugs",
        "The error is in nameexpr itself, and nothing has changed. Please report it with the line, the "
        "sizes of its tensors and the traceback.",
    ),
}
"""Kinds of mistakes that have no code, by the `code` of their error."""
_ALSO: Mapping[str, str] = {"usage": "file"}
"""Kinds that are explained with another one."""


def fault_of(error: BaseException) -> Fault:
    """Return the parts of an error that are kept until it is explained."""
    if isinstance(error, NameExprError):
        return Fault(error.code)
    if isinstance(error, CommandError):
        return Fault(error.code, error.detail)
    if isinstance(error, MemoryError | RecursionError):
        return Fault("limit")
    return Fault("internal", traceback_text(error))


def traceback_text(error: BaseException, where: str = "", code: str = "") -> str:
    """Format a traceback, from the first frame in the file `where` if that is given; `code` is its source."""
    frames = list(traceback.extract_tb(error.__traceback__))
    inside = [at for at, frame in enumerate(frames) if frame.filename == where]
    first = inside[0] if inside else len(frames) * bool(where)
    kept = frames[first:][-FRAMES:]
    source = code.split("\n")
    named = [
        traceback.FrameSummary(frame.filename, frame.lineno, frame.name, line=source[(frame.lineno or 1) - 1])
        if frame.filename == where and frame.name == "<module>"
        else frame
        for frame in kept
    ]
    return visible("".join(traceback.format_list(named)).rstrip("\n"))


def explained(fault: Fault, width: int | None) -> str:
    """Return the page about an error (LineError if there is none)."""
    name = fault.code.casefold()
    kind = KINDS.get(_ALSO.get(name, name))
    if kind is not None:
        return _page(kind, fault.detail, width)
    try:
        return page(fault.code, width).rstrip("\n")
    except LookupError as error:
        hint = did_you_mean(name, KINDS) or f"a code such as NE304, or one of {', '.join(KINDS)}"
        raise LineError(str(error), hint=hint) from None


def _page(kind: Kind, detail: str, width: int | None) -> str:
    parts = [kind.title, "\n".join(filled(kind.about, min(WIDTH, width or WIDTH)))]
    if detail:
        parts.append(detail)
    if lines := [line for line in (kind.wrong, *kind.right) if line]:
        parts.append("\n".join(f"    > {line}" for line in lines))
    return "\n\n".join(parts)
