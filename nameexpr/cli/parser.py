"""Arguments into a namespace of options. Only argparse is loaded, so that `--version` and `--help` are quick.

Two things are added to argparse: options may stand between operands, and what begins with a hyphen but is an
expression ("->a") or a number (-1e3) is taken for what it is.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import NoReturn

from nameexpr.cli.faults import UsageError, harmless, quoted
from nameexpr.version import __version__

_PLAIN = "\0"  # stands before an argument that is no option; no argument of a process can hold it
_NO_OPTION = re.compile(r"-(?:>|(?:[\d.]|inf|nan)[\w.+-]*$)", re.DOTALL)
MAX_SIZE = 2**63 - 1

COMMANDS = {
    "eval": "compute an expression over arrays in files",
    "plan": "show how it would be computed: steps, flops, bytes",
    "code": "show the NumPy that computes it, ready to paste",
    "doctor": "show versions, BLAS, threads and speed, and what is wrong with them",
}

_EXAMPLES = {
    "eval": """\
examples:
  nameexpr eval 'N C H W, C -> N C H W' x.npy scale.npy -o y.npy
  nameexpr eval 'N (h d) -> N h d' x.npy --size h=8
  nameexpr eval 'N C -> C : mean' table.csv
  nameexpr eval 'a b, -> a b' arrays.npz:weights 2.5
  nameexpr eval 'N C, C' x.npy scale.npy         no arrow: check shapes, print sizes
  nameexpr eval 'a b -> b a' - -o - < x.npy > y.npy
  nameexpr eval 'd[i j] = sum[D]((x[i D] - y[j D]) ** 2)' x=points.npy y=centres.npy

operands: .npy, .npz (file.npz:key if it holds several), .csv (numbers; one a line makes
one dim, lines with commas two), - for standard input, or a number if there is no such file.
those of a formula (a text with '=' or brackets, and no arrow) come by name, name=FILE.
with --json, numbers that JSON lacks are the strings "nan", "inf" and "-inf", and complex
numbers are [real, imaginary]; data of more than 1000 elements is null.""",
    "plan": """\
examples:
  nameexpr plan 'N C H W, C -> N C H W' 32,3,64,64 3
  nameexpr plan 'a b, b c, c d -> a d' 10,2000 2000,10 10,3000 --optimize optimal
  nameexpr plan 'N C, -> N C' x.npy scalar
  nameexpr plan 'y[N] = sum[C](x[N C] * w[C])' x=32,3 w=3

a shape is sizes with commas; () or scalar is a number. Of a .npy file only shape and dtype
are read; shapes alone stand for float64.""",
    "code": """\
examples:
  nameexpr code 'batch chan, chan out -> batch out' 32,64 64,10
  nameexpr code 'N (h d) -> N h d' x.npy --size h=8 > split_heads.py

shapes are given as for plan; with none, sizes are assumed.""",
    "doctor": """\
examples:
  nameexpr doctor
  nameexpr doctor --json
  OPENBLAS_NUM_THREADS=1 nameexpr doctor         what another setting would do

It says which Python, NumPy and BLAS there are, which kernels and how many threads the BLAS
runs, computes a few expressions and compares them with np.einsum, and times a product, a
copy and a call, in about a second. What can be improved follows as problems and warnings.
Nothing is written, and no network is used.""",
}
_TAIL = """
exit codes: 0 fine, 1 the expression or the data is wrong, 2 the arguments are, 130 interrupted.
what comes after -- is no option."""
_DOCTOR_TAIL = """
exit codes: 0 fine, or warnings only; 1 a problem: a package is missing, too old or too new,
the grammar cannot be read, or a result is wrong; 2 the arguments are, 130 interrupted."""


class _Parser(argparse.ArgumentParser):
    """A parser that raises its mistakes."""

    def error(self, message: str) -> NoReturn:
        """Raise a `UsageError`."""
        hint = f"see {self.prog} --help"
        raise UsageError(harmless(message.replace(_PLAIN, "")), hint, usage=self.format_usage())


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options; `command` says which command they are for.

    Raises
    ------
    UsageError
        If they make no sense.
    SystemExit
        If help or the version was asked for, and printed.
    """
    if not arguments or arguments[0] not in COMMANDS:
        raise _no_command(arguments)
    parser = _command_parser(arguments[0])
    options = parser.parse_intermixed_args(_protected(arguments[1:]))
    options.command = arguments[0]
    options.usage = parser.format_usage()
    if "size" in options:
        options.sizes = _merged(options)
    return options


def _no_command(arguments: Sequence[str]) -> UsageError:
    """Return what is wrong with arguments that begin with no command; `--help` and `--version` end here."""
    parser = _Parser("nameexpr", formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.description = "Expressions over arrays whose dims have names.\n\ncommands:\n" + "\n".join(
        f"  {name:<6}   {what}" for name, what in COMMANDS.items()
    )
    parser.epilog = (
        "nameexpr COMMAND --help has more.\n\n" + _EXAMPLES["eval"].rpartition("\n\n")[0] + "\n" + _TAIL
    )
    parser.usage = "nameexpr [--help] [--version] COMMAND ..."
    parser.add_argument("--version", action="version", version=f"nameexpr {__version__}")
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    word = parser.parse_known_args(_protected(arguments[:1]))[0].command
    names = ", ".join(COMMANDS)
    if word is None:
        wrong = f"there is no option {harmless(arguments[0])}" if arguments else "a command is missing"
        return UsageError(wrong, f"the commands are {names}", usage=parser.format_usage())
    given = word.removeprefix(_PLAIN)
    if " " in given or "->" in given:
        hint = f"to compute an expression: nameexpr eval {quoted(given)} FILE..."
    else:
        from nameexpr.errors import did_you_mean

        hint = did_you_mean(given, COMMANDS) or f"the commands are {names}"
    return UsageError(f"there is no command {quoted(given)}", hint, usage=parser.format_usage())


def _command_parser(name: str) -> argparse.ArgumentParser:
    if name == "doctor":
        return _doctor_parser()
    operand, what = ("FILE", "operand") if name == "eval" else ("SHAPE", "shape")
    parser = _Parser(
        f"nameexpr {name}",
        usage=f"nameexpr {name} [options] EXPR {operand} ...",
        description=COMMANDS[name].capitalize() + ".",
        epilog=_EXAMPLES[name] + "\n" + _TAIL,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "expression",
        metavar="EXPR",
        type=_plain,
        help="such as 'batch chan, chan out -> batch out', or a formula",
    )
    parser.add_argument("operands", metavar=operand, type=_plain, nargs="*", help=f"one {what} for each term")
    if name == "eval":
        where = "write the result: .npy, .npz, file.npz:key, .csv; - for standard output as .npy"
        parser.add_argument("-o", "--output", metavar="FILE", type=_plain, help=where)
    size = "size of a label that the operands do not tell; may be repeated"
    parser.add_argument("--size", metavar="NAME=N", type=_size, action="append", default=[], help=size)
    parser.add_argument(
        "--dtype", metavar="DTYPE", type=_plain, help="the dtype to compute in, such as float32"
    )
    order = "order of contractions: true, false, or a strategy such as greedy, optimal"
    parser.add_argument("--optimize", metavar="HOW", type=_optimize, help=order)
    reducer = "combine what is dropped by sum, mean, max, ..., as ': NAME' in the text does"
    parser.add_argument("--reduce", metavar="NAME", type=_plain, help=reducer)
    return _with_display_options(parser, "error messages")


def _doctor_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        "nameexpr doctor",
        usage="nameexpr doctor [options]",
        description="Show versions, BLAS, threads and speed, and what is wrong with them.",
        epilog=_EXAMPLES["doctor"] + "\n" + _DOCTOR_TAIL,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return _with_display_options(parser, "problems and warnings")


def _with_display_options(parser: argparse.ArgumentParser, coloured: str) -> argparse.ArgumentParser:
    """Add the options that every command has, and return the parser."""
    parser.add_argument(
        "--json", action="store_true", help="results and errors as JSON, one object on one line"
    )
    colors = f"colour of {coloured}; auto is on terminals, and heeds NO_COLOR and FORCE_COLOR"
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help=colors)
    return parser


def _protected(arguments: Sequence[str]) -> list[str]:
    """Mark the arguments that argparse would take for options and that are none."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    marked = [_PLAIN + one if _NO_OPTION.match(one) else one for one in arguments[:end]]
    return [*marked, *(_PLAIN + one for one in arguments[end + 1 :])]


def _plain(argument: str) -> str:
    return argument.removeprefix(_PLAIN)


def _size(argument: str) -> tuple[str, int]:
    name, _, value = _plain(argument).partition("=")
    name, value = name.strip(), value.strip()
    if not name or not (value.isascii() and value.isdigit()):
        raise argparse.ArgumentTypeError(
            f"{quoted(argument)} is no size: write a label and its size, such as h=8"
        )
    if len(value) > len(str(MAX_SIZE)) or int(value) > MAX_SIZE:
        raise argparse.ArgumentTypeError(f"{quoted(argument)}: no array is that large")
    return name, int(value)


def _optimize(argument: str) -> str | bool:
    return {"true": True, "false": False}.get(_plain(argument).casefold(), _plain(argument))


def _merged(options: argparse.Namespace) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for name, size in options.size:
        if sizes.setdefault(name, size) != size:
            message = f"the size of {quoted(name)} is given twice: {sizes[name]} and {size}"
            raise UsageError(message, "give it once", usage=options.usage)
    return sizes
