"""Dims that are read in parts or at positions, for the operands and statements of random formulas.

Each function draws one way to read a dim so that its value has certain labels. What is read fits exactly:
where positions alone determine a size it is the size of the pool.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SIGNS = {1: "", -1: "-"}


@dataclass(frozen=True)
class Form:
    """One way to read a dim: its text, the size of the dim, and whether it determines the sizes of its labels
    (`tells`), or those of labels that are its dim's (`names`).
    """

    text: str
    size: int
    tells: bool
    names: tuple[str, ...] = ()


def parts(rng: random.Random, labels: Sequence[str], sizes: Mapping[str, int]) -> Form:
    """``(1 + T)``, ``(a=2 + _)``, ``(_ + h w + 1)``, ``((1 + T) c)``."""
    if len(labels) > 1 and sizes[labels[0]] and rng.random() < 0.3:
        form = parts(rng, labels[1:], sizes)
        return Form(within(rng, form.text, labels[0]), form.size * sizes[labels[0]], False)
    inside, live = " ".join(labels), 1
    for label in labels:
        live *= sizes[label]
    before, after = rng.choice([(1, 0), (0, 1), (1, 1), (2, 0), (1, 2), (0, 3)])
    words = [str(before)] * (before > 0) + [inside] + [str(after)] * (after > 0)
    size, tells = before + live + after, len(labels) == 1
    if rng.random() < 0.2:
        at = rng.choice([0, len(words)])
        words.insert(at, "_")
        size, tells = size + rng.choice([0, 1, 2]), False
    plus = rng.choice([" + ", " + ", "+"])
    return Form(f"({plus.join(words)})", size, tells)


def within(rng: random.Random, text: str, label: str) -> str:
    """A group of parts and a label."""
    return f"({text} {label})" if rng.random() < 0.5 else f"({label} {text})"


def affine(rng: random.Random, labels: Sequence[str], sizes: Mapping[str, int], base: str = "_") -> Form:
    """``_@(2*t + d - 1)``: as large as the positions need, so that any one label follows from the others."""
    strides = [rng.choice([1, 1, 1, 1, 2, 3, -1, -2] if sizes[label] else [1]) for label in labels]
    low = sum(min(stride * (sizes[label] - 1), 0) for stride, label in zip(strides, labels, strict=True))
    high = sum(max(stride * (sizes[label] - 1), 0) for stride, label in zip(strides, labels, strict=True))
    offset = -low
    if max(strides) > 0 and min(strides) > 0 and rng.random() < 0.4:
        offset += rng.choice([1, 2])
    size = high + offset + 1
    if max(strides) < 0:
        size += rng.choice([0, 0, 1, 3])
    elif len(labels) == 1 and strides[0] > 1:
        size += rng.randrange(strides[0])
    terms = list(zip(strides, labels, strict=True))
    words = [
        (stride < 0, str(abs(stride)) + "*" + label if abs(stride) > 1 else label) for stride, label in terms
    ]
    words += [(offset < 0, str(abs(offset)))] if offset or rng.random() < 0.05 else []
    return Form(f"{base}@{place(rng, words)}", size, all(sizes[label] for label in labels))


def place(rng: random.Random, words: Sequence[tuple[bool, str]]) -> str:
    """The text of a sum with signs, in brackets unless it is one name or number."""
    words = rng.sample(list(words), len(words))
    if len(words) == 1 and words[0][1].replace("'", "").isalnum() and not words[0][0] and rng.random() < 0.6:
        return words[0][1]
    space = rng.choice(["", " "])
    text = ("-" if words[0][0] else "") + words[0][1]
    for is_negative, word in words[1:]:
        text += f"{space}{'-' if is_negative else '+'}{space}{word}"
    return f"({text})"


def constant(rng: random.Random) -> Form:
    """``_@2``, ``3@0``."""
    size = rng.choice([1, 2, 3, 4])
    at = rng.randrange(size)
    word = rng.choice([str(at), f"({at})", f"({at} + 0)", f"({size - 1} - {size - 1 - at})"])
    return Form(f"{rng.choice(['_', str(size)])}@{word}", size, True)


def factor(rng: random.Random, label: str, size: int) -> Form:
    """``(3@1 h)``: one index of a factor of the dim."""
    count = rng.choice([1, 2, 2, 3])
    at = f"{count}@{rng.randrange(count)}"
    text = f"({at} {label})" if rng.random() < 0.5 else f"({label} {at})"
    return Form(text, count * size, True)


def reversed_dim(rng: random.Random, label: str, base: str, size: int) -> Form:
    """``C@(size[C]-1-c)``: the last `size` cells, backwards, where C is `base`."""
    return Form(f"{base}@(size[{base}]-1-{label})", size, False, (base,))


def static(rng: random.Random, label: str, base: str, size: int) -> Form:
    """``C@((c+1) % size[C])`` and the like: index arrays, inside by construction."""
    whole = f"size[{base}]"
    shift = rng.choice([-1, 1, 2])
    moved = f"{label}{'+' if shift > 0 else '-'}{abs(shift)}"
    texts = [f"({moved}) % {whole}", f"clip({moved}, 0, {whole}-1)", f"{label} // 2 % {whole}"]
    texts += [
        f"minimum({label}, {whole}-1)",
        f"where({label} < {whole}, {label}, 0)",
        f"{label}*{label} % {whole}",
    ]
    return Form(f"{base}@({rng.choice(texts)})", size, False, (base,))
