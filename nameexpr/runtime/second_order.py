"""A formula followed by its Hessian times directions: `d_w` is followed by
`hv = sum[C](grad(loss, w[C]) * v_w[C])` and `h_w[C] = grad(hv, w[C])`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from nameexpr.compiler.pipeline import read_formula
from nameexpr.dims import Names
from nameexpr.runtime.differentiated import Differentiated, free, term_of, words_of
from nameexpr.syntax import walk
from nameexpr.syntax.unparse import unparse_term


class SecondOrder(NamedTuple):
    """The text of Hessians times directions, and for each operand the names of its direction and of its part
    of the result.
    """

    text: str
    directions: dict[str, str]
    results: dict[str, str]


class _Occurrence(NamedTuple):
    """How an operand occurs: its name and its term in brackets, its term without, and the labels to sum."""

    use: str
    term: str
    labels: str


def second_order(made: Differentiated, names: Mapping[str, Names], *, several: bool) -> SecondOrder:
    """Return the text of the Hessian times one direction, or times `several`, which have one dim more: their
    first. `names` are those of operands that are tensors.
    """
    scope = read_formula(made.text)
    taken = {*scope.uses, *[one.name for one in scope.tree.statements if one.name is not None]}
    along = free("V", walk.labels_in(*walk.terms_in(scope.tree))) if several else ""
    parts = {name: _part(made, name, names.get(name, ())) for name, _ in made.gradients}
    directions = {name: free(f"v_{name}", taken) for name in parts}
    results = {name: free(f"h_{name}", taken) for name in parts}
    product = free("hv", taken)
    # 0 * w: the product depends on every operand, even on those in which the value is linear.
    terms = [
        _summed(part.labels, f"grad({made.value}, {part.use}) * {directions[name]}{_term(along, part.term)}")
        for name, part in parts.items()
    ] + [_summed(part.labels, f"0 * {part.use}") for part in parts.values()]
    lines = [made.text, f"{product}{_term(along)} = {' + '.join(terms)}"]
    lines += [
        f"{results[name]}{_term(along, part.term)} = grad({product}, {part.use})"
        for name, part in parts.items()
    ]
    return SecondOrder("\n".join(lines), directions, results)


def _part(made: Differentiated, name: str, names: Names) -> _Occurrence:
    term = term_of(read_formula(made.origin), name)
    if term is not None:
        written = unparse_term(term)
        return _Occurrence(f"{name}[{written}]", written, " ".join(map(str, words_of(term))))
    labels = " ".join(map(str, names))
    return _Occurrence(name, labels, labels)


def _term(*parts: str) -> str:
    """Return a term in brackets; nothing if it is empty."""
    written = " ".join(filter(None, parts))
    return f"[{written}]" if written else ""


def _summed(labels: str, value: str) -> str:
    return f"sum[{labels}]({value})" if labels else value
