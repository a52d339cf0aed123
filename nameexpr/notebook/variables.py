"""The variables of a notebook as operands, by name.

What a text names may be anything that holds numbers. What is looked for by its dims, or listed in a hint, are
the arrays that the user made: neither IPython's own variables nor numbers that count a loop.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

import numpy as np

from nameexpr.session.faults import LineError
from nameexpr.session.values import is_tensor_like
from nameexpr.tensors import NamedTensor


class Variables(Mapping[str, Any]):
    """The operands among some variables.

    Parameters
    ----------
    variables : mapping of str to object
        All of them.
    hidden : container of str
        Names that are not the user's own.

    Examples
    --------
    >>> variables = Variables({"x": np.ones(2), "n": 3, "np": np}, hidden=())
    >>> list(variables), "n" in variables, "y" in variables
    (['x'], True, False)
    """

    def __init__(self, variables: Mapping[str, Any], hidden: Container[str]) -> None:
        self._variables = variables
        self._hidden = hidden

    def __getitem__(self, name: str) -> Any:
        """Return an operand.

        Raises
        ------
        KeyError
            If there is no such variable.
        LineError
            If it holds no numbers.
        """
        value = self._variables[name]
        if not is_operand(value):
            hint = "operands are tensors, arrays, numbers and lists of numbers"
            raise LineError(f"the variable '{name}' is no tensor, but a {type(value).__name__}", hint=hint)
        return value

    def __iter__(self) -> Iterator[str]:
        """Return the names of the user's arrays, in the order in which they were made."""
        return (name for name, value in list(self._variables.items()) if self._is_offered(name, value))

    def __len__(self) -> int:
        """Return how many arrays the user has."""
        return sum(1 for _ in self)

    def _is_offered(self, name: str, value: object) -> bool:
        is_own = name == "_" or name not in self._hidden
        return is_own and isinstance(value, NamedTensor | np.ndarray)


def is_operand(value: object) -> bool:
    """Return whether a value holds numbers: a tensor, an array of any library, a number, or a list.

    Examples
    --------
    >>> is_operand([1, 2]), is_operand(2.5), is_operand("text"), is_operand(np.float64)
    (True, True, False, False)
    """
    if isinstance(value, type):
        return False
    return is_tensor_like(value) or isinstance(value, list | tuple) or hasattr(value, "__array__")
