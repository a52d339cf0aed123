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

from nameexpr.tensors import functions
from nameexpr.tensors.core import Core
from nameexpr.tensors.ops import OPS, RECORDED
from nameexpr.tensors.tape import by_name, movement, reductions, selecting
from nameexpr.tensors.tape.arithmetic import comparison, one, pair, pair_method, sign
from nameexpr.tensors.tape.controls import Controls
from nameexpr.tensors.tape.fast import fast_matmul, fast_one, fast_reduction, fast_sign
from nameexpr.tensors.tape.inplace import Writes, twin
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.node import Scattered
from nameexpr.tensors.tape.pointwise import ONE, TWO
from nameexpr.tensors.tape.protocols import NumPy
from nameexpr.tensors.tape.quantiles import QUANTILES
from nameexpr.tensors.tape.recording import (
    CLASSES,
    attached,
    bare,
    constant,
    of_one,
    of_several,
)
from nameexpr.tensors.tape.tables import BITS, COMPARISONS, CONSTANT, SELECTIONS, SEVERAL, SIGNS


class Recorded(Controls, Writes, NumPy):
    """What recorded tensors of all classes have in common."""

    __slots__ = ()
    _kernels: ClassVar[Any] = RECORDED

    @classmethod
    def _wrap(cls, data: Any, names: Any) -> Any:
        """Return a plain tensor: what is recorded goes through the wrappers."""
        return cls._unrecorded._wrap(data, names)

    def _named(self, data: Any, names: Any) -> Any:
        return self._unrecorded._named(self._bare(), data, names)

    def _unify(self, verb: str, left: Any, right: Any, out: Any = None) -> Any:
        return pair(verb, left, right, out)

    def _chosen(self, condition: Any, x: Any, y: Any) -> Any:
        return RECORDED.again(functions.where, (condition, x, y), {})

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

    def __getitem__(self, key: Any) -> Any:
        """Return the elements at an index."""
        return self._at(key, key, {})

    def isel(self, /, **indices: Any) -> Any:
        """Return the elements at indices of dims given by name."""
        key = [slice(None)] * self._data.ndim
        for name, index in indices.items():
            if name in self._names:
                key[self._names.index(name)] = index
        return self._at(None, tuple(key), indices)

    def _at(self, given: Any, key: Any, indices: dict[str, Any]) -> Any:
        x, key = self._bare(), bare(key)
        if not indices and MODE.is_on:
            quick = x._quick(key)
            if quick is not None:
                places = (*key, ...) if type(key) is tuple else (key, ...)
                return attached(quick, "x[...]", self._node, lambda g: Scattered(places, g), is_view=True)
        y = x.isel(**{name: bare(each) for name, each in indices.items()}) if indices else x[key]
        if not MODE.is_on:
            return y
        vjp, is_view = selecting.indexed(x, key)
        return attached(y, "x[...]", self._node, vjp, is_view=is_view)

    def __iter__(self) -> Any:
        """Yield the elements along the first dim."""
        iter(self._bare())
        return (self[number] for number in range(self._data.shape[0]))


def recorded_class(base: Any) -> Any:
    """Return the class of recorded tensors for a class of plain ones."""
    methods = dict(_methods(base))
    made: list[Any] = []
    if base._is_by_name:
        methods |= by_name.METHODS
    if base is Core._tensor_class:
        methods |= _short_cuts(base, methods, made)
    body = {"__slots__": (), "_unrecorded": base, "__doc__": base.__doc__, "__module__": base.__module__}
    body["__hash__"] = object.__hash__
    made.append(type(base.__name__, (Recorded, base), {**methods, **body}))
    return made[0]


def _short_cuts(base: Any, methods: dict[str, Any], made: list[Any]) -> dict[str, Any]:
    """Return the short cuts for methods of the usual class, which they find in `made`."""
    cuts = {verb: fast_one(verb, methods[verb], made) for verb in ONE}
    for name, verb in (("__neg__", "neg"), ("__pos__", "positive"), ("__abs__", "abs")):
        cuts[name] = fast_one(verb, methods[name], made)
    for word, verb in SIGNS.items():
        for prefix in ("", "r"):
            name = f"__{prefix}{word}__"
            cuts[name] = fast_sign(verb, methods[name], made, base, is_reflected=bool(prefix))
    for verb in ("sum", "mean"):
        cuts[verb] = fast_reduction(verb, methods[verb], made)
    for name in ("__matmul__", "__rmatmul__"):
        cuts[name] = fast_matmul(methods[name], made, base, is_reflected=name == "__rmatmul__")
    return cuts


def _methods(base: Any) -> Any:
    """Yield the methods of a recorded class by name."""
    own = set(vars(Recorded)) | {name for kind in Recorded.__mro__[1:4] for name in vars(kind)}
    tables: list[tuple[Any, Callable[[str, Any], Any]]] = [
        (ONE, one),
        (TWO, pair_method),
        (movement.VIEWS, lambda name, method: of_one(name, method, movement.VIEWS[name], is_view=True)),
        (movement.COPIES, lambda name, method: of_one(name, method, movement.COPIES[name])),
        (reductions.RULES, lambda name, method: of_one(name, method, reductions.RULES[name])),
        (QUANTILES, lambda name, method: of_one(name, method, QUANTILES[name])),
        (SELECTIONS, lambda name, method: of_one(name, method, SELECTIONS[name])),
        (SEVERAL, lambda name, method: of_several(name, method, SEVERAL[name])),
        (CONSTANT, constant),
    ]
    for names, make in tables:
        for name in names:
            method = getattr(base, name, None)
            if isinstance(method, property):
                yield name, property(make(name, method.fget))
            elif method is not None and name not in own:
                yield name, make(name, method)
    yield from _signs(base)
    for name, row in OPS.items():
        if row.twin_of:
            yield name, twin(name, row.twin_of, getattr(base, name))


def _signs(base: Any) -> Any:
    for word, verb in SIGNS.items():
        for prefix in ("", "r"):
            name = f"__{prefix}{word}__"
            yield name, sign(verb, getattr(base, name), is_reflected=bool(prefix))
        yield f"__i{word}__", twin(f"__i{word}__", f"__{word}__", getattr(base, f"__i{word}__"))
    for word in BITS:
        for prefix in ("", "r"):
            name = f"__{prefix}{word}__"
            yield name, constant(name, getattr(base, name))
    for word in COMPARISONS:
        name = f"__{word}__"
        yield name, comparison(name, getattr(base, name))
    yield "__imatmul__", twin("__imatmul__", "__matmul__", base.__imatmul__)
    for name in ("__neg__", "__pos__", "__abs__"):
        verb = {"__neg__": "neg", "__pos__": "positive", "__abs__": "abs"}[name]
        yield name, one(verb, getattr(base, name))
    yield "__invert__", constant("__invert__", base.__invert__)


CLASSES.make = recorded_class
