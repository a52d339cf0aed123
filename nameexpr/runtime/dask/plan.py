"""`ChunkedPlan`: what a text does on Dask arrays: its steps, their chunks and tasks, and bytes per task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nameexpr.backends.dask.steps import Stored
from nameexpr.carets import aligned_columns
from nameexpr.runtime.dask.building import Built


@dataclass(frozen=True, slots=True)
class ChunkedStep:
    """One step of a plan.

    Attributes
    ----------
    name : str
        What it computes, as Dask's dashboard shows it.
    dims : str
        The labels of its result.
    chunks : tuple of tuple of int
        The chunks of its result, for each dim.
    tasks : int
        The tasks of the step: those that cut its operands into other chunks, one for each block, and those
        that combine blocks. Dask may fuse some of them.
    task_bytes : int
        The predicted peak memory of one task, the blocks that it reads and the one that it returns included.
    """

    name: str
    dims: str
    chunks: tuple[tuple[int, ...], ...]
    tasks: int
    task_bytes: int


@dataclass(frozen=True, slots=True)
class ChunkedPlan:
    """The plan of a text for Dask arrays, as `plan` of a compiled text returns it. Printed, it is a table.

    Attributes
    ----------
    text : str
        The text.
    steps : tuple of ChunkedStep
        The steps, in order.

    Examples
    --------
    >>> import dask.array as da, nameexpr as ne
    >>> x, y = da.ones((6000, 4000), chunks=2000), da.ones((4000, 2000), chunks=2000)
    >>> plan = ne.compile("i k, k j -> i j").plan(x, y)
    >>> plan.tasks, plan.steps[0].name, plan.steps[0].task_bytes
    (9, 'contract', 160000000)
    """

    text: str
    steps: tuple[ChunkedStep, ...]

    @property
    def tasks(self) -> int:
        """The tasks of all steps."""
        return sum(step.tasks for step in self.steps)

    @property
    def task_bytes(self) -> int:
        """The predicted peak memory of the largest task."""
        return max([step.task_bytes for step in self.steps], default=0)

    def __str__(self) -> str:
        """Return the table of steps and the totals."""
        rows = [("step", "dims", "chunks", "tasks", "bytes of a task")]
        for step in self.steps:
            chunks = " ".join(map(_shown, step.chunks)) or "-"
            rows.append((step.name, step.dims or "-", chunks, f"{step.tasks:,}", f"{step.task_bytes:,}"))
        total = f"{self.tasks:,} tasks of at most {self.task_bytes:,} bytes"
        return "\n".join([self.text, *aligned_columns(rows), total])


def plan_of_built(text: str, operands: Sequence[Stored], built: Built) -> ChunkedPlan:
    """Return the plan of lazy arrays."""
    seen = {layer for stored in operands for layer in _layers(stored.array)}
    steps = []
    for made, peak in zip(built.steps, built.peaks, strict=True):
        layers = _layers(made.array)
        new = {name: len(layers[name]) for name in layers if name not in seen}
        tasks = sum(new.values())
        if made.step.summed:  # Dask adds a task to each of these, which it fuses with it
            tasks -= sum(size for name, size in new.items() if name.startswith(f"nameexpr-{made.step.name}-"))
        seen |= layers.keys()
        dims = " ".join(
            "(" + " ".join(group) + ")" if len(group) != 1 else group[0] for group in made.step.axes
        )
        steps.append(ChunkedStep(made.step.name, dims, made.array.chunks, tasks, peak))
    return ChunkedPlan(text, tuple(steps))


def _layers(array: Any) -> Mapping[str, Any]:
    return array.dask.layers if hasattr(array, "dask") else {}


def _shown(chunks: tuple[int, ...]) -> str:
    """Return the chunks of a dim: their number, and the size of the largest."""
    return f"{len(chunks)}x{max(chunks)}"
