"""Numbers that follow from sizes as text: `size[T] - 1`, where a graph has 1008.

A text is written for sizes that are large primes far apart (`nameexpr.compiler.gradient.text.examples`), so
that a number near one of them, or near the difference of two, can only come from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations

from nameexpr.compiler.gradient.text import arithmetic as write
from nameexpr.compiler.gradient.text.labels import LabelNames, NotWritableError
from nameexpr.compiler.ir.axes import Unnamed
from nameexpr.ops import SIZE
from nameexpr.syntax import ast

NEAR = 100
"""Up to here numbers are those of the text; sizes that a text leaves open are larger."""


def offset(number: int, names: LabelNames) -> ast.Node:
    """Return a number as syntax: itself, or a sum of sizes and a number."""
    if abs(number) < NEAR:
        return _plus(None, number)
    for known, syntax in _sums(names):
        if abs(number - known) < NEAR:
            return _plus(syntax, number - known)
    raise NotWritableError(f"a position, {number}, depends on sizes in an unknown way")


def _sums(names: LabelNames) -> Iterator[tuple[int, ast.Node]]:
    """Yield sizes, and differences and sums of two, with their syntax."""
    sizes = _sizes(names)
    uses: dict[str, ast.Node] = {label: ast.Use(SIZE, ast.Term((ast.Label(label),))) for label in sizes}
    for label, size in sizes.items():
        yield size, uses[label]
    for one, other in permutations(sizes, 2):
        yield sizes[one] - sizes[other], ast.Binary("-", uses[one], uses[other])
        yield sizes[one] + sizes[other], ast.Binary("+", uses[one], uses[other])


def _sizes(names: LabelNames) -> Mapping[str, int]:
    """Return the large sizes, each by one label: of the text, if there is one."""
    found: dict[int, str] = {}
    for label in sorted(names.sizes, key=lambda one: isinstance(one, Unnamed)):
        if names.sizes[label] >= NEAR:
            found.setdefault(names.sizes[label], label)
    return {names.name(label): size for size, label in found.items() if _has_name(label)}


def _has_name(label: str) -> bool:
    return not isinstance(label, Unnamed) or not (label.is_literal or label.is_stretched)


def _plus(syntax: ast.Node | None, number: int) -> ast.Node:
    """Return a sum of a value and a number."""
    literal = write.number(number)
    assert literal is not None
    if syntax is None:
        return literal
    return syntax if number == 0 else write.added(syntax, literal)
