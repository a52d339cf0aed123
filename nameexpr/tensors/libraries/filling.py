"""Writing over a tensor, and random numbers, by the functions of a library."""

from __future__ import annotations

from typing import Any, Self

from nameexpr.dims import Names
from nameexpr.errors import Diagnostic, error
from nameexpr.tensors.core import Array
from nameexpr.tensors.faults import undefined
from nameexpr.tensors.fills import Fills, out_of_range
from nameexpr.tensors.libraries.selecting import LibrarySelecting


class LibraryFills(LibrarySelecting, Fills):
    """The methods of `Fills` that touch elements. Random numbers are those of the library."""

    __slots__ = ()

    def _write_over(self, values: Array, verb: str) -> Self:
        self._copied_over(values, verb)
        return self

    def _copied_over(self, values: Array, verb: str) -> None:
        self._check_writes(verb)
        try:
            self._kernels.copy_into(self._data, values)
        except Exception as fault:
            raise self._refusal(fault, verb, (self,)) from fault

    def _copy_from(self, values: Array, names: Names) -> None:
        kernels = self._kernels
        if kernels.kind_of(values.dtype) == "c" != kernels.kind_of(self._data.dtype):
            message = f"copy_: a complex value cannot be written into a tensor of {self.dtype}"
            raise error(Diagnostic("NE570", message, hint="convert the tensor first: x.to('complex128')"))
        self._copied_over(values, "copy_")
        self._names = names

    def _check_floats(self, verb: str) -> None:
        if self._kernels.kind_of(self._data.dtype) != "f":
            raise undefined(verb, (self,))

    def _draws(self, verb: str, *parameters: Any) -> Any:
        """Return the result of the library's function for random numbers."""
        try:
            return self._needed("DRAWS", verb)(self._data, *parameters)
        except Exception as fault:
            raise self._refusal(fault, verb, (self,)) from fault

    def _tossed(self, p: Any, generator: Any, verb: str) -> Array:
        chances = self._chances(p, verb)
        kind = self._kernels.kind_of(chances.dtype)
        if kind not in "iubf":
            message = f"{verb}: probabilities are real numbers, not {chances.dtype}"
            raise error(Diagnostic("NE571", message, hint=f"{verb}(0.5) takes one for all elements"))
        if self._kernels.has_values(chances) and not ((chances >= 0) & (chances <= 1)).all():
            raise out_of_range(verb, "a probability is outside the range", "within 0 to 1")
        return self._draws("bernoulli", chances, generator)  # type: ignore[no-any-return]

    def _drawn(self, verb: str, parameters: tuple[float, ...], generator: Any) -> Self:
        self._check_writes(verb)
        self._check_floats(verb)
        self._draws(verb, *parameters, generator)
        return self

    def _integers(self, low: int, high: int, generator: Any) -> Self:
        self._check_writes("random_")
        self._draws("random_", low, high, generator)
        return self

    def _range(self) -> tuple[int, int, int]:
        self._check_writes("random_")
        found = self._kernels.range_of(self._data.dtype)
        if found is None:
            raise undefined("random_", (self,))
        return found  # type: ignore[no-any-return]
