"""Tensors with coordinates. Only they have this class, so that it costs others nothing.

Its methods are those of `NamedTensor`, each followed by `carried`, except for those that move elements:
indexing and selecting slice coordinates, and sorting drops those of its dim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, wraps
from types import FunctionType
from typing import Any, ClassVar, Self

import numpy as np

from nameexpr.backends.numpy.foreign import Coordinate
from nameexpr.dims import Names
from nameexpr.tensors.coordinates import (
    Coordinates,
    agreed,
    fitting,
    is_label,
    renamed,
    taken,
    without,
)
from nameexpr.tensors.core import Array, Core
from nameexpr.tensors.foreign import foreign, library_of
from nameexpr.tensors.numpy_coordinates import of_function
from nameexpr.tensors.ops import RECORDED
from nameexpr.tensors.surviving import of_all, of_call, of_product, own


def wrap(data: Array, names: Names) -> Any:
    """Return a tensor without coordinates around an array, unchecked."""
    return Core._tensor_class._wrap(data, names)


def attach(tensor: Any, coordinates: Iterable[Coordinate]) -> Any:
    """Return a tensor with those of the coordinates that fit its dims; a plain one if none do."""
    if tensor._kernels is RECORDED:
        return RECORDED.promoted(attach(tensor._bare(), coordinates), tensor._node)
    kept = fitting(coordinates, tensor._names, tensor._data.shape)
    base: Any = tensor._plain if isinstance(tensor, Labelled) else type(tensor)
    if not kept:
        return tensor if type(tensor) is base else base._wrap(tensor._data, tensor._names)
    new = object.__new__(_labelled_class(base))
    new._data, new._names, new._own = tensor._data, tensor._names, kept
    return new


def carried(result: Any, operands: Iterable[Any], coordinates: list[Coordinate]) -> Any:
    """Return the result of a method with coordinates; a tensor that was written over keeps its own."""
    if isinstance(result, Core):
        if any(result is operand for operand in operands):
            if isinstance(result, Labelled):
                result._own = fitting(result._coordinates, result._names, result.shape)
            return result
        return attach(result, coordinates)
    if isinstance(result, tuple | list):
        parts = [carried(part, operands, coordinates) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


class Labelled(Core):
    """The additional attributes of a NamedTensor with coordinates."""

    __slots__ = ("_own",)

    _own: Coordinates
    _plain: ClassVar[type[Core]]
    """The class of the tensor without its coordinates."""

    @property
    def _coordinates(self) -> Coordinates:  # type: ignore[override]
        return getattr(self, "_own", ())  # none yet while a method creates a result

    @classmethod
    def _wrap(cls, data: Array, names: Names) -> Self:
        return cls._plain._wrap(data, names)  # type: ignore[return-value]

    def _named(self, data: Any, names: Names) -> Self:
        return self._wrap(data if type(data) is np.ndarray else np.asarray(data), names)

    def _bare(self) -> Any:
        return self._wrap(self._data, self._names)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to recreate this tensor, with its coordinates."""
        return attach, (self._bare(), self._coordinates)

    def rename(self, /, *names: object, **rename_map: str | None) -> Self:
        """Return a view with other names, as `NamedTensor.rename`; coordinates follow their dims."""
        new = self._bare().rename(*names, **rename_map)
        return attach(new, renamed(self._coordinates, self._names, new._names))  # type: ignore[no-any-return]

    def rename_(self, /, *names: object, **rename_map: str | None) -> Self:
        """Change the names of this tensor as `rename` does, and return it."""
        self.names = self._bare().rename_(*names, **rename_map).names
        return self

    @property
    def names(self) -> Names:
        """The names of the dims, which may be set; coordinates follow their dims."""
        return self._names

    @names.setter
    def names(self, names: object) -> None:
        old = self._names
        Core.names.fset(self, names)  # type: ignore[attr-defined]
        moved = renamed(self._coordinates, old, self._names)
        self._own = fitting(moved, self._names, self.shape)

    def drop_coords(self, *names: str) -> Core:
        """Return the tensor without the coordinates of these names, or without any."""
        gone = set(names) or {each.name for each in self._coordinates}
        return attach(self, [each for each in self._coordinates if each.name not in gone])  # type: ignore[no-any-return]

    def _quick(self, key: Any) -> None:
        return None

    def _part_at(self, key: Any, call: Any = None) -> Self:
        part = super()._part_at(key, call)  # type: ignore[misc]
        items = map(understood, key if isinstance(key, tuple) else (key,))
        masks = [item for item in items if isinstance(item, Core) and item.dtype == np.bool_]
        agreed([filter(is_label, own(each)) for each in (self, *masks)], "x[...]")
        coordinates, axis = list(self._coordinates), 0
        for place, item in zip(*self._key(key, call), strict=True):  # type: ignore[attr-defined]
            name = self._names[axis] if item.takes else None
            is_along = item.kind in ("slice", "int") or (item.takes == 1 and place.ndim == 1)
            if name is not None and is_along:
                coordinates = taken(coordinates, name, place)
            elif item.takes:
                coordinates = without(coordinates, self._names[axis : axis + item.takes])
            axis += item.takes
        return attach(part, coordinates)  # type: ignore[no-any-return]

    def __setitem__(self, key: Any, value: Any) -> None:
        value = understood(value)
        if own(value):
            agreed([filter(is_label, own(each)) for each in (self[key], value)], "x[...] = value")  # type: ignore[index]
        super().__setitem__(key, value)  # type: ignore[misc]

    def _unify(self, verb: str, left: Any, right: Any, out: Core | None = None) -> Self:
        coordinates = of_all((left, right), verb)
        result = super()._unify(verb, left, right, out)  # type: ignore[misc]
        return carried(result, (left, right, out), coordinates)  # type: ignore[no-any-return]

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Return the result of a NumPy function; coordinates survive if elements keep their positions."""
        args = tuple([_members(arg) if isinstance(arg, list | tuple) else understood(arg) for arg in args])
        coordinates = of_function(func, args, kwargs)
        agreed([coordinates, own(kwargs.get("out"))], func.__name__)
        result = super().__array_function__(func, types, args, kwargs)  # type: ignore[misc]
        return carried(result, (*args, *kwargs.values()), coordinates)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, /, *inputs: Any, **kwargs: Any) -> Any:
        """Return the result of a NumPy ufunc, with coordinates."""
        inputs = tuple(map(understood, inputs))
        name, outs = ufunc.__name__, kwargs.get("out", ())
        if ufunc.signature is None and method != "reduceat":
            coordinates = of_all((*inputs, kwargs.get("where")), name)
        else:
            is_product = name == "matmul" and method == "__call__" and "axes" not in kwargs
            coordinates = of_product(name, inputs, {}) if is_product else []
        agreed([coordinates, *map(own, outs)], name)
        result = super().__array_ufunc__(ufunc, method, *inputs, **kwargs)  # type: ignore[misc]
        return carried(result, (*inputs, *outs), coordinates)


_SELECTING = frozenset({"flip", "roll", "index_select", "narrow", "split", "chunk"})
"""Methods that move or select whole slices along dims."""


def understood(operand: Any) -> Any:
    """Return an array of another library as a tensor with its coordinates, and any other object unchanged."""
    is_usual = (
        type(operand) is np.ndarray or isinstance(operand, Core | list | tuple) or library_of(type(operand))
    )
    found = None if is_usual else foreign(operand)
    if found is None:
        return operand
    return attach(wrap(found.array, found.names), found.coordinates(found.names))


def _members(listed: Any) -> Any:
    """Return a list with arrays of other libraries as tensors; other lists and objects unchanged."""
    return list(map(understood, listed)) if any(isinstance(each, Core) for each in listed) else listed


def _carrying(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of `NamedTensor` for tensors with coordinates."""

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        return with_coordinates(name, method, args, kwargs)

    return call


def with_coordinates(
    name: str, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Return the result of a method with the coordinates of its tensor and of all other operands (NE580).

    Those of a tensor that is written over are also compared, and kept.
    """
    args = tuple(map(understood, args))
    kwargs = {word: understood(value) for word, value in kwargs.items()}
    operands = (*args, *kwargs.values())
    coordinates = of_call(name, args, kwargs)
    agreed([coordinates, own(kwargs.get("out"))], name)
    result = method(*args, **kwargs)
    return carried(result, operands, coordinates)


def _selecting(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that selects slices: applied to positions, it shows which."""

    @wraps(method)
    def call(self: Labelled, *args: Any, **kwargs: Any) -> Any:
        result = method(self, *args, **kwargs)
        parts = [result] if isinstance(result, Core) else list(result)
        chosen = [list(self._coordinates) for _ in parts]
        for axis, dim in enumerate(self._names):
            if dim is not None and any(dim in each.dims for each in self._coordinates):
                moved = method(_positions(self, axis), *args, **kwargs)
                for at, part in enumerate([moved] if isinstance(moved, Core) else moved):
                    chosen[at] = _at_positions(chosen[at], dim, part, axis)
        parts = [attach(part, own) for part, own in zip(parts, chosen, strict=True)]
        return parts[0] if isinstance(result, Core) else type(result)(parts)

    return call


def _positions(tensor: Core, axis: int) -> Core:
    """Return the positions along an axis, in the shape of a tensor, without allocating memory."""
    shape = tensor._data.shape
    numbers = np.arange(shape[axis]).reshape([-1 if at == axis else 1 for at in range(len(shape))])
    return wrap(np.broadcast_to(numbers, shape), tensor._names)  # type: ignore[no-any-return]


def _at_positions(coordinates: list[Coordinate], dim: str, part: Core, axis: int) -> list[Coordinate]:
    if not part._data.size:
        return without(coordinates, [dim])
    line = tuple(slice(None) if at == axis else 0 for at in range(part._data.ndim))
    return taken(coordinates, dim, part._data[line])


@cache
def _labelled_class(base: type[Core]) -> Any:
    """Return the class of tensors with coordinates: `Labelled`, and another class with `carried`."""
    own = {*vars(Labelled), "__getitem__", "__iter__", "isel", "__dir__"}
    compared = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
    methods: dict[str, Any] = {"__slots__": (), "_plain": base}
    for name in set(dir(base)) - own - (set(vars(object)) - compared):
        method = next(vars(each)[name] for each in base.__mro__ if name in vars(each))
        if isinstance(method, property) and name in ("T", "mT", "by_name", "by_position"):
            methods[name] = property(_carrying(name, method.fget))  # type: ignore[arg-type]
        elif isinstance(method, FunctionType) and (not name.startswith("_") or name.startswith("__")):
            methods[name] = (_selecting if name in _SELECTING else _carrying)(name, method)
    return type("LabelledTensor", (Labelled, base), methods)
