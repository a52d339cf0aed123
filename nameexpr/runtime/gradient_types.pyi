"""The types of gradients, and of the functions that return them, for type checkers alone.

A call returns gradients like its operands: arrays for arrays, NamedTensors for NamedTensors, arrays of
another library for its arrays. Where there are both arrays and NamedTensors, each gradient is like its own
operand, and of type Any: the mypy plugin knows the operands to differentiate by, and determines which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, Self, TypeAlias, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import TypeVar  # with defaults: type checkers bundle its stubs

from nameexpr.runtime.gradients import GradientFunction
from nameexpr.runtime.packed import Packed
from nameexpr.runtime.plan.plan import Plan
from nameexpr.tensors import NamedTensor
from nameexpr.typing import Array, ArrayLike, Foreign, Labelled, Operand

Wrt_co = TypeVar("Wrt_co", covariant=True, default=tuple[str, ...])
Text_co = TypeVar("Text_co", covariant=True, default=str)
Gradient = TypeVar("Gradient")
_Arrays: TypeAlias = npt.NDArray[Any]
_Foreign: TypeAlias = Foreign[Array] | np.ndarray[Any, Any] | np.generic | complex

class Gradients(dict[str, Gradient], Generic[Gradient, Wrt_co]):
    """A dict of gradients by the names of operands, which the plugin reads in its type."""

    def __getitem__(self, name: str, /) -> Gradient: ...

class OfText(GradientFunction, Generic[Wrt_co, Text_co]):
    """A function of gradients with its text, which the plugin reads in its type."""

    def plan(self, *, operands: Mapping[str, Operand] | None = None, **named: Operand) -> Plan: ...
    def packed(self, *, operands: Mapping[str, Operand] | None = None, **named: Operand) -> Packed: ...
    def bind(self, *, operands: Mapping[str, Operand] | None = None, **named: Operand) -> Self: ...

class OfGradients(OfText[Wrt_co, Text_co]):
    """What `grad` returns: a function of the operands that returns gradients."""

    @overload  # type: ignore[override]  # operands by position are refused
    def __call__(
        self, *, operands: Mapping[str, ArrayLike] | None = ..., **named: ArrayLike
    ) -> Gradients[_Arrays, Wrt_co]: ...
    @overload
    def __call__(
        self, *, operands: Mapping[str, Labelled] | None = ..., **named: Labelled
    ) -> Gradients[NamedTensor, Wrt_co]: ...
    @overload
    def __call__(
        self, *, operands: Mapping[str, ArrayLike | Labelled] | None = ..., **named: ArrayLike | Labelled
    ) -> Gradients[Any, Wrt_co]: ...
    @overload
    def __call__(
        self, *, operands: Mapping[str, _Foreign[Array]] | None = ..., **named: _Foreign[Array]
    ) -> Gradients[Array, Wrt_co]: ...
    @overload
    def __call__(
        self, *, operands: Mapping[str, Operand] | None = ..., **named: Operand
    ) -> Gradients[Any, Wrt_co]: ...

class OfValue(OfText[Wrt_co, Text_co]):
    """What `value_and_grad` returns: a function of the operands that returns the value and its gradients."""

    @overload  # type: ignore[override]
    def __call__(  # type: ignore[overload-overlap]
        self, *, operands: Mapping[str, ArrayLike] | None = ..., **named: ArrayLike
    ) -> tuple[_Arrays, Gradients[_Arrays, Wrt_co]]: ...
    @overload
    def __call__(
        self, *, operands: Mapping[str, Labelled] | None = ..., **named: Labelled
    ) -> tuple[NamedTensor, Gradients[NamedTensor, Wrt_co]]: ...
    @overload
    def __call__(
        self, *, operands: Mapping[str, ArrayLike | Labelled] | None = ..., **named: ArrayLike | Labelled
    ) -> tuple[NamedTensor, Gradients[Any, Wrt_co]]: ...
    @overload
    def __call__(
        self, *, operands: Mapping[str, _Foreign[Array]] | None = ..., **named: _Foreign[Array]
    ) -> tuple[Array, Gradients[Array, Wrt_co]]: ...
    @overload
    def __call__(
        self, *, operands: Mapping[str, Operand] | None = ..., **named: Operand
    ) -> tuple[Any, Gradients[Any, Wrt_co]]: ...
