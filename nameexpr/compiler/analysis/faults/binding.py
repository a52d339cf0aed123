"""Diagnostics for operands bound to a compiled text: by position to an expression, by name to a formula.

>>> no_operand("wieght", ["x", "weight"], "").hint
"did you mean 'weight'?"
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import index
from typing import Any

from nameexpr.errors import Diagnostic, did_you_mean, error
from nameexpr.syntax.ast import Expression
from nameexpr.syntax.unparse import unparse_term


def no_operand(name: str, names: Sequence[str], text: str) -> Diagnostic:
    """Return the diagnostic for binding what is not an operand of a formula."""
    listed = f"the operands are {', '.join(names)}" if names else "it has no operands"
    message = f"bind: the formula has no operand '{name}'"
    return Diagnostic("NE624", message, text, hint=did_you_mean(name, names) or listed)


def is_bound(name: str, text: str) -> Diagnostic:
    """Return the diagnostic for an operand of a formula that is already bound."""
    hint = "leave it out, or bind another one to the formula as it was compiled"
    return Diagnostic("NE624", f"the operand '{name}' is bound", text, hint=hint)


def has_position(name: str, text: str, call: str = "") -> Diagnostic:
    """Return the diagnostic for an operand of an expression that a call, or `bind`, gets by a name."""
    message = f"{call}{name}= is a name, and the operands of an expression have positions"
    hint = "give the operands in the order of the text"
    if call:
        hint = "give a mapping from positions to operands: bind({1: ...})"
    return Diagnostic("NE624", message, text, hint=hint)


def read_positions(tree: Expression, fixed: Collection[int], operands: Any) -> list[int]:
    """Return the positions in the text of operands given by position among the unbound ones (NE624)."""
    free = [place for place in range(len(tree.inputs)) if place not in fixed]
    terms = [unparse_term(tree.inputs[place]) for place in free]
    listed = ", ".join(f"{number} '{term}'" for number, term in enumerate(terms))
    hint = f"the operands are {listed}" if free else "all operands are bound"
    if len(free) == 1:
        hint = f"the only operand that is left is {listed}" if fixed else f"the only operand is {listed}"
    if tree.leaves_inputs_out:
        message = "bind: the operands of this text are known only when it is called"
        raise error(Diagnostic("NE624", message, tree.text, hint="write their terms left of the arrow"))
    if not isinstance(operands, Mapping):
        message = f"bind takes a mapping from positions to operands, and not a {type(operands).__name__}"
        raise error(Diagnostic("NE624", message, tree.text, hint=f"such as bind({{0: ...}}); {hint}"))
    places: list[int] = []
    for key in operands:
        try:
            position = index(key)
            is_known = not isinstance(key, bool)
        except TypeError:
            is_known = False
        if not is_known:
            message = f"bind: {key!r:.60} is not a position of an operand"
            given = did_you_mean(key, terms) if isinstance(key, str) else ""
            if isinstance(key, str) and key in terms:
                given = f"{terms.index(key)} is '{key}'"
            raise error(Diagnostic("NE624", message, tree.text, hint=f"{given}; {hint}" if given else hint))
        if not -len(free) <= position < len(free):
            raise error(Diagnostic("NE624", f"bind: there is no operand {position}", tree.text, hint=hint))
        if free[position] in places:
            message = f"bind: operand {position % len(free)} is given twice"
            raise error(Diagnostic("NE624", message, tree.text, hint="give it once"))
        places.append(free[position])
    return places
