"""`nameexpr code`: the NumPy that computes an expression or a formula, as a function to paste."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from nameexpr.terminal.arguments import add_expression, add_options

if TYPE_CHECKING:
    from nameexpr.terminal.screen import Report

EXAMPLES = """\
examples:
  nameexpr code 'batch chan, chan out -> batch out' 32,64 64,10
  nameexpr code 'N (h d) -> N h d' x.npy --size h=8 > split_heads.py

Shapes are given as for plan; without them, sizes are assumed."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add EXPR, SHAPEs and options."""
    add_expression(parser)
    add_options(parser)


def run(options: Namespace) -> Report:
    """Return the source."""
    from nameexpr.cli.computing import code
    from nameexpr.terminal.screen import Report

    source = code(options)
    return Report(source.rstrip("\n"), {"code": source})
