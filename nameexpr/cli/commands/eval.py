"""`nameexpr eval`: compute an expression or a formula over arrays in files."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from nameexpr.terminal.arguments import EXPRESSION, add_options

if TYPE_CHECKING:
    from nameexpr.terminal.screen import Report

EXAMPLES = """\
examples:
  nameexpr eval 'N C H W, C -> N C H W' images.npy scale.npy -o y.npy
  nameexpr eval 'N (h d) -> N h d' x.npy --size h=8
  nameexpr eval 'N C -> C : mean' table.csv
  nameexpr eval 'a b, -> a b' arrays.npz:weights 2.5
  nameexpr eval 'N C, C' x.npy scale.npy         no arrow: check shapes, print sizes
  nameexpr eval 'a b -> b a' - -o - < x.npy > y.npy
  nameexpr eval 'd[i j] = sum[D]((x[i D] - y[j D]) ** 2)' x=points.npy y=centres.npy

A FILE is .npy, .npz (file.npz:key if it contains several arrays) or .csv (numbers: one per line for one
dim, separated by commas for two), - for standard input, or a number if there is no such file.
The operands of a formula (a text with '=' or brackets, and without an arrow) are given by name: name=FILE.
In JSON, nan and infinities are the strings "nan", "inf" and "-inf", complex numbers are [real, imaginary],
and data of more than 1000 elements is null."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add EXPR, FILEs and options."""
    parser.add_argument("expression", metavar="EXPR", help=EXPRESSION)
    parser.add_argument("operands", metavar="FILE", nargs="*", default=[], help="one array for each operand")
    where = "write the result: .npy, .npz, file.npz:key or .csv; - writes .npy to standard output"
    parser.add_argument("-o", "--output", metavar="FILE", help=where)
    add_options(parser)


def run(options: Namespace) -> Report | None:
    """Return the result, unless it is written to a file and no report is requested."""
    from nameexpr.cli.computing import evaluate

    return evaluate(options)
