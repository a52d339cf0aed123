"""Texts on arrays of other libraries: the same stages as for NumPy, with the library's target and calls.

An entry for a library is a second entry of the same text. Functions that it makes have the guards of the
library, and return to the first entry when these fail, so that a text may be called with arrays of any
library in turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from nameexpr.backends.dispatch import array_within, library_of, number_type
from nameexpr.backends.library import Library
from nameexpr.compiler.analysis.infer import Typed
from nameexpr.compiler.analysis.operands import Operand, describe
from nameexpr.compiler.ir.dtypes import Dtypes, is_castable
from nameexpr.compiler.ir.target import Target
from nameexpr.errors import Diagnostic, error
from nameexpr.runtime.entry import Entry
from nameexpr.runtime.expression import ExpressionEntry
from nameexpr.runtime.formula import FormulaEntry
from nameexpr.runtime.operands import OperandSpec, array_of, names_of, repeats
from nameexpr.runtime.traced import OnTracingLibrary


def call(entry: Entry, given: Sequence[Any]) -> Any:
    """Run a text on operands, at least one of which is of a library other than NumPy (NE507 for several), or
    is recorded.
    """
    if any(hasattr(type(one), "_unrecorded") for one in given):
        return import_module("nameexpr.runtime.recorded").call(entry, given)
    every = entry.merge(given)
    name = library_of([array_within(value) for value in every], entry.text, titles(entry))
    if name == "dask":
        return import_module("nameexpr.runtime.dask.call").call(entry, every)
    return entry_for(entry, name, every).slow_call(*given)


def chunked_plan(entry: Entry, given: Sequence[Any]) -> Any:
    """Return the plan for operands, some of which are Dask arrays (NE507 for those of other libraries)."""
    every = entry.merge(given)
    library_of([array_within(value) for value in every], entry.text, titles(entry))
    return import_module("nameexpr.runtime.dask.call").plan(entry, every)


def prepared(entry: Entry, given: Sequence[Any]) -> tuple[Entry, tuple[OperandSpec, ...], tuple[int, ...]]:
    """Return the entry for the library of operands, their specifications, and which are the same array."""
    every = entry.merge(given)
    name = library_of([array_within(value) for value in every], entry.text, titles(entry))
    if name == "dask":
        message = "an outline is not supported for Dask arrays"
        raise error(Diagnostic("NE616", message, entry.text, hint="use plan, which shows chunks and tasks"))
    own = entry_for(entry, name, every)
    arrays = own.unwrap(every)
    return own, own.specs(arrays), () if entry.is_bound else repeats(list(map(array_of, arrays)))


def titles(entry: Entry) -> list[str]:
    """Return what errors call each operand."""
    if isinstance(entry, FormulaEntry):
        return [f"'{name}'" for name in entry.tree.uses]
    return [f"operand {number}" for number in range(len(entry.fixed) + len(entry.free))]


def entry_for(entry: Entry, name: str, operands: Sequence[Any]) -> Any:
    """Return the entry of the same text for a library."""
    library: Library = import_module(f"nameexpr.backends.{name}.library").library_for(operands)
    found = entry.others.get(library.name)
    if found is None:
        kind = LibraryFormula if isinstance(entry, FormulaEntry) else LibraryExpression
        found = entry.others[library.name] = kind(entry, library)
    return found


def check_has(library: Library, wanted: np.dtype[Any] | None, text: str) -> None:
    """Raise NE529 for a dtype that a library has only if it is asked to."""
    if wanted is not None and library.tracing is not None and library.dtype_name(wanted) != wanted.name:
        message = f"{library.name} computes in {library.dtype_name(wanted)} now, not in {wanted}"
        hint = 'let it have dtypes of 64 bits: jax.config.update("jax_enable_x64", True)'
        raise error(Diagnostic("NE529", message, text, hint=hint))


class LibraryExpression(ExpressionEntry, OnTracingLibrary):
    """An expression for the arrays of a library."""

    __slots__ = ("library", "origin")
    origin: ExpressionEntry

    def __init__(self, entry: Any, library: Library) -> None:
        self.library, self.origin = library, entry
        fixed = entry.fixed if entry.is_bound else None
        super().__init__(entry.text, entry.options, fixed, entry.tree)

    @property
    def target(self) -> Target:  # type: ignore[override]
        """The target of the library."""
        return self.library.target

    def labelled(self, operands: Sequence[Operand]) -> Typed:  # noqa: D102
        return self.origin.labelled(operands)

    def unwrap(self, operands: Sequence[Any]) -> list[Any]:
        """Return operands as arrays of the library; numbers become arrays without dims."""
        given, like = _of_library(self.library, operands)
        wanted = self.library.product_dtype(given) or "float64"
        return [
            one if number_type(one) is None else self._of_number(one, position, wanted, like)
            for position, one in enumerate(given)
        ]

    def _of_number(self, number: Any, position: int, dtype: str, like: Any) -> Any:
        """Return a number as an array of a dtype (NE504 if that cannot hold it)."""
        try:
            return self.library.from_number(number, dtype, like)
        except (OverflowError, RuntimeError, ValueError) as reason:
            message = f"operand {position}, the number {number!r:.40}, does not fit into {dtype}"
            hint = "pass it as an array of the dtype to compute in"
            raise error(Diagnostic("NE504", message, self.text, hint=hint)) from reason

    def _dtypes(self, typed: Typed, operands: Sequence[Operand], dtypes: tuple[Any, ...]) -> Dtypes:
        check_has(self.library, self.dtype, self.text)
        names = tuple([self.library.dtype_name(dtype) for dtype in dtypes])
        samples = [OperandSpec(one.shape, None, dtype) for one, dtype in zip(operands, dtypes, strict=False)]
        wanted = None if self.dtype is None else self.dtype.name
        for number, name in enumerate(names):
            if wanted is not None and not is_castable(name, wanted):
                message = f"dtype={wanted} cannot hold operand {number}, of dtype {name}, without loss"
                raise error(
                    Diagnostic("NE610", message, self.text, hint="if that is intended, convert it first")
                )
        product = wanted or self.library.product_dtype(samples)
        if product is None:
            raise self._not_combined(operands, dtypes, "multiplied")
        if typed.blocks is not None:
            return Dtypes(names, "", product)
        choose, drops = self.library.arithmetic.choose, bool(typed.dropped)
        try:
            return choose(names, product, typed.reducer, drops=drops, is_asked=wanted is not None)
        except TypeError as refused:
            raise self._not_combined(operands, dtypes, "combined") from refused

    def _not_combined(self, operands: Sequence[Operand], dtypes: Sequence[Any], how: str) -> Exception:
        """Return the error for dtypes that the library does not compute with."""
        listed = " and ".join(dict.fromkeys(str(dtype) for dtype in dtypes))
        message = f"{self.library.name} has no arithmetic for {listed}: the elements cannot be {how}"
        infos = describe(self.tree.inputs, operands)
        return error(Diagnostic("NE505", message, self.text, (), infos, "convert the operands first"))


class LibraryFormula(FormulaEntry, OnTracingLibrary):
    """A formula for the arrays of a library."""

    __slots__ = ("library", "origin")

    def __init__(self, entry: Any, library: Library) -> None:
        self.library, self.origin = library, entry
        fixed = entry.fixed if entry.is_bound else None
        super().__init__(entry.text, entry.options, fixed, entry.tree)

    @property
    def target(self) -> Target:  # type: ignore[override]
        """The target of the library."""
        return self.library.target

    @property
    def arithmetic(self) -> Any:  # type: ignore[override]
        """The promotion of the library."""
        return self.library.arithmetic

    def dtype_name(self, dtype: Any) -> str:
        """Return the name of a dtype of the library."""
        return self.library.dtype_name(dtype)

    def unwrap(self, operands: Sequence[Any]) -> list[Any]:
        """Return operands as arrays of the library; numbers are kept."""
        return _of_library(self.library, operands)[0]

    def _check_castable(self, specs: Mapping[str, OperandSpec], wanted: np.dtype[Any]) -> None:
        check_has(self.library, wanted, self.text)
        for name, spec in specs.items():
            if not isinstance(spec.dtype, type) and not is_castable(self.dtype_name(spec.dtype), wanted.name):
                message = f"dtype={wanted} cannot hold '{name}', of dtype {spec.dtype}, without loss"
                hint = "if that is intended, convert it first"
                raise error(Diagnostic("NE610", message, self.text, self._marks(name), hint=hint))


def _of_library(library: Library, operands: Sequence[Any]) -> tuple[list[Any], Any]:
    """Return operands as arrays of a library, tensors and numbers unchanged, and one of the library's own."""
    arrays = [array_of(one) for one in operands if number_type(one) is None]
    like = next(one for one in arrays if not isinstance(one, np.ndarray | np.generic))
    given = [
        one if number_type(one) is not None or names_of(one) is not None else library.as_array(one, like)
        for one in operands
    ]
    return given, like
