"""The classes of recorded tensors: those of plain ones, whose methods record what they do.

`x.requires_grad_()` changes the class of x, so that plain tensors know nothing of the tape. `x + w`, with a
plain x, reaches the method of w by Python's rule for subclasses; a method that meets a recorded operand
raises `MeetsRecorded`, and is called again here.

>>> x, w = ne.tensor([1.0, 2.0], names="C"), ne.tensor([3.0, 4.0], names="C").requires_grad_()
>>> x + w
tensor([4., 6.], names=('C',), shape=(2,), grad_fn=<add>)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from nameexpr.tensors.core import Core
from nameexpr.tensors.ops import OPS, RECORDED
from nameexpr.tensors.tape import by_name, movement
from nameexpr.tensors.tape.controls import Controls
from nameexpr.tensors.tape.inplace import Writes, twin
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.movement import Moved
from nameexpr.tensors.tape.operators import SIGNS, Pointwise, signs
from nameexpr.tensors.tape.products import PRODUCTS, Multiplied
from nameexpr.tensors.tape.protocols import NumPy
from nameexpr.tensors.tape.recording import CLASSES, attached, of_one, of_several
from nameexpr.tensors.tape.reductions import Reduced
from nameexpr.tensors.tape.selecting import FILLS, INDICES, Chosen


class Recorded(Controls, Writes, Pointwise, Reduced, Multiplied, Moved, Chosen, NumPy):
    """What recorded tensors of all classes have in common."""

    __slots__ = ()
    _kernels: ClassVar[Any] = RECORDED

    @classmethod
    def _wrap(cls, data: Any, names: Any) -> Any:
        """Return a plain tensor: what is recorded goes through the wrappers."""
        return cls._unrecorded._wrap(data, names)

    def _named(self, data: Any, names: Any) -> Any:
        return self._wrap(data if type(data) is np.ndarray else np.asarray(data), names)

    @property
    def by_name(self) -> Any:
        """A view whose operators pair dims by name."""
        return self._seen_as(self._bare().by_name)

    @property
    def by_position(self) -> Any:
        """A view whose operators pair dims from the right."""
        return self._seen_as(self._bare().by_position)

    def _seen_as(self, view: Any) -> Any:
        if not MODE.is_on:
            return view
        return attached(view, "by_name", self._node, lambda g: g, is_view=True)


def recorded_class(base: Any) -> Any:
    """Return the class of recorded tensors for a class of plain ones."""
    body = dict(_methods(base))
    if base._is_by_name:
        body |= by_name.METHODS
    body |= {"__slots__": (), "_unrecorded": base, "__doc__": base.__doc__, "__module__": base.__module__}
    made: Any = type(base.__name__, (Recorded, base), body)
    if base is Core._tensor_class:
        made._usual = frozenset({made, base})
    return made


def _methods(base: Any) -> Any:
    """Yield the methods of a recorded class by name."""
    tables: list[tuple[dict[str, Any], Callable[[str, Any, Any], Any]]] = [
        (movement.VIEWS, lambda name, method, rule: of_one(name, method, rule, is_view=True)),
        (movement.COPIES, of_one),
        (INDICES, of_one),
        (FILLS | PRODUCTS, of_several),
    ]
    for rules, make in tables:
        for name, rule in rules.items():
            method = getattr(base, name, None)
            if isinstance(method, property):
                yield name, property(make(name, method.fget, rule))
            elif method is not None:
                yield name, make(name, method, rule)
    for word, verb in SIGNS.items():
        yield from signs(verb, word, base).items()
        yield f"__i{word}__", twin(f"__i{word}__", f"__{word}__", getattr(base, f"__i{word}__"))
    yield "__imatmul__", twin("__imatmul__", "__matmul__", base.__imatmul__)
    yield "__hash__", object.__hash__
    for name, row in OPS.items():
        if row.twin_of:
            yield name, twin(name, row.twin_of, getattr(base, name))


CLASSES.make = recorded_class
