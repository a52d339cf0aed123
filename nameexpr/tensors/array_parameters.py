"""What a function of NumPy is called, and what its parameters are: read once for each function.

>>> import numpy as np
>>> spelt(np.linalg.norm), parameters_of(np.cumsum)
('np.linalg.norm', (('a', 'axis', 'dtype', 'out'), {'a': None, 'axis': None, 'dtype': None, 'out': None}))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from inspect import Parameter, signature
from typing import Any

Function = Callable[..., Any]


def spelt(func: Function) -> str:
    """Return how a user writes a function: "np.linalg.norm"."""
    module = getattr(func, "__module__", None) or "numpy"
    return f"{module}.{getattr(func, '__name__', func)}".replace("numpy.", "np.", 1)


@lru_cache(maxsize=512)
def parameters_of(func: Function) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """Return the names of the parameters that may be given by position, and the defaults of all by name."""
    try:
        parameters = signature(func).parameters.values()
    except (TypeError, ValueError):  # functions written in C, before NumPy 2.4
        defaults = _WRITTEN_IN_C.get(func.__name__, {})
        return tuple(defaults), defaults
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    names = tuple(one.name for one in parameters if one.kind in positional)
    defaults = {one.name: one.default for one in parameters}
    return names, {name: None if value is Parameter.empty else value for name, value in defaults.items()}


_WRITTEN_IN_C: dict[str, dict[str, Any]] = {
    "concatenate": {"arrays": None, "axis": 0, "out": None},
    "dot": {"a": None, "b": None, "out": None},
    "empty_like": {"prototype": None, "dtype": None, "order": "K", "subok": True, "shape": None},
    "inner": {"a": None, "b": None},
    "vdot": {"a": None, "b": None},
    "where": {"condition": None, "x": None, "y": None},
}
