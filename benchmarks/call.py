"""Adapters, which bind a workload to a call *before* the clock starts.

The call is a function with its arguments, so that the timed statement is the one a user writes and nothing
else.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.workloads.base import Operands

STRING, COMPILED, TUNED, EXPRESSION = "nameexpr", "nameexpr.compile", "nameexpr.tune", "ne.einsum"
XARRAY, NAIVE, NUMEXPR, DROP_IN = "xarray", "np.naive", "numexpr", "compat.numpy"


@dataclass(frozen=True)
class Call:
    """A function and its arguments; ``is_in_order`` promises a result in C order."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    is_in_order: bool = False

    def __call__(self) -> Any:
        return self.function(*self.args, **self.kwargs)


@dataclass(frozen=True)
class Adapter:
    """A column of the table: ``bind`` returns a call, or None if the workload has none.

    A slow one is a peer that runs only on request.
    """

    name: str
    module: str
    bind: Callable[[Any, Any, Operands], Call | None]
    groups: str
    is_slow: bool = False

    def load(self) -> Any:
        """Import the module; raises ImportError."""
        return importlib.import_module(self.module)
