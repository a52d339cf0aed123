"""The data of pictures: a network of tensors, the flow of values to a result, memory, a tensor.

    TensorNetwork = Tensor*, Leg*   labels join tensors; those of the result stay open
    Flow          = Node*           every value with its sources, and its costs
    Memory        = Moment*, limit  bytes alive, step by step
    Box           = (name, size)*   one tensor

Labels and titles are in readable form and not yet escaped: the code that writes them does that.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tensor:
    """An operand of a network. `note` adds to its title: its shape, or that it is bound; `mark` is the text
    where there is little room.
    """

    title: str
    note: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Leg:
    """A label with its size. `ends` are the tensors that have it, in order, one twice for a diagonal.

    It is open if the result has it, too; else it is contracted, or reduced. If it connects more than two
    places (ends, and the result) it is a hyperedge. Without ends it is a dim that only the result has.
    """

    label: str
    size: int
    ends: tuple[int, ...]
    is_open: bool

    @property
    def is_hyperedge(self) -> bool:
        """Whether the label connects three or more places, including the result."""
        return len(self.ends) + self.is_open > 2  # noqa: PLR2004  an edge has two ends


@dataclass(frozen=True, slots=True)
class TensorNetwork:
    """Tensors and the labels that connect them.

    `result` is the result's term; `reducer` is how labels that it lacks are combined: "sum", "max", ...
    """

    title: str
    tensors: tuple[Tensor, ...]
    legs: tuple[Leg, ...]
    result: str
    reducer: str


@dataclass(frozen=True, slots=True)
class Node:
    """A value: its operation, its dims, and its costs.

    `sources` are the numbers of the values that it depends on, all of them lower than its own. `flops` and
    `bytes` are None if unknown; `bytes` are those of the value. `kind` is "operand", "step", or "held" for a
    value that is computed once and kept, or was computed before. `is_derivative` means that it is only needed
    for a derivative.
    """

    kind: str
    title: str
    dims: str
    sources: tuple[int, ...] = ()
    flops: int | None = None
    bytes: int | None = None
    note: str = ""
    is_derivative: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """Values from the operands to the results, whose numbers are `outputs`. A contraction tree is a flow.

    `what` describes the kind of flow in a few words.
    """

    title: str
    what: str
    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Moment:
    """One step in memory: bytes alive while it runs and after it, not counting operands.

    `depth` is the number of loops around it.
    """

    title: str
    detail: str
    during: int
    after: int
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes alive step by step, those of the operands, and the limit if there is one."""

    title: str
    operands: int
    moments: tuple[Moment, ...]
    limit: int | None

    @property
    def peak(self) -> int:
        """The most bytes alive at once, not counting operands."""
        return max((moment.during for moment in self.moments), default=0)


@dataclass(frozen=True, slots=True)
class Box:
    """A tensor: its dims in order, each with its name (None for one without) and its size, and its dtype."""

    dims: tuple[tuple[str | None, int], ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """The data of all pictures of a plan. The network of a formula is the flow of its values."""

    network: TensorNetwork | Flow
    tree: Flow
    memory: Memory
