"""The dims of random formulas: labels with their sizes, and how terms with them are written."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from oracle.generate.arrays import Values
from oracle.generate.forms import Form

LABELS = ["i", "j", "k", "B", "chan", "d2", "out'", "sum", "index"]
FOREIGN = ["größe", "日"]
NAMES = ["x", "w", "a1", "max", "ids", "y_0", "mask", "β", "q", "table", "bias", "_u"]
COMMON = ["float64", "float64", "float64", "float32", "int64", "int32", "bool", "float16"]
RARE = ["int8", "uint8", "int16", "uint64", "complex128", "complex64", "float32", "float16"]
DOTS = "..."
FORMS = {"read", "join", "static", "data", "loop"}
"""What random formulas have."""


@dataclass
class Node:
    """A drawn expression: its text and how tightly it binds, its labels and packs, what kind of numbers."""

    text: str
    level: int
    units: set[str] = field(default_factory=set)
    dots: tuple[int, ...] = ()
    kind: str = "f"
    weak: bool = False
    bound: float = 4.0


@dataclass(frozen=True)
class Dim:
    """One item of a term: a label, a group of labels, a literal, a pack or `...` with their shapes.

    A dim that is read has a `form`; its labels are those of the value.
    """

    labels: tuple[str, ...] = ()
    group: bool = False
    pack: str = ""
    shape: tuple[int, ...] = ()
    form: Form | None = None

    @property
    def is_plain(self) -> bool:
        """Whether this is a label alone."""
        return bool(self.labels) and not self.group and self.form is None


@dataclass
class Operand:
    """An operand: its dims as the first use sees them, the names of its dims, and the texts of its uses."""

    name: str
    value: Any
    dims: list[Dim]
    names: list[str | None]
    kind: str
    weak: bool
    bare: bool = False
    views: int = 1


@dataclass
class Made:
    """An earlier statement; `shape` has its dims if it can be relabelled."""

    name: str
    node: Node
    bare: bool
    shape: tuple[int, ...] | None


class Dims:
    """What the dims of one formula draw from.

    Attributes
    ----------
    sizes
        The size of each label.
    known
        Labels whose sizes follow from operands or are written.
    mentioned
        Labels in the text.
    special
        Whether floats may be NaN or infinite.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.named, self.special = rng.random() < 0.25, rng.random() < 0.1
        labels = LABELS if self.named else LABELS + FOREIGN
        self.sizes = {label: self.draw_size() for label in rng.sample(labels, rng.choice([1, 2, 3, 3, 4, 5]))}
        self.packs: dict[str, tuple[int, ...]] = {}
        if rng.random() < 0.25:
            self.packs[rng.choice([DOTS, DOTS, "batch", "sum_"])] = tuple(
                self.draw_size() for _ in range(rng.choice([0, 1, 1, 2]))
            )
        self.reads = "read" in FORMS and rng.random() < 0.4
        manner = rng.random()
        self.dtypes = [rng.choice(COMMON)] if manner < 0.45 else COMMON if manner < 0.8 else RARE + COMMON
        self.values = Values(top=rng.choice([2, 4]), special=self.special)
        self.operands: list[Operand] = []
        self.made: list[Made] = []
        self.known: set[str] = set()
        self.mentioned: set[str] = set()

    def chance(self, share: float) -> bool:
        """Whether an event of this probability takes place."""
        return self.rng.random() < share

    def draw_size(self) -> int:
        """A size: mostly 1 to 4."""
        return self.rng.choice([1, 2, 2, 2, 3, 3, 3, 4, 4, 5] + ([0] if self.chance(0.25) else []))

    def fresh_name(self) -> str:
        """A name that nothing has yet."""
        taken = {one.name for one in self.operands} | {one.name for one in self.made}
        free = [name for name in NAMES if name not in taken]
        return self.rng.choice(free) if free else f"v{len(taken)}"

    def label_of_size(self, size: int, taken: Sequence[str] = ()) -> str:
        """A label of this size, a new one if there is none or now and then."""
        fitting = [label for label, known in self.sizes.items() if known == size and label not in taken]
        if fitting and self.chance(0.8):
            return self.rng.choice(fitting)
        label = f"n{len(self.sizes)}"
        self.sizes[label] = size
        return label

    def shape_of(self, dim: Dim) -> tuple[int, ...]:
        """The sizes of the dims that an item stands for."""
        if dim.pack:
            return dim.shape
        if dim.form is not None:
            return (dim.form.size,)
        return (math.prod(self.sizes[label] for label in dim.labels),)

    def term(self, dims: Sequence[Dim], names: Sequence[str | None] = ()) -> str:
        """The text of a term; `names` are those of the tensor's dims."""
        words, at = [], 0
        for dim in dims:
            name = names[at] if at < len(names) and not dim.pack else None
            words.append(self.item(dim, name))
            at += len(self.shape_of(dim))
        space = self.rng.choice([" "] * 12 + ["  ", "\n  ", " # ]\n "])
        return f"[{space.join(words)}]"

    def item(self, dim: Dim, name: str | None) -> str:
        """The text of one item."""
        if dim.pack:
            return dim.pack if dim.pack == DOTS else f"{dim.pack}..."
        if dim.form is not None:
            self.mentioned |= {*dim.labels, *dim.form.names}
            return f"{name}={dim.form.text}" if name and dim.form.text[0] == "(" else dim.form.text
        if not dim.labels:
            return self.rng.choice(["1", "1", "()"])
        self.mentioned |= set(dim.labels)
        if dim.group:
            inside = " ".join(self.sized(label) for label in dim.labels)
            return f"{name}=({inside})" if name and self.chance(0.7) else f"({inside})"
        label = dim.labels[0]
        if name is not None and name != label:
            return f"{name}={label}"
        return self.sized(label)

    def sized(self, label: str) -> str:
        """A label, now and then with its size."""
        if self.chance(0.06):
            self.known.add(label)
            return f"{label}={self.sizes[label]}"
        return label

    def settle(self, labels: Sequence[str]) -> None:
        """See to it that the sizes of a group's labels can be found: all are given, or all but one."""
        solvable = all(self.sizes[label] for label in labels) and len(set(labels)) == len(labels)
        unknown = [label for label in dict.fromkeys(labels) if label not in self.known]
        if unknown and solvable and self.chance(0.5):
            self.known.add(unknown[-1])
