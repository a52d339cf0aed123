"""The backward pass: nodes in the order opposite to that of their recording, by their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import is_narrow
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.tensors.tape.hooks import after_accumulating, hooked
from nameexpr.tensors.tape.node import Leaf, Scattered, Seed, TapeNode
from nameexpr.tensors.tape.versions import LOG, written_since

Array = np.ndarray[Any, Any]


class Pass:
    """One backward pass: the gradients so far, by the numbers of their nodes, and the numbers in a heap."""

    __slots__ = ("found", "gradients", "heap", "retains", "wanted")

    def __init__(self, wanted: frozenset[int] | None, *, retains: bool) -> None:
        self.gradients: dict[int, list[Any]] = {}
        self.heap: list[int] = []
        self.retains, self.wanted = retains, wanted
        self.found: dict[int, Any] = {}

    def add(self, node: TapeNode | Leaf, part: Any, *, is_own: bool) -> None:
        """Add to the gradient of a node; `is_own` if nothing else refers to the array."""
        entry = self.gradients.get(node.number)
        if type(part) is Scattered:
            if entry is None:
                entry = self._enter(node, np.zeros(node.shape, node.dtype), is_own=True)
            elif not entry[2]:
                entry[1], entry[2] = np.array(entry[1]), True
            part.added_to(entry[1])
            return
        if type(part) is Seed:
            seeds = (entry or self._enter(node, {}, is_own=True))[1]
            seeds[part.at] = seeds[part.at] + part.value if part.at in seeds else part.value
            return
        if part.shape != node.shape:
            part, is_own = summed_to(part, node.shape), False
        if part.dtype != node.dtype:
            part, is_own = cast(part, node.dtype), True
        if entry is None:
            self._enter(node, part, is_own=is_own)
        elif entry[2]:
            entry[1] += part
        else:
            entry[1], entry[2] = entry[1] + part, True

    def _enter(self, node: TapeNode | Leaf, part: Any, *, is_own: bool) -> list[Any]:
        entry = self.gradients[node.number] = [node, part, is_own]
        heappush(self.heap, -node.number)
        return entry

    @np.errstate(all="ignore")
    def run(self) -> None:
        """Go back through all nodes."""
        gradients, heap = self.gradients, self.heap
        LOG.epoch = None
        while heap:
            node, gradient, is_own = gradients.pop(-heappop(heap))
            if node.extras is not None:
                gradient, is_own = hooked(node, gradient, is_own)
            if self.wanted is not None and node.number in self.wanted:
                self.found[node.number] = gradient
            if type(node) is not Leaf:
                self._through(node, gradient)
            elif self.wanted is None:
                accumulate(node, gradient, is_own=is_own)

    def _through(self, node: TapeNode, gradient: Any) -> None:
        """Add the gradients of a node's inputs."""
        vjps = node.vjps
        if vjps is None:
            raise freed(node)
        if node.since != LOG.count:
            check_unchanged(node)
        if type(vjps) is not tuple:
            parts: Sequence[Any] = vjps(gradient)  # type: ignore[operator]
        else:
            parts = [vjp(gradient) for vjp in vjps]
        if not self.retains:
            node.vjps = node.epoch = None
        is_one = len(parts) == 1
        for at, (source, part) in enumerate(zip(node.inputs, parts, strict=True)):
            if part is not None:
                is_own = part is not gradient and getattr(part, "base", self) is None
                is_own = is_own and (is_one or all(part is not each for each in parts[:at]))
                self.add(source, part, is_own=is_own)


def accumulate(leaf: Leaf, gradient: Any, *, is_own: bool) -> None:
    """Add to the gradient of a leaf, in place if it has one, as PyTorch does."""
    tensor = leaf.tensor()
    if tensor is None:
        return
    if leaf.gradient is None:
        data = gradient if is_own and type(gradient) is np.ndarray else np.array(gradient)
        leaf.gradient = tensor._like(data)
    else:
        leaf.gradient._data += gradient
    if leaf.after:
        after_accumulating(leaf, tensor)


def summed_to(part: Any, shape: tuple[int, ...]) -> Any:
    """Return a gradient summed over the dims along which an operand was repeated."""
    extra = part.ndim - len(shape)
    repeated = [at + extra for at, size in enumerate(shape) if size != part.shape[at + extra]]
    axes = (*range(extra), *repeated)
    wide = np.float32 if is_narrow(part.dtype) else None
    return np.asarray(np.add.reduce(part, axis=axes, keepdims=True, dtype=wide)).reshape(shape)


def cast(part: Any, dtype: np.dtype[Any]) -> Any:
    """Return a gradient in the dtype of its tensor; of a real one the real part."""
    if part.dtype.kind == "c" and dtype.kind != "c":
        part = part.real
    return np.asarray(part).astype(dtype)


def check_unchanged(node: TapeNode) -> None:
    """Raise NE693 if an array that a node saved has been written to."""
    for array in node.saved():
        write = written_since(array, node.since)
        if write is not None:
            where = f" ({write.where})" if write.where else ""
            message = f"{write.verb}{where} has written to an array that the gradient of {node.name} needs"
            hint = f"call backward before {write.verb}, or give it a clone()"
            raise error(Diagnostic("NE693", message, hint=hint))


def freed(node: TapeNode) -> NameExprError:
    """Return the error for a second backward pass."""
    message = f"a backward pass has already gone through {node.name}, and what it had saved is freed"
    return error(Diagnostic("NE696", message, hint="give the first call backward(retain_graph=True)"))
