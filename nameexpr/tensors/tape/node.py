"""The tape: one `TapeNode` for each recorded result, a `Leaf` for each tensor that requires a gradient.

A node knows the nodes of its inputs, and for each the function that turns the gradient of the result into
that of the input (a "vector-Jacobian product"). Nodes are numbered as they are recorded: an input has a lower
number than the results that were computed from it. It does not know names of dims: gradients on the tape are
arrays whose axes are those of the array.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from itertools import count
from types import FunctionType
from typing import Any

import numpy as np

from nameexpr.tensors.tape.texts import Vjp
from nameexpr.tensors.tape.versions import LOG, Epoch, new_epoch

_numbers = count(1)
next_number = _numbers.__next__


class Extras:
    """What few nodes have: hooks, and the gradient of an intermediate result."""

    __slots__ = ("hooks", "keeps", "kept")

    def __init__(self) -> None:
        self.hooks: dict[int, tuple[Callable[[Any], Any], Any]] = {}
        self.keeps: Any = None
        self.kept: Any = None


class TapeNode:
    """One recorded operator: `name`, what it was computed from, and how gradients go back through it.

    `views` are the tensors that share their elements, once there are some; a view has those of its base.
    `vjps` has a function for each input; or is one function, which returns the gradients of all inputs.
    """

    __slots__ = (
        "dtype",
        "epoch",
        "extras",
        "inputs",
        "is_view",
        "name",
        "number",
        "shape",
        "since",
        "views",
        "vjps",
    )

    def __init__(
        self,
        name: str,
        inputs: tuple[Any, ...],
        vjps: tuple[Vjp, ...] | Callable[[Any], Sequence[Any]] | None,
        array: np.ndarray[Any, Any],
        *,
        is_view: bool = False,
    ) -> None:
        self.name = name
        self.inputs = inputs
        self.vjps = vjps
        self.shape = array.shape
        self.dtype = array.dtype
        self.number = next_number()
        self.since = LOG.count
        self.extras: Extras | None = None
        self.is_view = is_view
        self.views: set[weakref.ref[Any]] | None = None
        self.epoch: Epoch | None = LOG.epoch or new_epoch()

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes of the inputs, as pairs as in PyTorch."""
        return tuple((node, 0) for node in self.inputs)

    def saved(self) -> list[np.ndarray[Any, Any]]:
        """Return the arrays that the functions of this node hold."""
        functions = self.vjps if isinstance(self.vjps, tuple) else (self.vjps,)
        found: list[np.ndarray[Any, Any]] = []
        for function in functions:
            if isinstance(function, FunctionType):
                for cell in function.__closure__ or ():
                    found += _arrays(cell.cell_contents)
        return found

    def __repr__(self) -> str:
        """Return the operator's name in angle brackets."""
        return f"<{self.name}>"


class Leaf:
    """A tensor that requires a gradient and was not computed: its gradients add up in `gradient`."""

    __slots__ = ("after", "dtype", "extras", "gradient", "number", "shape", "tensor", "views")

    name = "leaf"
    is_view = False
    inputs = ()

    def __init__(self, tensor: Any) -> None:
        self.shape = tensor._data.shape
        self.dtype = tensor._data.dtype
        self.number = next_number()
        self.extras: Extras | None = None
        self.gradient: Any = None
        self.views: set[weakref.ref[Any]] | None = None
        self.after: dict[int, Callable[[Any], Any]] = {}
        self.tensor = weakref.ref(tensor)

    def __repr__(self) -> str:
        """Return the name of a leaf in angle brackets."""
        return "<leaf>"


class Scattered:
    """A gradient that is 0 except at places where it is `values`; they may repeat unless `is_unique`."""

    __slots__ = ("is_unique", "places", "values")

    def __init__(self, places: Any, values: Any, *, is_unique: bool = True) -> None:
        self.places, self.values, self.is_unique = places, values, is_unique

    def added_to(self, whole: np.ndarray[Any, Any]) -> None:
        """Add the gradient to that of the whole array."""
        if self.is_unique:
            whole[self.places] += self.values
        else:
            np.add.at(whole, self.places, self.values)


class Seed:
    """The gradient of one of several results, for the node of all."""

    __slots__ = ("at", "value")

    def __init__(self, at: int, value: Any) -> None:
        self.at, self.value = at, value


def extras_of(node: TapeNode | Leaf) -> Extras:
    """Return the extras of a node, which get them on demand."""
    if node.extras is None:
        node.extras = Extras()
    return node.extras


def _arrays(value: Any) -> list[np.ndarray[Any, Any]]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple | list):
        return [array for each in value for array in _arrays(each)]
    if isinstance(value, FunctionType):
        return [array for cell in value.__closure__ or () for array in _arrays(cell.cell_contents)]
    return _arrays(value._data) if hasattr(value, "_data") else []
