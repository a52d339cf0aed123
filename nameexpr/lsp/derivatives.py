"""What is shown of a derivative in a formula: the dims of the value, of the operand, and its own.

>>> from nameexpr.syntax.parser.formula import parse_formula
>>> tree = parse_formula("s[N] = sum[C](x[N C] * w[C]); g[N C] = grad(s, w[C])")
>>> for line in lines_of(tree, tree.statements[1], tree.statements[1].value):
...     print(line)
- the value `s`: dims `N`
- the operand `w[C]`: dims `C`
- the derivative: dims `N C`
"""

from __future__ import annotations

from collections.abc import Iterator

from nameexpr.compiler.pipeline import read_formula
from nameexpr.errors import NameExprError
from nameexpr.lint.graphs import dims_of_value
from nameexpr.ops import GRADIENTS
from nameexpr.syntax import ast
from nameexpr.syntax.unparse import unparse_value


def lines_of(tree: ast.Formula, statement: ast.Statement, node: ast.Call) -> Iterator[str]:
    """Yield the lines about a call of `grad` in a statement, as far as the dims are known."""
    if node.function != "grad" or len(node.arguments) != GRADIENTS["grad"].arity:
        return
    value, operand = node.arguments
    titles = (
        f"the value `{unparse_value(value)}`",
        f"the operand `{unparse_value(operand)}`",
        "the derivative",
    )
    for title, part in zip(titles, (value, operand, node), strict=True):
        try:
            scope = read_formula(tree.text[: statement.span.start] + unparse_value(part))
        except NameExprError:
            continue
        dims = dims_of_value(scope)
        if dims is not None:
            yield f"- {title}: {_shown(dims)}"


def _shown(dims: tuple[str, ...]) -> str:
    return f"dims `{' '.join(dims)}`" if dims else "no dims"
