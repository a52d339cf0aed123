"""What a workload is, and how the peers' spellings follow from its text."""

from __future__ import annotations

import string
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Operands = tuple[Any, ...]
SUMS = ("", "sum")
MEMORY, LIMITED = "memory", "limited"
"""Tags: the peaks of hand and some peers are measured too; it is also run under a quarter of its peak."""


@dataclass(frozen=True)
class Workload:
    """One expression with its operands and the best NumPy for it.

    ``hands`` are ways to write it in NumPy; the quickest on this machine is the *hand* of the run, so that a
    better one is added, never argued about. ``unlike`` names the peers whose own dtype rule gives another
    answer. ``is_in_place`` says that the call writes over an operand, ``is_by_cell`` that each cell's
    error is measured by that cell's own terms, else by the largest cell.
    """

    name: str
    group: str
    text: str
    make: Callable[[np.random.Generator], Operands]
    hands: tuple[Callable[..., Any], ...]
    sizes: Mapping[str, int] = field(default_factory=dict)
    materialise: bool = False
    np_options: Mapping[str, Any] = field(default_factory=dict)
    unlike: tuple[str, ...] = ()
    is_in_place: bool = False
    is_by_cell: bool = True
    tags: tuple[str, ...] = ()

    def operands(self) -> Operands:
        """Return the operands, the same in every run."""
        return self.make(np.random.default_rng(zlib.crc32(self.name.encode())))

    def own(self, operands: Operands) -> Operands:
        """Return operands for one call: these same ones, or new ones if it writes over them."""
        return self.operands() if self.is_in_place else operands

    @property
    def terms(self) -> str:
        """The text without its reducer."""
        return self.text.partition(":")[0].strip()

    @property
    def reducer(self) -> str:
        """The reducer's name, or an empty string."""
        return self.text.partition(":")[2].strip()

    @property
    def np_text(self) -> str | None:
        """The single-letter spelling for ``np.einsum`` and opt_einsum; None where they have none."""
        if "(" in self.text or self.reducer not in (*SUMS, "any") or self._adds_labels:
            return None
        return letters(self.terms)

    @property
    def einops_verb(self) -> str | None:
        """The function of einops that says this; None where there is none."""
        inputs = self.terms.partition("->")[0].split(",")
        if any(len(set(term.split())) < len(term.split()) for term in inputs):
            return None
        if len(inputs) > 1:
            return None if "(" in self.text or self.reducer not in (*SUMS, "any") else "einsum"
        if self.reducer:
            return "reduce"
        return "repeat" if self._adds_labels else "rearrange"

    @property
    def _adds_labels(self) -> bool:
        names = [set(side.translate(BARE).split()) for side in self.terms.split("->")]
        return not names[1] <= names[0]


BARE = str.maketrans("(),", "   ")


def letters(terms: str) -> str:
    """Return the terms with one letter for each name, ``"in out, out -> in"`` as ``"ab,b->a"``."""
    found: dict[str, str] = {}
    for name in terms.replace("->", " ").translate(BARE).split():
        found.setdefault(name, string.ascii_letters[len(found)])
    words = terms.replace("->", " -> ").replace(",", " , ").split()
    return "".join(found.get(word, word) for word in words)


def by_einsum(np_text: str) -> Callable[..., Any]:
    """Return NumPy's C loop for this text, as a hand."""
    return lambda *operands: np.einsum(np_text, *operands)


def normal(*shapes: tuple[int, ...], dtype: Any = np.float32) -> Callable[[np.random.Generator], Operands]:
    """Return a maker of normally distributed operands of these shapes."""

    def make(rng: np.random.Generator) -> Operands:
        return tuple(rng.standard_normal(shape).astype(dtype) for shape in shapes)

    return make
