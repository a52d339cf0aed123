"""Arguments that several commands share, and how their values are parsed. Only argparse is loaded."""

from __future__ import annotations

import math
import os
import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace

from nameexpr.terminal.faults import FileError, UsageError, quoted

PLAIN = "\0"  # marks an argument that is not an option; no argument of a process can contain it
MAX_SIZE = 2**63 - 1
EXPRESSION = "such as 'batch chan, chan out -> batch out', or a formula"
_BYTES = re.compile(r"(\d{1,30}(?:\.\d{1,30})?)\s*(?:([kmgt])(i?))?b?", re.IGNORECASE | re.ASCII)
_UNITS = "kmgt"


def add_expression(parser: ArgumentParser) -> None:
    """Add EXPR and its SHAPEs, or files in their place."""
    parser.add_argument("expression", metavar="EXPR", help=EXPRESSION)
    parser.add_argument("operands", metavar="SHAPE", nargs="*", default=[], help="one shape for each operand")


def add_options(parser: ArgumentParser) -> None:
    """Add the options of `nameexpr.compile`."""
    size = "size of a label that the operands do not determine; can be repeated"
    parser.add_argument("--size", metavar="NAME=N", type=as_size, action="append", default=[], help=size)
    parser.add_argument("--dtype", metavar="DTYPE", help="the dtype to compute in, such as float32")
    optimize = "how to choose the order of contractions: true, false, or a strategy such as greedy or optimal"
    parser.add_argument("--optimize", metavar="HOW", type=as_optimize, help=optimize)
    reducer = "how to reduce dims that are dropped: sum, mean, max, ..., as ': NAME' in the text"
    parser.add_argument("--reduce", metavar="NAME", help=reducer)
    order = "C: return a new array in row-major order"
    parser.add_argument("--order", choices=("C",), help=order)
    limit = "the most memory to allocate, such as 512MB or 2GiB; what needs more is computed in slices"
    parser.add_argument("--memory-limit", metavar="BYTES", type=as_bytes, help=limit)


def plain(argument: str) -> str:
    """Remove the mark of an argument that is not an option."""
    return argument.removeprefix(PLAIN)


def as_size(argument: str) -> tuple[str, int]:
    """Parse a label and its size.

    >>> as_size("h = 8")
    ('h', 8)
    """
    name, _, value = plain(argument).partition("=")
    name, value = name.strip(), value.strip()
    if not name or not (value.isascii() and value.isdigit()):
        raise ArgumentTypeError(f"{quoted(argument)} is not a size: write a label and its size, such as h=8")
    if len(value) > len(str(MAX_SIZE)) or int(value) > MAX_SIZE:
        raise ArgumentTypeError(f"{quoted(argument)}: no array is that large")
    return name, int(value)


def as_optimize(argument: str) -> str | bool:
    """Parse how to order contractions: a truth value, or the name of a strategy.

    >>> as_optimize("True"), as_optimize("greedy")
    (True, 'greedy')
    """
    return {"true": True, "false": False}.get(plain(argument).casefold(), plain(argument))


def as_bytes(argument: str) -> int:
    """Parse a number of bytes; kB, MB, GB and TB are powers of 1000, KiB, MiB, GiB and TiB of 1024.

    >>> as_bytes("512MB"), as_bytes("2GiB"), as_bytes("1.5 kB")
    (512000000, 2147483648, 1500)
    """
    match = _BYTES.fullmatch(plain(argument).strip())
    if match is None:
        raise ArgumentTypeError(f"{quoted(plain(argument))} is not a number of bytes, such as 512MB or 2GiB")
    number, unit, binary = match.groups()
    factor = math.prod([1024 if binary else 1000] * (_UNITS.index(unit.lower()) + 1 if unit else 0))
    whole, _, part = number.partition(".")
    return int(whole + part) * factor // math.prod([10] * len(part))


def merged_sizes(options: Namespace) -> dict[str, int]:
    """Merge the sizes of all `--size` (UsageError if a label has two)."""
    sizes: dict[str, int] = {}
    for name, size in options.size:
        if sizes.setdefault(name, size) != size:
            message = f"the size of {quoted(name)} is given twice: {sizes[name]} and {size}"
            raise UsageError(message, "give it once", usage=options.usage)
    return sizes


def check_place(path: str, argument: str) -> None:
    """Reject a path that is a folder, or in one that does not exist (FileError)."""
    if not path:
        raise FileError("the file to write has no name", "name one")
    folder = os.path.dirname(path)
    if os.path.isdir(path) or (folder and not os.path.isdir(folder)):
        is_folder = os.path.isdir(path)
        what = "it is a folder" if is_folder else f"there is no folder {quoted(folder)}"
        hint = "name a file in it" if is_folder else "make it, or write elsewhere"
        raise FileError(f"cannot write {quoted(argument)}: {what}", hint)
