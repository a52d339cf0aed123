"""A call of one of NumPy's functions, as the rules for names handle it.

An entry of the table (`implements`) is a small function that takes a `FunctionCall`: it gets the operands as
parts, converts names in `axis=` to positions, computes the names by a rule, and calls `result` to apply
NumPy's function to the bare arrays. Parameters are identified by their names, regardless of how they were
passed.

>>> call = FunctionCall(np.cumsum, (ne.tensor([[1, 2]], names="N C"), "C"), {})
>>> x = call.operand("a")
>>> call.axis(x)
1
>>> call.result(x.names)
tensor([[1, 3]], names=('N', 'C'), shape=(1, 2))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from inspect import Parameter, signature
from typing import Any

import numpy as np

from nameexpr.dims import Names
from nameexpr.rules.calls import axes, position
from nameexpr.tensors.core import Core
from nameexpr.tensors.protocols.operands import (
    Part,
    checked_target,
    named,
    nameless,
    part,
    refused,
    unified_names,
)
from nameexpr.tensors.writing import store

Function = Callable[..., Any]

FAULTS = (TypeError, ValueError, IndexError, AttributeError, OverflowError, ZeroDivisionError, MemoryError)
"""The exceptions of NumPy's functions if arguments do not fit; ours are ValueErrors, and are passed on."""


class FunctionCall:
    """One call: the function, and its arguments by the names of its parameters."""

    __slots__ = ("_args", "_kwargs", "_names", "func", "parameters", "verb")

    def __init__(self, func: Function, args: Iterable[Any], kwargs: Mapping[str, Any]) -> None:
        self.func, self.verb = func, spelt(func)
        self._names, self.parameters = parameters_of(func)
        self._args, self._kwargs = list(args), dict(kwargs)

    def __getitem__(self, parameter: str) -> Any:
        """Return an argument, or the default of the parameter if it is not given."""
        if parameter in self._kwargs:
            value = self._kwargs[parameter]
        elif parameter in self._names[: len(self._args)]:
            value = self._args[self._names.index(parameter)]
        else:
            value = self.parameters.get(parameter)
        return None if value is np._NoValue else value

    def __setitem__(self, parameter: str, value: Any) -> None:
        """Replace an argument, or add one."""
        if parameter in self._names[: len(self._args)]:
            self._args[self._names.index(parameter)] = value
        else:
            self._kwargs[parameter] = value

    def operand(self, parameter: str = "") -> Part:
        """Return an operand, by default the first argument, and replace it by its array."""
        name = parameter or self._names[0]
        operand = part(self[name], name, self.verb)
        self[name] = operand.data
        return operand

    def operands(self, *parameters: str) -> list[Part]:
        """Return the given operands, without numbers and flags."""
        return [self.operand(name) for name in parameters if self[name] is not None]

    def members(self) -> list[Part]:
        """Return the tensors that the first argument lists, and replace them by their arrays."""
        first = self._names[0]
        listed = [part(member, f"tensor {index}", self.verb) for index, member in enumerate(self[first])]
        self[first] = [member.data for member in listed]
        return listed

    def arguments(self) -> list[Part]:
        """Return all arguments that are given by position, for a function that takes any number."""
        listed = [part(argument, f"operand {index}", self.verb) for index, argument in enumerate(self._args)]
        self._args = [argument.data for argument in listed]
        return listed

    def together(self, x: Part, *parameters: str) -> Part:
        """Return x with its names unified with those of other operands, which are broadcast to it."""
        others = [other for other in self.operands(*parameters) if other.names]
        names = unified_names((x, *others), self.verb)
        if len(names) != len(x.names):
            raise nameless(self.verb, f"{others[-1].role} has more dims than {x.role}")
        return x._replace(names=names)

    def axes(self, x: Part) -> tuple[int, ...]:
        """Return the positions for `axis=`, all of them for None; they replace the argument."""
        wanted = self["axis"]
        if wanted is None:
            return tuple(range(len(x.names)))
        positions = axes(x.dims, wanted, self.verb)
        if x.names:
            self["axis"] = positions[0] if len(positions) == 1 else positions
        elif not isinstance(wanted, int):
            self["axis"] = None  # NumPy does not accept a list of dims for a 0-d array
        return positions

    def axis(self, x: Part) -> int:
        """Return the position for `axis=`; None, for which NumPy flattens, requires a single dim."""
        if self["axis"] is None:
            if len(x.names) != 1:
                raise nameless(self.verb, "without axis= it flattens: give one, by name or position")
            return 0
        self["axis"] = at = position(x.dims, self["axis"], self.verb)
        return at

    def bare(self) -> Any:
        """Return the result of the function for bare arrays (NE658 for a tensor that no rule has handled)."""
        for value in (*self._args, *self._kwargs.values()):
            if isinstance(value, Core) and value._data.ndim:
                raise nameless(f"{self.verb}, given a tensor where it takes an option,")
        return self.answer()

    def result(self, names: Names) -> Any:
        """Return the result for bare arrays as a tensor with these names, written into `out=` if given."""
        out = self["out"]
        if out is None:
            return named(Core._tensor_class, self.bare(), names, self.verb)
        target = checked_target(out, names, self.verb)
        # Many NumPy functions write their out= in several steps, and can be interrupted between them.
        self["out"] = data = target._data.copy()
        self.bare()
        store(target, data, names, self.verb)
        return target

    def results(self, *names: Names) -> Any:
        """Return several results, a list or a tuple as in NumPy, with the names of each or of all."""
        values = self.bare()
        each = zip(values, names if len(names) > 1 else names * len(values), strict=True)
        tensors = (named(Core._tensor_class, value, own, self.verb) for value, own in each)
        return list(tensors) if isinstance(values, list) else tuple(tensors)

    def answer(self) -> Any:
        """Return the result of the function for bare arrays in place of tensors (NE661 if NumPy rejects
        them).
        """
        args = [value._data if isinstance(value, Core) else value for value in self._args]
        pairs = self._kwargs.items()
        kwargs = {name: value._data if isinstance(value, Core) else value for name, value in pairs}
        try:
            return self.func(*args, **kwargs)
        except FAULTS as fault:
            raise refused(self.verb, fault) from fault


Entry = Callable[[FunctionCall], Any]
TABLE: dict[Function, Entry] = {}
"""Every NumPy function that supports names, with its rule."""


def implements(functions: str) -> Callable[[Entry], Entry]:
    """Return the decorator that adds a rule for NumPy functions: "sum prod linalg.norm".

    Functions that the installed NumPy does not have are skipped.
    """

    def enter(entry: Entry) -> Entry:
        for words in functions.split():
            function: Any = np
            for word in words.split("."):
                function = getattr(function, word, None)
            if function is not None:
                TABLE[function] = entry
        return entry

    return enter


def spelt(func: Function) -> str:
    """Return how a user writes a function: "np.linalg.norm"."""
    module = getattr(func, "__module__", None) or "numpy"
    return f"{module}.{getattr(func, '__name__', func)}".replace("numpy.", "np.", 1)


@lru_cache(maxsize=512)
def parameters_of(func: Function) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """Return the names of the parameters that may be passed by position, and the defaults of all by name."""
    try:
        parameters = signature(func).parameters.values()
    except (TypeError, ValueError):  # functions written in C, before NumPy 2.4
        defaults = _WRITTEN_IN_C.get(func.__name__, {})
        return tuple(defaults), defaults
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    names = tuple(parameter.name for parameter in parameters if parameter.kind in positional)
    defaults = {parameter.name: parameter.default for parameter in parameters}
    return names, {name: None if value is Parameter.empty else value for name, value in defaults.items()}


_WRITTEN_IN_C: dict[str, dict[str, Any]] = {
    "concatenate": {"arrays": None, "axis": 0, "out": None},
    "dot": {"a": None, "b": None, "out": None},
    "empty_like": {"prototype": None, "dtype": None, "order": "K", "subok": True, "shape": None},
    "inner": {"a": None, "b": None},
    "vdot": {"a": None, "b": None},
    "where": {"condition": None, "x": None, "y": None},
}
