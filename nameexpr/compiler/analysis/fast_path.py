"""Accept the most common texts, known to follow all rules after one pass over them.

A correct text needs no diagnostics, so that none of the rules of `nameexpr.compiler.analysis.rules.check`
runs on a text that is accepted here: labels, also with sizes, groups of labels, dims of size 1, `...` and a
reducer. Everything else is left to the rules, which are authoritative and report the errors; tests compare
the two.

>>> from nameexpr.syntax.parser.expression import parse
>>> is_accepted(parse("N C, C -> N")), is_accepted(parse("N C, C2 -> N"))
(True, False)
"""

from __future__ import annotations

from nameexpr.ops import REDUCTIONS
from nameexpr.syntax.ast import Dots, Expression, Group, Item, Label, Literal, Sized

FEW = 64
"""The number of labels up to which they are counted one by one."""
_DOTS = "..."


def is_accepted(tree: Expression, *, has_reduce: bool = False) -> bool:
    """Return whether a text certainly follows all rules; False means that nothing is known."""
    outputs = tree.outputs
    if outputs is None or len(outputs) != 1:
        return False
    sizes: dict[str, int] = {}
    kept = _labels(outputs[0].items, sizes)
    inside: list[str] = []
    for term in tree.inputs:
        labels = _labels(term.items, sizes)
        if labels is None:
            return False
        inside += labels
    if kept is None or not inside or len(inside) > FEW or (_DOTS in inside) != (_DOTS in kept):
        return False
    dropped = set(inside).difference(kept)
    if has_reduce or tree.reducer is not None:
        is_known = tree.reducer is None or (tree.reducer.name in REDUCTIONS and not has_reduce)
        return is_known and bool(dropped)
    for label in dropped:  # noqa: SIM110  a generator takes twice as long
        if inside.count(label) == 1:
            return False
    return True


def _labels(items: tuple[Item, ...], sizes: dict[str, int], *, in_group: bool = False) -> list[str] | None:
    """Return the labels among the items, including those in groups, or None if an item is not accepted; an
    ellipsis counts as a label where it is allowed: once, and outside all groups.
    """
    labels: list[str] = []
    for item in items:
        if isinstance(item, Label):
            labels.append(item.name)
        elif isinstance(item, Sized):
            if sizes.setdefault(item.name, item.size) != item.size:
                return None
            labels.append(item.name)
        elif isinstance(item, Group):
            inner = _labels(item.items, sizes, in_group=True)
            if inner is None:
                return None
            labels += inner
        elif isinstance(item, Dots) and not in_group and _DOTS not in labels:
            labels.append(_DOTS)
        elif not (isinstance(item, Literal) and item.size == 1):
            return None
    return labels
