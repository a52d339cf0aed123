"""`nameexpr plan`: what an expression or a formula does for given shapes, as a table or a picture."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from nameexpr.terminal.arguments import add_expression, add_options

KINDS = ("network", "tree", "memory")
EXAMPLES = """\
examples:
  nameexpr plan 'N C H W, C -> N C H W' 32,3,64,64 3
  nameexpr plan 'a b, b c, c d -> a d' 10,2000 2000,10 10,3000 --optimize optimal
  nameexpr plan 'a b, b c, c d -> a d' 10,2000 2000,10 10,3000 --memory-limit 1MiB
  nameexpr plan 'N C, -> N C' x.npy scalar
  nameexpr plan 'y[N] = sum[C](x[N C] * w[C])' x=32,3 w=3
  nameexpr plan 'a b, b c, c d -> a d' 10,20 20,30 30,40 --svg network.svg
  nameexpr plan 'a b, b c, c d -> a d' 10,20 20,30 30,40 --draw tree --mermaid

a shape is sizes with commas; () or scalar is a number. Of a .npy file only shape and dtype
are read; shapes alone stand for float64. With --svg the table is printed as well, unless
the picture goes to standard output: --svg -."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add EXPR, SHAPEs, options, and what to draw."""
    add_expression(parser)
    add_options(parser)
    what = "write a picture, a .svg file; - for standard output"
    parser.add_argument("--svg", metavar="FILE", help=what)
    graph = parser.add_mutually_exclusive_group()
    graph.add_argument("--dot", action="store_true", help="print the picture as text for Graphviz")
    graph.add_argument("--mermaid", action="store_true", help="print the picture as text for Mermaid")
    kind = "what to draw: the network of operands (the default), the tree of contractions, bytes by step"
    parser.add_argument("--draw", choices=KINDS, help=kind)


def run(options: Namespace) -> int:
    """Print the plan, and draw it if that is asked for."""
    from nameexpr.cli import drawing

    drawing.check_options(options)
    from nameexpr.cli import planning

    drawing.show(planning.plan(options), options)
    return 0
