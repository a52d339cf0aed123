"""`nameexpr code`: the NumPy that computes an expression or a formula, as a function to paste."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from nameexpr.terminal.arguments import add_expression, add_options

EXAMPLES = """\
examples:
  nameexpr code 'batch chan, chan out -> batch out' 32,64 64,10
  nameexpr code 'N (h d) -> N h d' x.npy --size h=8 > split_heads.py

shapes are given as for plan; with none, sizes are assumed."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add EXPR, SHAPEs and options."""
    add_expression(parser)
    add_options(parser)


def run(options: Namespace) -> int:
    """Print the source."""
    from nameexpr.cli.computing import code
    from nameexpr.terminal.screen import Report, tell

    source = code(options)
    tell(Report(source.rstrip("\n"), {"code": source}), options)
    return 0
