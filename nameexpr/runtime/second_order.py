"""A formula followed by its second derivatives: `hv = sum[i0](grad(loss, w[i0]) * v_w[i0])` and
`h_w[i0] = grad(hv, w[i0])` for the Hessian times a direction, or the blocks of the Hessian,
`h0[i0 j0] = grad(grad(loss, w[i0]), w[j0])`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import NamedTuple

from nameexpr.compiler.pipeline import read_formula
from nameexpr.dims import Names
from nameexpr.runtime.differentiated import Differentiated, free
from nameexpr.syntax import walk


class SecondOrder(NamedTuple):
    """A text, the names of its results, and those of the directions by operand."""

    text: str
    results: tuple[str, ...]
    directions: dict[str, str]


class _Whole(NamedTuple):
    """All of an operand: how it is used, its labels, and 0 times the sum of its elements: derivatives by an
    operand in which the value is linear are 0, not an error.
    """

    use: str
    labels: tuple[str, ...]
    nothing: str


def products(made: Differentiated, dims: Mapping[str, Names]) -> SecondOrder:
    """Return the text of the Hessian times one direction; `dims` are those of the operands."""
    taken = _names(made)
    whole = _wholes(made, dims, "i")
    directions = {name: free(f"v_{name}", taken) for name in whole}
    results = tuple([free(f"h_{name}", taken) for name in whole])
    product = free("hv", taken)
    terms = [
        _summed(one.labels, f"grad({made.value}, {one.use}) * {directions[name]}{_term(one.labels)}")
        for name, one in whole.items()
    ]
    lines = [made.text, f"{product} = {' + '.join([*terms, *[one.nothing for one in whole.values()]])}"]
    for result, one in zip(results, whole.values(), strict=True):
        lines.append(f"{result}{_term(one.labels)} = grad({product}, {one.use})")
    return SecondOrder("\n".join(lines), results, directions)


def blocks(made: Differentiated, dims: Mapping[str, Names]) -> SecondOrder:
    """Return the text of the blocks of the Hessian: those of each operand with itself and those after it."""
    taken, lines = _names(made), [made.text]
    rows, columns = _wholes(made, dims, "i"), _wholes(made, dims, "j")
    pairs = list(combinations_with_replacement(dims, 2))
    results = tuple([free(f"h{number}", taken) for number in range(len(pairs))])
    for result, (one, other) in zip(results, pairs, strict=True):
        row, column = rows[one], columns[other]
        first = f"grad({made.value}, {row.use}) + {column.nothing}"
        lines.append(f"{result}{_term(row.labels + column.labels)} = grad({first}, {column.use})")
    return SecondOrder("\n".join(lines), results, {})


def _names(made: Differentiated) -> set[str]:
    scope = read_formula(made.text)
    return {*scope.uses, *[one.name for one in scope.tree.statements if one.name is not None]}


def _wholes(made: Differentiated, dims: Mapping[str, Names], letter: str) -> dict[str, _Whole]:
    known = walk.labels_in(*walk.terms_in(read_formula(made.text).tree))
    return {name: _whole(name, names, letter, known) for name, names in dims.items()}


def _whole(name: str, dims: Names, letter: str, known: set[str]) -> _Whole:
    """Return how all of an operand occurs, by labels that the formula does not have."""
    labels = tuple([free(f"{letter}{number}", known) for number in range(len(dims))])
    items = [label if dim is None else f"{dim}={label}" for dim, label in zip(dims, labels, strict=True)]
    use = f"{name}{_term(items)}"
    return _Whole(use, labels, _summed(labels, f"0 * {use}"))


def _term(items: Sequence[str]) -> str:
    return f"[{' '.join(items)}]" if items else ""


def _summed(labels: Sequence[str], value: str) -> str:
    return f"sum{_term(labels)}({value})" if labels else value
