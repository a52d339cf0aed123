"""Orders as lists of pairs: values are numbered as they arise, operands first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

Pairs: TypeAlias = list[tuple[int, int]]
Key = TypeVar("Key")


def unfold(whole: Key, split: Callable[[Key], tuple[Key, Key] | int], count: int) -> Pairs:
    """Return the pairs that make a value, from what says of each value its two parts, or which operand it is.

    Examples
    --------
    >>> unfold("abc", lambda key: "abc".index(key) if len(key) == 1 else (key[:1], key[1:]), 3)
    [(1, 2), (0, 3)]
    """
    order: list[tuple[Key, Key, Key]] = []
    numbers: dict[Key, int] = {}
    stack = [whole]
    while stack:
        key = stack.pop()
        parts = split(key)
        if isinstance(parts, int):
            numbers[key] = parts
        else:
            order.append((key, *parts))
            stack += parts
    pairs: Pairs = []
    for key, left, right in reversed(order):
        pairs.append((numbers[left], numbers[right]))
        numbers[key] = count + len(pairs) - 1
    return pairs


def graft(pairs: Pairs, values: Sequence[int], onto: Pairs, count: int) -> int:
    """Append an order of some values to an order of `count` operands, and return the number of its result."""
    numbers = list(values)
    for left, right in pairs:
        onto.append((numbers[left], numbers[right]))
        numbers.append(count + len(onto) - 1)
    return numbers[-1]


def in_order(pairs: Pairs, count: int) -> Pairs:
    """Return the same order with the value of the earlier operand on the left of each pair."""
    first = list(range(count))
    found = []
    for left, right in pairs:
        found.append((left, right) if first[left] < first[right] else (right, left))
        first.append(min(first[left], first[right]))
    return found
