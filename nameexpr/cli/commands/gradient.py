"""`nameexpr gradient`: the gradients of a formula, written out as a formula."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from nameexpr.terminal.arguments import add_expression, as_size

if TYPE_CHECKING:
    from nameexpr.terminal.screen import Report

EXAMPLES = """\
examples:
  nameexpr gradient 'loss = mean[N]((sum[C](x[N C] * w[C]) + b - y[N]) ** 2)' --wrt 'w b'
  nameexpr gradient 'z[N] = sum[C](x[N C] * w[C]); h[C D] = grad(grad(sum[N](exp(z)), w[C]), w[D])'
  nameexpr gradient 'y = sum[N](abs(z[N]) ** 2)' z=z.npy --wrt z

The text is for operands of any shape. SHAPEs are needed for files whose dtype matters, such as complex
numbers: they are given as for plan."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add EXPR, SHAPEs, and what to differentiate by."""
    add_expression(parser)
    what = "the operands to differentiate by: 'w b', or w,b; for a formula without grad(...)"
    parser.add_argument("--wrt", metavar="NAMES", help=what)
    size = "size of a label that the operands do not determine; can be repeated"
    parser.add_argument("--size", metavar="NAME=N", type=as_size, action="append", default=[], help=size)
    parser.add_argument("--dtype", metavar="DTYPE", help="the dtype to compute in, such as complex128")


def run(options: Namespace) -> Report:
    """Return the formula."""
    from nameexpr.cli.computing import gradient
    from nameexpr.terminal.screen import Report

    text, gradients = gradient(options)
    return Report(text, {"text": text, "gradients": gradients})
