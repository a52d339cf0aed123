"""Operands and earlier statements of a random formula: what its leaves are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from oracle.generate import forms
from oracle.generate.arrays import random_array, random_scalar, spread
from oracle.generate.dims import DOTS, FORMS, Dim, Dims, Made, Node, Operand
from oracle.generate.forms import Form
from oracle.reference.expressions import Named


class Pool(Dims):
    """What the statements of one formula draw from."""

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
        dims = self.read_dims(dims)
        for word, shape in self.packs.items():
            if self.chance(0.6):
                dims.insert(rng.randint(0, len(dims)), Dim(pack=word, shape=self.narrow(word, shape)))
        return dims

    def read_dims(self, dims: Sequence[Dim]) -> list[Dim]:
        """The dims of an operand, of which some are read in parts or at positions."""
        if not self.reads:
            return list(dims)
        found = [self.read(dim) if dim.is_plain and self.chance(0.3) else dim for dim in dims]
        plain = [at for at, dim in enumerate(found) if dim.is_plain]
        if len(plain) > 1 and self.chance(0.15):
            one, other = self.rng.sample(plain, 2)
            labels = found[one].labels + found[other].labels
            if len(set(labels)) == 2:
                found[one] = Dim(labels, form=forms.affine(self.rng, labels, self.sizes))
                found.pop(other)
        if self.chance(0.1):
            found.insert(self.rng.randint(0, len(found)), Dim(form=forms.constant(self.rng)))
        if "data" in FORMS and self.chance(0.15):
            found.insert(self.rng.randint(0, len(found)), self.data_dim())
        return found

    def data_dim(self) -> Dim:
        """A dim that is read at positions from an operand of integers, now and then outside."""
        rng = self.rng
        labels = rng.sample(list(self.sizes), rng.randint(0, min(len(self.sizes), 2)))
        size, top = rng.choice([1, 2, 3, 4]), rng.choice([1, 2, 3, 4])
        dtype = rng.choice(["int64", "int64", "int32", "int8", "uint8", "uint64"])
        low, high = (0, size - 1) if self.chance(0.97) else (0 if dtype[0] == "u" else -1, size)
        shape = [self.sizes[label] for label in labels]
        numbers = [rng.randint(low, high) for _ in range(math.prod(shape))]
        dims = [Dim((label,)) for label in labels]
        value = spread(np.array(numbers, dtype).reshape(shape), [rng.choice([1, 2, -1]) for _ in shape], 0)
        operand = Operand(self.fresh_name(), value, dims, [], "i", False)
        self.operands.append(operand)
        self.known |= set(labels)
        use = operand.name + self.term(dims)
        base = rng.choice(["_", "_", str(size), f"V{len(self.operands)}"])
        places = [use, use, f"({use})", f"(0 + {use})", f"minimum({use}, {size - 1})", f"({use} % {top})"]
        place = rng.choice(places)
        place = place if place[0] == "(" or place == use else f"({place})"
        names = (base,) if base[0] == "V" else ()
        return Dim(
            tuple(labels),
            form=Form(f"{base}@{place}", max(size, top) if "%" in place else size, False, names),
        )

    def read(self, dim: Dim) -> Dim:
        """A way to read a dim so that the value has this label."""
        rng, (label,) = self.rng, dim.labels
        draw = rng.random()
        if draw < 0.08:
            return Dim(dim.labels, form=forms.factor(rng, label, self.sizes[label]))
        if draw < 0.4:
            return Dim(dim.labels, form=forms.parts(rng, dim.labels, self.sizes))
        if draw < 0.8 or not self.sizes[label]:
            base = "_" if self.chance(0.7) else f"D{len(self.operands)}"
            form = forms.affine(rng, dim.labels, self.sizes, base)
            if base != "_":
                form = replace(form, names=(base,))
            return Dim(dim.labels, form=form)
        size = self.sizes[label] + rng.choice([0, 0, 1, 2])
        base = self.label_of_size(size, [label])
        draw_form = forms.static if self.chance(0.5) and "static" in FORMS else forms.reversed_dim
        return Dim(dim.labels, form=draw_form(rng, label, base, size))

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
            elif dim.form is not None and dim.form.names:
                names.append(dim.form.names[0] if dim.form.names[0] not in names else None)
            elif not dim.is_plain or (partly and self.chance(0.5)):
                is_named = (dim.group or dim.form is not None) and self.chance(0.5)
                names.append(f"g{len(names)}" if is_named else None)
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
        self.known |= {dim.labels[0] for dim in dims if dim.is_plain}
        for form in (dim.form for dim in dims if dim.form is not None):
            self.see_form(form, [label for dim in dims if dim.form is form for label in dim.labels])
        plain = all(dim.is_plain for dim in dims) and names == [dim.labels[0] for dim in dims]
        operand.bare = (not dims or (named and plain)) and self.chance(0.7)
        text = operand.name + ("" if operand.bare else self.term(dims, names))
        return self.node_of(operand, dims, text)

    def see_form(self, form: Form, labels: Sequence[str]) -> None:
        """Note the sizes that a form determines."""
        for name in form.names:
            self.known.add(name)
            self.sizes.setdefault(name, form.size)
        unknown = [label for label in labels if label not in self.known]
        if form.tells and len(unknown) == 1 and self.chance(0.8):
            self.known.add(unknown[0])

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
        if not dim.is_plain or self.chance(0.4):
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
            elif self.reads and size > 1 and self.chance(0.25):
                dims.append(self.read_of_size(size, taken))
            else:
                dims.append(Dim((self.label_of_size(size, () if self.chance(0.05) else taken),)))
                self.known |= (
                    set(dims[-1].labels) - self.mentioned
                )  # its size must be known where it first stands
        for form in (dim.form for dim in dims if dim.form is not None):
            self.known |= {label for dim in dims if dim.form is form for label in dim.labels} - self.mentioned
        units = {label for dim in dims for label in dim.labels}
        self.mentioned |= units
        return Node(made.name + self.term(dims), 9, units, (), node.kind, node.weak, node.bound)

    def read_of_size(self, size: int, taken: Sequence[str]) -> Dim:
        """A way to read a dim of this size, with a label that fits."""
        rng = self.rng
        skip = rng.choice([0, 1, 1]) if size < 3 else rng.choice([0, 1, 2])
        label = self.label_of_size(size - skip, taken)
        words = [str(skip), label] if self.chance(0.5) else [label, str(skip)]
        text = f"({' + '.join(words)})"
        if self.chance(0.5):
            text = rng.choice([f"_@({label}+{skip})", f"_@({size - 1}-{label})", f"_@({skip} + {label})"])
        return Dim((label,), form=Form(text, size, True))
