"""The pictures of an expression as data: its network from its labels, its tree from its order of
contractions, its memory from its program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import prod

from nameexpr.compiler.ir.axes import CUSTOM, Axes, shown
from nameexpr.compiler.ir.primitives import WORKING
from nameexpr.compiler.ir.program import Loop
from nameexpr.compiler.memory.arrays import item_bytes
from nameexpr.compiler.memory.timeline import timeline
from nameexpr.pictures.data import Flow, Leg, Memory, Moment, Node, Tensor, TensorNetwork
from nameexpr.runtime.plan.running import Running, axes_text
from nameexpr.runtime.plan.steps import REDUCING, Row, repeats


def expression_graphs(running: Running, text: str, rows: Sequence[Row]) -> tuple[TensorNetwork, Flow]:
    """Return the network and the contraction tree of an expression."""
    return _network(running, text), _Tree(running, rows).flow(text)


def dims_text(axes: Axes, sizes: Mapping[str, int]) -> str:
    """Return dims with their sizes: "batch=2 (h=4 d=8)", "scalar" if there are none."""
    return axes_text(axes, lambda label: with_size(label, sizes[label])) or "scalar"


def with_size(label: str, size: int) -> str:
    """Return a label with its size; a literal is shown alone."""
    return shown(label) if shown(label) == str(size) else f"{shown(label)}={size}"


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape as it is written next to a tensor: "2×3", "scalar"."""
    return "×".join(map(str, shape)) or "scalar"


def _network(running: Running, text: str) -> TensorNetwork:
    compiled, bound = running.compiled, running.bound
    sizes = compiled.graph.sizes
    ends: dict[str, list[int]] = {}
    for position, axes in enumerate(compiled.views):
        for label in chain.from_iterable(axes):
            ends.setdefault(label, []).append(position)
    result = list(chain.from_iterable(compiled.result_axes))
    for label in result:
        ends.setdefault(label, [])
    legs = tuple(
        Leg(shown(label), sizes[label], tuple(places), label in result) for label, places in ends.items()
    )
    tensors = tuple(
        Tensor(
            f"operand {position}", shape_text(shape) + (", bound" if position in bound else ""), str(position)
        )
        for position, shape in enumerate(compiled.operands.shapes)
    )
    reducer = {None: "sum", CUSTOM: "by reduce="}.get(compiled.reducer, compiled.reducer)
    return TensorNetwork(text, tensors, legs, axes_text(compiled.result_axes) or "scalar", str(reducer))


class _Tree:
    """The contraction tree: operands, then a node for each step of the plan, then the final operations."""

    def __init__(self, running: Running, rows: Sequence[Row]) -> None:
        self.compiled, self.bound = running.compiled, running.bound
        (self.plan,) = self.compiled.plans
        self.sizes = self.compiled.graph.sizes
        self.rows_of: dict[int | None, list[Row]] = {}
        for row in rows:
            loop = row.instruction.loop
            is_sliced = loop is not None and not loop.block
            inside = (
                {note.step for note in loop.body.notes} if loop is not None and is_sliced else {row.note.step}
            )
            for step in inside:
                self.rows_of.setdefault(step, []).append(row)
        self.dtypes = self.compiled.operands.dtypes
        self.last = self.compiled.program.notes[-1].dtype if self.compiled.program.notes else ""

    def flow(self, text: str) -> Flow:
        """Return the tree."""
        nodes = [self._operand(position) for position in range(len(self.compiled.views))]
        nodes += [self._step(number) for number in range(len(self.plan.steps))]
        labels = self.plan.steps[-1].labels if self.plan.steps else self.plan.terms[0]
        if self.plan.reduced:
            nodes.append(self._reduction(len(nodes) - 1, labels))
            labels = tuple(label for label in labels if label not in self.plan.reduced)
        dims = dims_text(self.compiled.result_axes, self.sizes)
        size = prod(self.compiled.result_shape) * self._item(self.last)
        is_made = len(nodes) > len(self.compiled.views)
        if is_made and sorted(labels) == sorted(chain.from_iterable(self.compiled.result_axes)):
            nodes[-1] = replace(nodes[-1], dims=dims, bytes=size)
        else:
            nodes.append(Node("step", "result", dims, (len(nodes) - 1,), 0, size))
        return Flow(text, "Contraction tree", tuple(nodes), (len(nodes) - 1,))

    def _item(self, dtype: str) -> int:
        return item_bytes(dtype or (self.dtypes[0] if self.dtypes else "float64"))

    def _operand(self, position: int) -> Node:
        axes = self.compiled.views[position]
        dtype = self.dtypes[position] if self.dtypes else ""
        size = prod(self.compiled.graph.cells(labels) for labels in axes) * self._item(dtype)
        dims, note = dims_text(axes, self.sizes), "bound" if position in self.bound else ""
        return Node("operand", f"operand {position}", dims, bytes=size, note=note)

    def _step(self, number: int) -> Node:
        step = self.plan.steps[number]
        dims = dims_text(tuple((label,) for label in step.labels), self.sizes)
        rows = self.rows_of.get(number, [])
        working = [row for row in rows if row.instruction.primitive in WORKING] or rows
        if not working:
            size = self.compiled.graph.cells(step.labels) * self._item(self.last)
            title, note = "the same value", "computed before"
            if self.bound:
                title, note = "held", "once, before the calls"
            return Node("held", title, dims, step.values, 0, size, note)
        row = working[-1]
        flops = step.flops * repeats(row.loops, (*step.labels, *step.summed))
        size = prod(rows[-1].shape) * self._item(rows[-1].note.dtype)
        return Node("step", row.title, dims, step.values, flops, size, _blocks(row.loops))

    def _reduction(self, source: int, labels: tuple[str, ...]) -> Node:
        """Return the final reducer, if it is not a sum."""
        kept = tuple((label,) for label in labels if label not in self.plan.reduced)
        rows = [*self.rows_of.get(None, ()), *self.rows_of.get(len(self.plan.steps) - 1, ())]
        found = [row for row in rows if row.instruction.primitive in {*REDUCING, "fused", "loop"}]
        size = prod(self.compiled.graph.cells(labels) for labels in kept) * self._item(self.last)
        dims = dims_text(kept, self.sizes)
        if not found:
            kind = "held" if self.bound else "step"
            return Node(kind, str(self.compiled.reducer), dims, (source,), 0, size)
        flops = self.plan.reduction_flops * repeats(found[-1].loops, labels)
        return Node("step", found[-1].title, dims, (source,), flops, size, _blocks(found[-1].loops))


def _blocks(loops: Sequence[Loop]) -> str:
    """Return the loops around a step, as a note."""
    parts = [f"{loop.turns} blocks of {shown(loop.label)}" for loop in loops]
    return f"in {', '.join(parts)}" if parts else ""


def memory_of(running: Running, text: str, rows: Sequence[Row], operands: int, limit: int | None) -> Memory:
    """Return the bytes alive, step by step, not counting the operands."""
    alive = timeline(running.program, running.shapes, running.given)
    moments = tuple(
        Moment(row.title, row.step.names, one.during, one.after, one.depth)
        for row, one in zip(rows, alive, strict=True)
    )
    return Memory(text, operands, moments, limit)
