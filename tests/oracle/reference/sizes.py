"""Sizes in the reference evaluator: what operands, text and keywords say, and what one unknown factor must
be.
"""

from __future__ import annotations

import math
import operator
import unicodedata
from collections.abc import Mapping, Sequence

from oracle.reference.rules import labels_of
from oracle.reference.text import Label, Refused, Term, parts


def solve(
    sizes: dict[str, int],
    terms: Sequence[Term],
    shapes: Sequence[tuple[int, ...]],
    keywords: Mapping[str, int],
) -> None:
    """Add the size of every label to `sizes`, or reject.

    Parameters
    ----------
    sizes
        What is known of labels that stand for packs, blanks and literals.
    terms
        The input terms, then the output term, each of labels and groups alone.
    shapes
        The shape of each operand.
    keywords
        What the caller said.
    """
    written = [part for term in terms for part in parts(term) if isinstance(part, Label)]
    labels = {part.name for part in written}
    for word, size in keywords.items():
        name = unicodedata.normalize("NFKC", word)
        if name not in labels or ":" in name:
            raise Refused("size", f"{word} is not a label of the text")
        learn(sizes, name, operator.index(size))
    for part in written:
        if part.size is not None:
            learn(sizes, part.name, part.size)
    equations = [
        (whole, labels_of((item,)))
        for term, shape in zip(terms, shapes, strict=False)
        for item, whole in zip(term, shape, strict=True)
    ]
    while any(infer(sizes, whole, factors) for whole, factors in equations):
        pass
    if free := sorted(labels - set(sizes)):
        raise Refused("size", f"{free} are free")


def learn(sizes: dict[str, int], label: str, size: int) -> None:
    """Note a size; sizes given more than once agree."""
    if size < 0 or sizes.setdefault(label, size) != size:
        raise Refused("size", f"{label} is {sizes.get(label)} and {size}")


def infer(sizes: dict[str, int], whole: int, factors: list[str]) -> bool:
    """Use one dim: whether it told a size that was unknown."""
    unknown = [label for label in factors if label not in sizes]
    known = math.prod(sizes[label] for label in factors if label in sizes)
    if not unknown or known == 0:
        if known != whole:
            raise Refused("size", f"{factors} make {known}, not {whole}")
        return False
    if whole % known:
        raise Refused("size", f"{known} does not divide {whole}")
    if len(unknown) == 1:
        learn(sizes, unknown[0], whole // known)
    return len(unknown) == 1
