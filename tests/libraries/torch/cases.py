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
    "a b -> a 4 b": {},
    "a a -> a": {},
    "a b a -> a b": {},
    "a a ->": {},
    "a b -> a : sum": {},
    "a b -> b : max": {},
    "a b c -> b : mean": {},
    "a b c d -> b : mean": {},
    "a b -> a : min": {},
    "a b -> : sum": {},
    "a b -> a : logsumexp": {},
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
    "N _@(h + dh), dh -> N h": {"dh": 2},
}
"""Expressions with the sizes that they need."""
FORMULAS: dict[str, dict[str, str]] = {
    "y = x[N C] * 2 + 1": {"x": "N C"},
    "y[N K] = sum[C](x[N C] * w[C K]) + b[K]": {"x": "N C", "w": "C K", "b": "K"},
    "y[N K] = relu(sum[C](x[N C] * w[C K]))": {"x": "N C", "w": "C K"},
    "y = mean[C](x[N C])": {"x": "N C"},
    "y = x[N C] - mean[C](x)": {"x": "N C"},
    "m = mean[C](x[N C]); y[N C] = (x - m) / sqrt(var[C](x) + 1e-5) * g[C] + b[C]": {
        "x": "N C",
        "g": "C",
        "b": "C",
    },
    "d[i j] = sqrt(sum[D]((x[i D] - z[j D]) ** 2))": {"x": "i D", "z": "j D"},
    "y = softmax[C](x[N C])": {"x": "N C"},
    "y = log_softmax[C](x[N C])": {"x": "N C"},
    "s[b h q k] = sum[d](q[b q h d] * k[b k h d]) / 8 ** 0.5; "
    "o[b q h e] = sum[k](softmax[k](s) * v[b k h e])": {
        "q": "b q h d",
        "k": "b k h d",
        "v": "b k h e",
    },
    "s[q k] = sum[d](q[q d] * k[k d]) / size[d] ** 0.5; y = where(index[q] >= index[k], s, -inf)": {
        "q": "q d",
        "k": "k d",
    },
    "y = max[C](x[N C]) - min[C](x)": {"x": "N C"},
    "y = cumsum[C](x[N C])": {"x": "N C"},
    "y = sort[C](x[N C])": {"x": "N C"},
    "y = flip[C](x[N C])": {"x": "N C"},
    "y = argmax[C](x[N C])": {"x": "N C"},
    "y = std[N](x[N C])": {"x": "N C"},
    "y = norm[C](x[N C])": {"x": "N C"},
    "y = prod[C](x[N C])": {"x": "N C"},
    "y = logsumexp[C](x[N C])": {"x": "N C"},
    "y = where(x[N C] > 0, x, 0.01 * x)": {"x": "N C"},
    "y = gelu(x[N C]) * sigmoid(z[N C])": {"x": "N C", "z": "N C"},
    "y = exp(-abs(x[N C])) + log1p(x * x)": {"x": "N C"},
    "y = maximum(x[N C], b[C])": {"x": "N C", "b": "C"},
    "y = tanh(x[N C]) ** 3": {"x": "N C"},
    "y[N C] = x[N C] / size[C]": {"x": "N C"},
    "y[N C] = x[N C] * index[C]": {"x": "N C"},
    "y[(a b)] = x[a b] * 2": {"x": "a b"},
    "y[T] = x[(1 + T)] - x[(T + 1)]": {"x": "T"},
    "y[N T] = sum[k](x[N _@(T + k)] * w[k])": {"x": "N W", "w": "2"},
    "y[(a + b)] = p[a], q[b]": {"p": "a", "q": "b"},
    "e[B T D] = table[v@ids[B T] D]": {"table": "v D", "ids": "B T"},
    "h[(1 + T) B] = 0, 0.5 * h[_@T B] + x[T B]": {"x": "7 B"},
}
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
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


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
