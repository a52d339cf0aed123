"""Texts for the tests of traced functions, with operands of sizes that grow with a step."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Any

import torch

import nameexpr as ne

EXPRESSIONS: dict[str, dict[str, int]] = {
    "a b -> b a": {},
    "a b c -> c b a": {},
    "a b -> (a b)": {},
    "a b c -> (c a) b": {},
    "N (d h) -> N h d": {"h": 3},
    "N (h d) -> N h d": {"h": 2},
    "B T (h d) -> B h T d": {"h": 2},
    "a b -> a 1 b": {},
    "a 1 b -> a b": {},
    "a b -> a : sum": {},
    "a b c -> b : mean": {},
    "a b -> : sum": {},
    "a b, b c -> a c": {},
    "a b, c b -> a c": {},
    "b a, b c -> c a": {},
    "i j k, i k l -> i j l": {},
    "b q h d, b k h d -> b h q k": {},
    "b h q k, b k h d -> b q h d": {},
    "N (h d), d K -> N h K": {"h": 2},
    "a b, b -> a": {},
    "a, a ->": {},
    "a, b -> a b": {},
    "n k, n k -> n": {},
    "a b, a b -> a b": {},
    "a b, b c, c d -> a d": {},
    "a b, b c, c d, d e -> a e": {},
    "i j, i k, i l -> j k l": {},
    "N C H W, C -> N C H W": {},
    "... a, a b -> ... b": {},
}
"""Expressions with the sizes that they need."""
FORMULAS: dict[str, dict[str, str]] = {}
"""Formulas with the dims of their operands."""


def shape_of(term: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return the shape for a term: `...` is two dims."""
    shape: list[int] = []
    for item in re.findall(r"_@\([^)]*\)|\([^)]*\)|\S+", term):
        if item.endswith("..."):
            shape += [sizes["a"] + 20, sizes["a"] + 30]
        elif item.startswith("_@"):
            shape.append(sizes["T"] + 6)
        else:
            shape.append(
                prod(int(part) if part.isdigit() else sizes[part] for part in item.strip("()").split())
            )
    return tuple(shape)


def sizes_at(terms: str, step: int, fixed: Mapping[str, int]) -> dict[str, int]:
    """Return a different size for every label, which grows with the step but for the fixed ones."""
    labels = dict.fromkeys([*re.findall(r"[^\W\d_]\w*", terms), "a", "T"])
    return {label: fixed.get(label, 3 + 2 * number + step) for number, label in enumerate(labels)}


def tensor(name: str, shape: tuple[int, ...]) -> Any:
    """Return a random tensor, or positions for an operand that has them."""
    if name == "ids":
        return torch.randint(0, 3, shape)
    return torch.randn(shape, dtype=torch.float64)


def call_of(text: str) -> Any:
    """Return a function of tensors that calls a text, and a function from a step to such tensors."""
    if text in EXPRESSIONS:
        fixed, terms = EXPRESSIONS[text], text.partition("->")[0]

        def tensors(step: int) -> list[Any]:
            sizes = sizes_at(terms, step, fixed)
            return [tensor("", shape_of(term, sizes)) for term in terms.split(",")]

        return lambda *operands: ne.einsum(text, *operands, **fixed), tensors
    dims = FORMULAS[text]

    def operands(step: int) -> list[Any]:
        sizes = sizes_at(" ".join(dims.values()), step, {})
        return [tensor(name, shape_of(term, sizes)) for name, term in dims.items()]

    return lambda *given: ne.evaluate(text, **dict(zip(dims, given, strict=True))), operands
