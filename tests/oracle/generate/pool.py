"""Labels, operands and earlier statements of a random formula: what its leaves are made of."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oracle.generate.arrays import Values, random_array, random_scalar
from oracle.reference.expressions import Named

LABELS = ["i", "j", "k", "B", "chan", "d2", "out'", "sum", "index"]
FOREIGN = ["größe", "日"]
NAMES = ["x", "w", "a1", "max", "ids", "y_0", "mask", "β", "q", "table", "bias", "_u"]
COMMON = ["float64", "float64", "float64", "float32", "int64", "int32", "bool", "float16"]
RARE = ["int8", "uint8", "int16", "uint64", "complex128", "complex64", "float32", "float16"]
DOTS = "..."


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
    """One item of a term: a label, a group of labels, a literal, a pack or `...` with their shapes."""

    labels: tuple[str, ...] = ()
    group: bool = False
    pack: str = ""
    shape: tuple[int, ...] = ()


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


class Pool:
    """What the statements of one formula draw from.

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

    def draw_dims(self, wanted: Sequence[str]) -> list[Dim]:
        """The dims of a new operand, which has the labels wanted."""
        rng = self.rng
        others = [label for label in self.sizes if label not in wanted]
        labels = [*wanted, *rng.sample(others, min(len(others), rng.choice([0, 0, 1, 1, 2])))]
        rng.shuffle(labels)
        if labels and self.chance(0.06):
            labels.append(rng.choice(labels))  # a diagonal
        dims = [Dim((label,)) for label in labels]
        if len(dims) > 1 and self.chance(0.12):
            at = rng.randrange(len(dims) - 1)
            dims[at : at + 2] = [Dim((*dims[at].labels, *dims[at + 1].labels), group=True)]
        if self.chance(0.06):
            dims.insert(rng.randint(0, len(dims)), Dim())
        for word, shape in self.packs.items():
            if self.chance(0.6):
                dims.insert(rng.randint(0, len(dims)), Dim(pack=word, shape=self.narrow(word, shape)))
        return dims

    def narrow(self, word: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The dims of one operand under a pack: `...` may lack some or have size one."""
        if word != DOTS or self.chance(0.5):
            return shape
        return tuple(1 if self.chance(0.3) else size for size in shape[self.rng.randint(0, len(shape)) :])

    def draw_names(self, dims: Sequence[Dim]) -> list[str | None]:
        """The names of a tensor's dims, of which some are None."""
        names: list[str | None] = []
        partly = self.chance(0.3)
        for dim in dims:
            if dim.pack:
                count, rank = len(dim.shape), len(self.packs[dim.pack])
                names += [None if partly else f"P{rank - count + at}" for at in range(count)]
            elif not dim.labels or dim.group or (partly and self.chance(0.5)):
                names.append(f"g{len(names)}" if dim.group and self.chance(0.5) else None)
            else:
                taken = dim.labels[0] in names or self.chance(0.15)
                names.append(f"t{len(names)}" if taken else dim.labels[0])
        return names

    def new_operand(self, wanted: Sequence[str], dtype: str | None = None) -> Node:
        """A use of a new operand."""
        rng = self.rng
        dims = self.draw_dims(wanted) if wanted or self.chance(0.93) else []
        sizes = [size for dim in dims for size in self.shape_of(dim)]
        dtype = dtype or rng.choice(self.dtypes)
        named = self.named and self.chance(0.7)
        names = self.draw_names(dims) if named else []
        value = self.array(sizes, dtype) if sizes else random_scalar(rng, dtype, self.values)
        if named:
            value = Named(np.asarray(value), tuple(names))
        weak = type(value) in (bool, int, float, complex)
        kind = np.asarray(value.array if named else value).dtype.kind
        operand = Operand(self.fresh_name(), value, dims, names, kind, weak)
        self.operands.append(operand)
        for dim in dims:
            if dim.group:
                self.settle(dim.labels)
        self.known |= {dim.labels[0] for dim in dims if dim.labels and not dim.group}
        plain = all(dim.labels and not dim.group for dim in dims) and names == [dim.labels[0] for dim in dims]
        operand.bare = (not dims or (named and plain)) and self.chance(0.7)
        text = operand.name + ("" if operand.bare else self.term(dims, names))
        return self.node_of(operand, dims, text)

    def array(self, shape: Sequence[int], dtype: str) -> np.ndarray[Any, Any]:
        """A new array."""
        return random_array(self.rng, shape, dtype, self.values)

    def node_of(self, operand: Operand, dims: Sequence[Dim], text: str) -> Node:
        """The node of one use of an operand."""
        units = {label for dim in dims for label in dim.labels} | {dim.pack for dim in dims if dim.pack}
        self.mentioned |= {label for dim in dims for label in dim.labels}
        dots = next((dim.shape for dim in dims if dim.pack == DOTS), ())
        return Node(text, 9, units, dots, operand.kind, operand.weak, float(self.values.top))

    def again(self, operand: Operand) -> Node:
        """Another use of an operand: bare, with its term, or as another view."""
        dims, names = operand.dims, operand.names
        if operand.views == 1 and self.chance(0.5):
            operand.bare = True
            return self.node_of(operand, dims, operand.name)
        if not operand.bare and self.chance(0.6):
            other = [self.relabelled(dim) for dim in dims]
            if other != dims:
                operand.views += 1
                return self.node_of(
                    operand, other, operand.name + self.term(other, self.aliases(other, names))
                )
        return self.node_of(operand, dims, operand.name + self.term(dims, names))

    def aliases(self, dims: Sequence[Dim], names: Sequence[str | None]) -> list[str | None]:
        """The names of a tensor, for the term of another view."""
        return list(names) if dims else []

    def relabelled(self, dim: Dim) -> Dim:
        """The same dim under another label of the same size."""
        if dim.pack or dim.group or not dim.labels or self.chance(0.4):
            return dim
        label = self.label_of_size(self.sizes[dim.labels[0]])
        self.known.add(label)
        return Dim((label,))

    def statement_again(self, made: Made) -> Node:
        """A use of an earlier statement, bare or under other labels."""
        node = made.node
        if made.shape is None or (made.bare and self.chance(0.5)):
            return Node(made.name, 9, set(node.units), node.dots, node.kind, node.weak, node.bound)
        dims: list[Dim] = []
        for size in made.shape:
            taken = [label for dim in dims for label in dim.labels]
            if size == 1 and self.chance(0.3):
                dims.append(Dim())
            elif size in (4, 6) and self.chance(0.4):
                left = self.label_of_size(2, taken)
                dims.append(Dim((left, self.label_of_size(size // 2, [*taken, left])), group=True))
                if not self.mentioned & set(dims[-1].labels):
                    self.settle(dims[-1].labels)
            else:
                dims.append(Dim((self.label_of_size(size, () if self.chance(0.05) else taken),)))
                self.known |= (
                    set(dims[-1].labels) - self.mentioned
                )  # its size must be known where it first stands
        units = {label for dim in dims for label in dim.labels}
        self.mentioned |= units
        return Node(made.name + self.term(dims), 9, units, (), node.kind, node.weak, node.bound)
