"""Diagnostics for a call in a formula: its function, the number of its values, the contents of its brackets.

Everything here follows from the text. An unknown name is explained by its probable meaning: an operand before
brackets (a product without its sign), a NumPy function, or a typo.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from nameexpr.compiler.analysis.rules.instead import dims_of, instead_of
from nameexpr.errors import Diagnostic, Mark, did_you_mean
from nameexpr.ops import ALONG, ALONG_ONE, CALLS, GRADIENTS, INDEX, POINTWISE, REDUCTIONS, SIZE
from nameexpr.syntax.ast import Call, CallAlong, Dots, Formula, Label, Literal, Number, Pack, Use
from nameexpr.syntax.unparse import unparse_term, unparse_value

_PAIRS = {name: row.combine for name, row in REDUCTIONS.items() if row.combine in POINTWISE}
"""Reductions, and the corresponding functions of two values."""
MISSPELT = 0.75
"""The least similarity between a misspelt name and that of a function: `inv` does not mean `sin`."""


def call_faults(tree: Formula, node: Call | CallAlong, values: Collection[str]) -> Iterator[Diagnostic]:
    """Yield the errors of a call; `values` are the names of operands and statements."""
    yield from (_of_values if isinstance(node, Call) else _along)(tree, node, values)  # type: ignore[arg-type]


def _of_values(tree: Formula, node: Call, values: Collection[str]) -> Iterator[Diagnostic]:
    mark = Mark(node.name_span)
    function = CALLS.get(node.function)
    if function is not None:
        if len(node.arguments) != function.arity:
            takes = "1 argument" if function.arity == 1 else f"{function.arity} arguments"
            message = f"{node.function} takes {takes}, not {len(node.arguments)}"
            yield Diagnostic("NE234", message, tree.text, (mark,), hint=_arity_hint(node))
        elif node.function == "grad":
            yield _not_an_operand(tree.text, node)
        return
    if node.function in REDUCTIONS or node.function in ALONG:
        hint = f"write {node.function}[{unparse_term(dims_of(tree, node))}](...)"
        if len(node.arguments) > 1 and node.function in _PAIRS:
            hint = f"of two values write {_PAIRS[node.function]}(x, y); {node.function}[C](x) reduces over C"
        message = f"{node.function} needs its dims in square brackets"
        yield Diagnostic("NE235", message, tree.text, (mark,), hint=hint)
        return
    hint = _unknown_hint(tree, node, values, f"{node.function} * (...)")
    yield Diagnostic("NE236", f"there is no function '{node.function}'", tree.text, (mark,), hint=hint)


def _unknown_hint(tree: Formula, node: Call | CallAlong, values: Collection[str], product: str) -> str:
    """Return the probable meaning of a name that is not a function."""
    name = node.function
    if name in (SIZE, INDEX):
        what = "the size of a dim" if name == SIZE else "the index along a dim"
        return f"{what} is written {name}[C]"
    if name in values:
        return f"a product is written with *: {product}"
    alike = [one for one in (*CALLS, *REDUCTIONS, *ALONG) if abs(len(one) - len(name)) <= 1]
    near = did_you_mean(name, alike, MISSPELT)
    if hint := instead_of(tree, node) or near:
        return hint
    function, _, dims = name.partition("_")
    if dims and (function in REDUCTIONS or function in ALONG):
        return f"write {function}[{dims}](...)"
    listed = "docs/formulas.md lists the functions"
    if _is_symbol(name):
        return f"{listed}; a product is written with *: {product}"
    return f"{listed}; compute others beforehand, and pass the result as an operand"


def _is_symbol(name: str) -> bool:
    """Return whether a name looks like that of an array: x, W1, A', unlike gather."""
    return len(name) == 1 or not name.replace("_", "").isalpha() or name.isupper()


def _arity_hint(node: Call) -> str:
    if node.function in ("maximum", "minimum") and len(node.arguments) == 1:
        return f"{node.function[:3]}[C](x) reduces over C"
    if node.function in ("maximum", "minimum", "logical_and", "logical_or", "hypot", "pow"):
        return f"{node.function}(x, y); nest calls for more values"
    usage = CALLS[node.function].usage
    return usage if CALLS[node.function].arity > 2 else f"write {usage}"  # noqa: PLR2004  of more all are named


def _not_an_operand(text: str, node: Call) -> Diagnostic:
    """Return the diagnostic for a derivative by something other than an operand or a statement (NE537)."""
    given = node.arguments[1]
    message = f"grad takes a value and an operand, not {unparse_value(given)}"
    hint = (
        f"name it, and compute {unparse_value(node.arguments[0])} from that name: v = {unparse_value(given)}"
    )
    if isinstance(given, Use | Number):
        hint = "differentiate by an operand, or by an earlier statement"
    return Diagnostic("NE537", message, text, (Mark(given.span),), hint=hint)


def _along(tree: Formula, node: CallAlong, values: Collection[str]) -> Iterator[Diagnostic]:
    """Yield the errors of f[C](x)."""
    mark = Mark(node.name_span)
    if node.function in CALLS:
        hint = f"write {node.function}(...)"
        message = f"{node.function} is pointwise: it takes no dims"
        if node.function in GRADIENTS:
            hint = f"write {GRADIENTS[node.function].usage}"
            message = f"{node.function} takes no dims in square brackets"
        yield Diagnostic("NE235", message, tree.text, (mark, Mark(node.term.span)), hint=hint)
        return
    if node.function not in REDUCTIONS and node.function not in ALONG:
        term = f"{node.function}[{unparse_term(node.term)}]"
        hint = _unknown_hint(tree, node, values, f"{term} * (...)")
        message = f"there is no function '{node.function}' along dims"
        yield Diagnostic("NE236", message, tree.text, (mark,), hint=hint)
        return
    if len(node.arguments) != 1:
        dims = unparse_term(node.term)
        hint = f"{node.function}[{dims}](x) takes one argument"
        if node.function in _PAIRS:
            hint += f"; of two values write {_PAIRS[node.function]}(x, y)"
        message = f"{node.function} takes 1 argument, not {len(node.arguments)}"
        yield Diagnostic("NE234", message, tree.text, (mark,), hint=hint)
    yield from _bound(tree, node)


def _bound(tree: Formula, node: CallAlong) -> Iterator[Diagnostic]:
    """Check the contents of the brackets of a reduction."""
    items = node.term.items
    wrong = [item for item in items if not isinstance(item, Label | Pack | Dots)]
    if wrong:
        marks = tuple(Mark(item.span) for item in wrong)
        message = f"the brackets of {node.function} take names of dims"
        hint = f"{node.function}[C H](x); sizes and groups belong to the terms of operands"
        if any(isinstance(item, Literal) for item in wrong):
            hint = f"dims are given by name, not by number: {node.function}[C](x)"
        yield Diagnostic("NE237", message, tree.text, marks, hint=hint)
        return
    if not items:
        hint = f"name the dims: {node.function}[C](x)"
        yield Diagnostic(
            "NE237", f"{node.function} needs at least one dim", tree.text, (Mark(node.span),), hint=hint
        )
    words = [(type(item).__name__, getattr(item, "name", "")) for item in items]
    often = {word for word in words if words.count(word) > 1}
    if often:
        marks = tuple(Mark(item.span) for item, word in zip(items, words, strict=True) if word in often)
        message = f"a dim occurs twice in the brackets of {node.function}"
        yield Diagnostic("NE237", message, tree.text, marks, hint="name each dim once")
    if node.function in ALONG_ONE and not (len(items) == 1 and isinstance(items[0], Label)) and items:
        message = f"{node.function} takes one dim"
        hint = f"write {node.function}[C](x); nest calls for more dims"
        yield Diagnostic("NE237", message, tree.text, (Mark(node.term.span),), hint=hint)


def size_faults(tree: Formula, node: Use) -> Iterator[Diagnostic]:
    """Yield the errors of size[C] and index[C] with other than one label."""
    items = node.term.items if node.term is not None else ()
    hint = f"write {node.name}[C]"
    labels = [item.name for item in items if isinstance(item, Label)]
    if node.name == SIZE and len(items) > 1 and len(labels) == len(items):
        hint = "write " + " * ".join(f"size[{label}]" for label in labels)
    yield Diagnostic("NE237", f"{node.name} takes one dim", tree.text, (Mark(node.span),), hint=hint)
