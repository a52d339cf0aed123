"""A network by hand: a path made into one function of straight NumPy, in each of a few ways.

A path is a list of pairs of positions; the product of a pair goes to the end, as in opt_einsum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from benchmarks.networks import Network

Labels: TypeAlias = tuple[str, ...]
Path: TypeAlias = Sequence[Sequence[int]]
Write: TypeAlias = Callable[[str, Labels, str, Labels, set[str], dict[str, int]], tuple[str, Labels]]


def hands(network: Network, paths: Iterable[Path]) -> Iterator[Callable[..., Any]]:
    """Yield the functions of each path: by dots in two orders of inner labels, and in three other ways."""
    for path in paths:
        for write in (_dot_as_left, _dot_as_right, _in_place, _tensordot, _einsum):
            yield _function(network, path, write)


def _function(network: Network, path: Path, write: Write) -> Callable[..., Any]:
    """Return one function of the operands, a line for each step."""
    given = [f"x{i}" for i in range(len(network.terms))]
    stack = list(zip(given, network.terms, strict=True))
    lines = []
    for number, pair in enumerate(path):
        b, a = (stack.pop(position) for position in sorted(pair, reverse=True))
        keep = set(network.out).union(*(labels for _, labels in stack))
        if {x for x in a[1] if x in b[1]} & keep:
            call, labels = _shared(*a, *b, keep, dict(network.size))
        else:
            call, labels = write(*a, *b, keep, dict(network.size))
        name = f"y{number}"
        lines.append(f"    {name} = {call}")
        stack.append((name, labels))
    name, labels = stack[0]
    axes = [labels.index(x) for x in network.out]
    result = name if axes == sorted(axes) else f"{name}.transpose({axes})"
    source = "\n".join([f"def hand({', '.join(given)}):", *lines, f"    return {result}"])
    space: dict[str, Any] = {
        "dot": np.dot,
        "tensordot": np.tensordot,
        "einsum": np.einsum,
        "matmul": np.matmul,
    }
    exec(source, space)  # noqa: S102 (straight code is what one would write)
    return space["hand"]


def _split(a: Labels, b: Labels, keep: set[str]) -> tuple[Labels, Labels, Labels]:
    """Return the labels that only a has, that only b has, and that both have."""
    inner = tuple(x for x in a if x in b)
    return tuple(x for x in a if x not in b), tuple(x for x in b if x not in a), inner


def _tensordot(left: str, a: Labels, right: str, b: Labels, keep: set[str], size: dict[str, int]):
    rows, columns, inner = _split(a, b, keep)
    axes = [a.index(x) for x in inner], [b.index(x) for x in inner]
    return f"tensordot({left}, {right}, {axes})", rows + columns


def _einsum(left: str, a: Labels, right: str, b: Labels, keep: set[str], size: dict[str, int]):
    rows, columns, _ = _split(a, b, keep)
    return _loop(left, a, right, b, rows + columns), rows + columns


def _loop(left: str, a: Labels, right: str, b: Labels, out: Labels) -> str:
    letter = dict(
        zip(dict.fromkeys(a + b), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", strict=False)
    )
    a_text, b_text, c_text = ("".join(letter[x] for x in part) for part in (a, b, out))
    return f"einsum('{a_text},{b_text}->{c_text}', {left}, {right})"


def _dot_as_left(left: str, a: Labels, right: str, b: Labels, keep: set[str], size: dict[str, int]):
    return _dot(left, a, right, b, _split(a, b, keep), size)


def _dot_as_right(left: str, a: Labels, right: str, b: Labels, keep: set[str], size: dict[str, int]):
    rows, columns, inner = _split(a, b, keep)
    return _dot(left, a, right, b, (rows, columns, tuple(x for x in b if x in inner)), size)


def _dot(
    left: str, a: Labels, right: str, b: Labels, split: tuple[Labels, Labels, Labels], size: dict[str, int]
):
    """Return a product of matrices, with the operand first that has its inner labels last."""
    rows, columns, inner = split
    if inner and a[: len(inner)] == inner and b[-len(inner) :] == inner:
        left, a, right, b, rows, columns = right, b, left, a, columns, rows
    first = _matrix(left, a, rows, inner, size, of_rows=True)
    second = _matrix(right, b, columns, inner, size, of_rows=False)
    call = f"{first}.dot({second})"
    is_column = not columns and len(inner) > 1
    if len(rows) != 1 or len(columns) > 1 or is_column:
        call += f".reshape({[size[x] for x in rows + columns]})"
    return call, rows + columns


def _in_place(left: str, a: Labels, right: str, b: Labels, keep: set[str], size: dict[str, int]):
    """Let a matrix act on a label in the middle of the other operand: one matmul, no copy."""
    if len(b) == 2:
        left, a, right, b = right, b, left, a
    rows, _, inner = _split(a, b, keep)
    if len(a) != 2 or len(rows) != 1 or b[0] in inner or b[-1] in inner:
        return _dot_as_left(left, a, right, b, keep, size)
    at = b.index(inner[0])
    lead, tail = b[:at], b[at + 1 :]
    shape = [math.prod(size[x] for x in part) for part in (lead, inner, tail)]
    first = left if a[1] in inner else f"{left}.T"
    labels = (*lead, *rows, *tail)
    return f"matmul({first}, {right}.reshape({shape})).reshape({[size[x] for x in labels]})", labels


def _matrix(
    name: str, labels: Labels, outer: Labels, inner: Labels, size: dict[str, int], *, of_rows: bool
) -> str:
    """Return an operand as rows of inner labels or as columns of them, a vector where it has no others."""
    if labels in (outer + inner, inner + outer) and len(labels) <= 2 and len(inner) == 1:
        wanted = (outer + inner) if of_rows else (inner + outer)
        return name if labels == wanted else f"{name}.T"
    shape = [math.prod(size[x] for x in part) for part in (outer, inner)]
    if labels == outer + inner:
        text = f"{name}.reshape({shape})"
        return text if of_rows else f"{text}.T"
    if labels == inner + outer:
        text = f"{name}.reshape({shape[::-1]})"
        return f"{text}.T" if of_rows else text
    order = outer + inner if of_rows else inner + outer
    axes = [labels.index(x) for x in order]
    return f"{name}.transpose({axes}).reshape({shape if of_rows else shape[::-1]})"


def _shared(left: str, a: Labels, right: str, b: Labels, keep: set[str], size: dict[str, int]):
    """Return a step with labels that both have and that stay: a broadcast product, or the C loop."""
    out = tuple(x for x in dict.fromkeys(a + b) if x in keep)
    common = tuple(x for x in a if x in b)
    if set(out) != set(a + b) or a[-len(common) :] != common or b[-len(common) :] != common:
        return _loop(left, a, right, b, out), out
    fill = ", ".join(":" if x in a else "None" for x in (*a[: -len(common)], *b[: -len(common)], *common))
    return f"{left}[{fill}] * {right}", (*a[: -len(common)], *b)
