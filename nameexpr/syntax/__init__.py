"""Text to syntax tree and back: `parse` and `unparse`, and the node classes in `nameexpr.syntax.ast`."""

from nameexpr.syntax.parser.expression import parse
from nameexpr.syntax.unparse import unparse

__all__ = ["parse", "unparse"]
