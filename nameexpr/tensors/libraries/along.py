"""What is computed along dims, by the functions of a library: order statistics, scans, softmax, quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, Unpack

from nameexpr.errors import Diagnostic, did_you_mean, error
from nameexpr.rules.calls import shown
from nameexpr.tensors.along import AlongDim
from nameexpr.tensors.core import Array, Core, OneDim
from nameexpr.tensors.faults import wrong_kind
from nameexpr.tensors.libraries.operators import LibraryOperators, kept_names
from nameexpr.tensors.ops import checked
from nameexpr.tensors.ordering import Selected
from nameexpr.tensors.reductions import ALL
from nameexpr.tensors.without_nan import WithoutNan

if TYPE_CHECKING:
    from nameexpr.tensors.keywords import Axis


class LibraryAlong(LibraryOperators, AlongDim, WithoutNan):
    """The methods of `AlongDim`, `Ordering` and `WithoutNan` that touch elements."""

    __slots__ = ()

    def _middle(self, verb: str, dim: Any, keepdim: bool) -> Any:
        if dim is not ALL:
            return self._select(verb, dim, keepdim)
        self._check_ordered(verb)
        if self._kernels.kind_of(self._data.dtype) != "f":
            self._check_not_empty(verb, ALL)
        return self._ran(verb, lambda: self._named(self._kernels.OF_ALL[verb](self._data), ()))

    def _ran(self, verb: str, compute: Any) -> Any:
        """Return the result of a computation; an exception of the library becomes ours."""
        try:
            return compute()
        except Exception as fault:
            raise self._refusal(fault, verb, (self,)) from fault

    def _extreme(self, verb: str, dim: Any, keepdim: bool) -> Any:
        if isinstance(dim, Core | self._kernels.Array):
            return getattr(self, f"{verb}imum")(dim)
        return super()._extreme(verb, dim, keepdim)

    def _select(self, verb: str, dim: Any, keepdim: bool, *options: Any) -> Selected[Self]:
        data, at = self._along(dim, verb)
        self._check_ordered(verb)
        if 0 in data.shape:
            self._check_not_empty(verb, dim)
        try:
            values, indices = self._needed("ALONG", verb)(data, at, *options)
        except Exception as fault:
            raise self._refusal(fault, verb, (self,)) from fault
        names = self._names
        if not keepdim:
            names = kept_names(names, (at,))
        elif self._data.ndim:
            shape = tuple(1 if axis == at else size for axis, size in enumerate(data.shape))
            values, indices = values.reshape(shape), indices.reshape(shape)
        return Selected(self._named(values, names), self._named(indices, names))

    def _where_extreme(self, verb: str, dim: Any, keepdim: bool) -> Self:
        places = self._kernels.PLACES[verb]
        if dim is None:
            self._check_choice(verb, ALL)
            found = self._ran(verb, lambda: places(self._data.reshape(-1), 0))
            kept = keepdim and self._data.ndim
            return (
                self._named(found.reshape((1,) * self._data.ndim), self._names)
                if kept
                else self._named(found, ())
            )
        data, at = self._along(dim, verb)
        self._check_ordered(verb)
        if 0 in data.shape:
            self._check_not_empty(verb, dim)
        found = self._ran(verb, lambda: places(data, at))
        if not keepdim:
            return self._named(found, kept_names(self._names, (at,)))
        shape = [1 if axis == at else size for axis, size in enumerate(self._data.shape)]
        return self._named(found.reshape(shape), self._names)

    @checked
    def topk(
        self, k: int, dim: OneDim = -1, largest: bool = True, sorted: bool = True, **others: Unpack[Axis]
    ) -> Selected[Self]:
        """Return the k largest (or smallest) elements along a dim, the best first, and their positions."""
        data, at = self._along(dim, "topk")
        self._check_count(k, at, "topk", least=0)
        self._check_ordered("topk")
        both = self._ran("topk", lambda: self._kernels.topk(data, k, at, largest, sorted))
        return self._kept(both)

    def _kept(self, both: Any) -> Selected[Self]:
        """Return values and indices with the names of this tensor; of a 0-d one, without the dim."""
        if not self._data.ndim:
            both = [each.reshape(()) for each in both]
        return Selected(*[self._named(each, self._names) for each in both])

    @checked
    def sort(
        self, dim: OneDim = -1, descending: bool = False, *, stable: bool = False, **others: Unpack[Axis]
    ) -> Selected[Self]:
        """Return the elements in order along a dim, and the index of each; nan counts as largest."""
        self._check_ordered("sort")
        data, at = self._along(dim, "sort")
        return self._kept(self._ran("sort", lambda: self._kernels.sort(data, at, descending, stable)))

    @checked
    def argsort(
        self, dim: OneDim = -1, descending: bool = False, *, stable: bool = False, **others: Unpack[Axis]
    ) -> Self:
        """Return the indices that sort the elements along a dim; equal ones keep their order if `stable`."""
        self._check_ordered("argsort")
        data, at = self._along(dim, "argsort")
        return self._kept(
            self._ran("argsort", lambda: self._kernels.sort(data, at, descending, stable))
        ).indices

    def _scan(self, verb: str, dim: Any, dtype: Any, out: Core | None) -> Self:
        wanted = self._as_dtype(dtype)
        data, at = self._along(dim, verb)
        result = self._ran(verb, lambda: self._kernels.SCANS[verb](data, at, dtype=wanted))
        return self._put(result if self._names else result.reshape(()), self._names, verb, out)

    def _differences(self, times: int, at: int) -> Array:
        return self._ran("diff", lambda: self._kernels.diff(self._data, times, at))  # type: ignore[no-any-return]

    def _cumulative(self, verb: str, dim: Any) -> Selected[Self]:
        data, at = self._along(dim, verb)
        self._check_ordered(verb)
        return self._kept(self._ran(verb, lambda: self._kernels.ALONG[verb](data, at)))

    def _normalised(self, verb: str, dim: Any, dtype: Any) -> Self:
        data, at = self._along(dim, verb)
        wanted = self._as_dtype(dtype)
        try:
            result = self._kernels.NORMALISED[verb](data, at, dtype=wanted)
        except Exception as fault:
            raise self._refusal(fault, verb, (self,)) from fault
        return self._named(result if self._names else result.reshape(()), self._names)

    def _flipped(self, axes: tuple[int, ...]) -> Array:
        return self._kernels.flip(self._data, axes)  # type: ignore[no-any-return]

    def _rolled(self, counts: tuple[int, ...], axes: tuple[int, ...] | None) -> Array:
        return self._kernels.roll(self._data, counts, axes)  # type: ignore[no-any-return]

    def _part(self, at: int, where: int | slice, *, keep: bool = True) -> Self:
        if isinstance(where, slice):
            start, stop, _ = where.indices(self._data.shape[at])
            return self._named(self._kernels.narrow(self._data, at, start, max(start, stop)), self._names)
        names = (*self._names[:at], *self._names[at + 1 :])
        return self._named(self._kernels.select(self._data, at, where), names)

    def _check_method(self, verb: str, method: Any) -> None:
        methods: Sequence[str] = self._kernels.QUANTILES
        if method not in methods:
            hint = did_you_mean(str(method), methods) or f"it is one of {', '.join(methods)}"
            message = f"{verb}: {self._kernels.NAME} has no method {shown(method)}"
            raise error(Diagnostic("NE672", message, hint=hint))

    def _quantiles(self, verb: str, **options: Any) -> Any:
        return self._ran(verb, lambda: self._kernels.quantile(self._data, **options))

    def _levels(self, q: Any, verb: str) -> Core:
        """Return the requested quantiles as a tensor (NE677)."""
        if isinstance(q, int | float | list | tuple):
            q = self._ran(verb, lambda: self._kernels.levels(q, self._data))
        levels: Core = self._as_core(q, verb)
        numbers = levels._data
        is_real = self._kernels.kind_of(numbers.dtype) in "iuf"
        if not is_real or (self._kernels.has_values(numbers) and not ((numbers >= 0) & (numbers <= 1)).all()):
            raise wrong_kind(verb, "q", "a number from 0 to 1, or a list of them", q)
        return levels
