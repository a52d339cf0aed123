"""`nameexpr plan`: the plan of an expression or a formula for given shapes, as a table or a picture."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from nameexpr.terminal.arguments import add_expression, add_options, check_place
from nameexpr.terminal.faults import FileError, UsageError, quoted, reason

if TYPE_CHECKING:
    from nameexpr.terminal.screen import Report

STANDARD = "-"
KINDS = ("network", "tree", "memory")
EXAMPLES = """\
examples:
  nameexpr plan 'N C H W, C -> N C H W' 32,3,64,64 3
  nameexpr plan 'a b, b c, c d -> a d' 10,2000 2000,10 10,3000 --optimize optimal
  nameexpr plan 'a b, b c, c d -> a d' 10,2000 2000,10 10,3000 --memory-limit 1MiB
  nameexpr plan 'N C, -> N C' x.npy scalar
  nameexpr plan 'y[N] = sum[C](x[N C] * w[C])' x=32,3 w=3
  nameexpr plan 'a b, b c, c d -> a d' 10,20 20,30 30,40 --save network.svg
  nameexpr plan 'a b, b c, c d -> a d' 10,20 20,30 30,40 --draw tree --mermaid

A shape is a list of sizes separated by commas; () or scalar is a number. Of a .npy file only the shape and
the dtype are read; shapes are assumed to be of float64. With --save, the table is printed too, unless the
picture is written to standard output (--save -). PNG and PDF need pip install 'nameexpr[pictures]'."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add EXPR, SHAPEs, options, and the choice of picture."""
    add_expression(parser)
    add_options(parser)
    what = "write a picture to a .svg, .png or .pdf file; - writes SVG to standard output"
    parser.add_argument("--save", "--svg", dest="svg", metavar="FILE", help=what)
    graph = parser.add_mutually_exclusive_group()
    graph.add_argument("--dot", action="store_true", help="print the picture as text for Graphviz")
    graph.add_argument("--mermaid", action="store_true", help="print the picture as text for Mermaid")
    kind = "what to draw: the network of operands (default), the tree of contractions, the memory by step"
    parser.add_argument("--draw", choices=KINDS, help=kind)


def run(options: Namespace) -> Report:
    """Return the plan, its graph or its picture, unless that is written to a file."""
    _check_options(options)
    from nameexpr.cli.computing import plan
    from nameexpr.terminal.screen import Report, of_plan

    planned = plan(options)
    kind: Any = options.draw or "network"
    if options.svg is not None:
        picture = planned.draw(kind)
        if options.svg == STANDARD:
            return Report(str(picture).rstrip("\n"), {})
        try:
            picture.save(options.svg)
        except OSError as fault:
            message = f"cannot write {quoted(options.svg)}: {reason(fault)}"
            raise FileError(message, "write elsewhere") from fault
    text, data = of_plan(planned)
    if options.dot or options.mermaid:
        graph = planned.dot(kind) if options.dot else planned.mermaid(kind)
        text, data = graph.rstrip("\n"), {"dot" if options.dot else "mermaid": graph}
    return Report(text, {**data, "svg": options.svg})


def _check_options(options: Namespace) -> None:
    """Reject picture options that cannot be combined, before anything is planned."""
    is_graph = options.dot or options.mermaid
    if options.draw and not is_graph and options.svg is None:
        message = "--draw names what to draw, not a file"
        raise UsageError(message, "add --save FILE, --dot or --mermaid", usage=options.usage)
    if options.draw == "memory" and is_graph:
        message = "memory by step is not a graph, so it cannot be written as DOT or Mermaid"
        raise UsageError(message, "write them with --save FILE", usage=options.usage)
    if options.svg == STANDARD and (options.json or is_graph):
        other = "--json" if options.json else "--dot" if options.dot else "--mermaid"
        message = f"--save - and {other} both want standard output"
        raise UsageError(message, "write the picture to a file", usage=options.usage)
    from nameexpr.pictures.files import SUFFIXES

    if options.svg in (None, STANDARD):
        return
    if os.path.splitext(options.svg)[1].casefold() not in SUFFIXES:
        message = f"{quoted(options.svg)} is not a name for a picture"
        raise UsageError(message, "end it in .svg, .png or .pdf", usage=options.usage)
    check_place(options.svg, options.svg)
