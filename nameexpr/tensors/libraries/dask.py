"""NamedTensors around arrays of Dask: lazy, in chunks, and never written to.

>>> import dask.array as da
>>> x = ne.tensor(da.ones((4, 6), chunks=(2, 6)), names="time chan")
>>> x.sum("chan")
tensor(...,
       names=('time',), shape=(4,), dtype=float64, library='dask', chunksize=(2,))
>>> x.sum("chan").compute()
tensor([6., 6., 6., 6.], names=('time',), shape=(4,))
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, Self

import dask.array as da
import numpy as np

from nameexpr.backends.dask import tensors as kernels
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.rules.indexing import IndexItem
from nameexpr.tensors.core import Core
from nameexpr.tensors.faults import wrong_kind
from nameexpr.tensors.indexing import bad_item, mask_item
from nameexpr.tensors.libraries.immutable import ImmutableTensor
from nameexpr.tensors.named_tensor import NamedTensor
from nameexpr.tensors.ops import checked

_KNOWN = (list, tuple, np.ndarray, np.generic)


class DaskTensor(ImmutableTensor):
    """A NamedTensor whose elements are an array of Dask, still to be computed."""

    __slots__ = ()

    _kernels: ClassVar[Any] = kernels
    _unary: ClassVar[Any] = kernels.UNARY
    _binary: ClassVar[Any] = kernels.BINARY
    _reducers: ClassVar[Any] = kernels.REDUCTIONS
    _library: ClassVar[str] = "Dask"
    _with_memory: ClassVar[str] = "x.compute() is a tensor of NumPy"
    _with_gradients: ClassVar[str] = "arrays of PyTorch and JAX have gradients"

    @property
    def tensor(self) -> Any:
        """The array of Dask itself."""
        return self._data

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        """The sizes of the chunks along each dim."""
        return self._data.chunks  # type: ignore[no-any-return]

    @checked
    def compute(self, **options: Any) -> NamedTensor:
        """Return a tensor of NumPy with the elements, computed; options are those of `dask.compute`."""
        found = self._tried("compute", options)
        return NamedTensor._wrap(np.asarray(found), self._names)

    @checked
    def persist(self, **options: Any) -> Self:
        """Return a tensor whose chunks are computed and kept in memory, or in that of the cluster."""
        return self._wrap(self._tried("persist", options), self._names)

    def _tried(self, verb: str, options: dict[str, Any]) -> Any:
        try:
            return getattr(self._data, verb)(**options)
        except Exception as fault:
            raise self._refusal(fault, verb, (self,)) from fault

    @checked
    def to_xarray(self) -> Any:
        """Return an `xarray.DataArray` in the same chunks, with the names as its dims (NE419, NE686)."""
        empty = NamedTensor._wrap(np.broadcast_to(np.zeros((), self._data.dtype), self.shape), self._names)
        return empty.to_xarray().copy(deep=False, data=self._data)

    def __dask_graph__(self) -> Any:
        """Return the tasks, for `dask.compute(x, y)`, which computes what tensors share once."""
        return self._data.__dask_graph__()

    def __dask_keys__(self) -> Any:
        """Return the keys of the chunks."""
        return self._data.__dask_keys__()

    def __dask_layers__(self) -> Any:
        """Return the layers of the graph."""
        return self._data.__dask_layers__()

    def __dask_tokenize__(self) -> Any:
        """Return what identifies the tensor."""
        return type(self).__name__, self._data.__dask_tokenize__(), self._names

    def __dask_postcompute__(self) -> Any:
        """Return how computed chunks become a tensor of NumPy."""
        return _finished, (NamedTensor, *self._data.__dask_postcompute__(), self._names)

    def __dask_postpersist__(self) -> Any:
        """Return how chunks that are kept in memory become a tensor."""
        return _rebuilt, (*self._data.__dask_postpersist__(), self._names)

    __dask_optimize__ = staticmethod(da.Array.__dask_optimize__)
    __dask_scheduler__ = staticmethod(da.Array.__dask_scheduler__)

    def _read(self, how: str, verb: str = "") -> Any:
        try:
            return getattr(self._kernels, how)(self._data)
        except NameExprError:
            raise
        except Exception as fault:
            raise self._refusal(fault, verb or how, (self,)) from fault

    def _places(self, index: Any, verb: str) -> Any:
        return np.asarray(index) if isinstance(index, _KNOWN) else super()._places(index, verb)

    def _array_item(self, item: Any) -> tuple[Any, IndexItem]:
        """Return an index: those in lists and arrays of NumPy are known, and are checked at once."""
        if not isinstance(item, _KNOWN) or (isinstance(item, list | tuple) and not item):
            return super()._array_item(item)
        array = np.asarray(item)
        if array.dtype == np.bool_ and array.ndim:
            return array, mask_item(array.ndim, int(np.count_nonzero(array)), None)
        if array.dtype.kind not in "iu":
            raise bad_item(item)
        if not array.ndim:
            return int(array), IndexItem("int", 1)
        return array, IndexItem("array", 1, (None,) * array.ndim, array.shape)

    def _levels(self, q: Any, verb: str) -> Core:
        if isinstance(q, (int, float, *_KNOWN)):
            numbers = np.asarray(q)
            if numbers.dtype.kind not in "iuf" or not ((numbers >= 0) & (numbers <= 1)).all():
                raise wrong_kind(verb, "q", "a number from 0 to 1, or a list of them", q)
        return super()._levels(q, verb)

    def __dlpack__(self, **options: Any) -> NoReturn:
        """Raise an error: there is no memory to share (NE689)."""
        message = "the DLPack protocol is not supported for arrays of Dask"
        raise error(Diagnostic("NE689", message, hint="x.compute() is a tensor of NumPy, which supports it"))


def _finished(chunks: Any, kind: Any, finish: Any, arguments: Any, names: Any) -> Any:
    return kind._wrap(np.asarray(finish(chunks, *arguments)), names)


def _rebuilt(graph: Any, rebuild: Any, arguments: Any, names: Any, **options: Any) -> Any:
    return DaskTensor._wrap(rebuild(graph, *arguments, **options), names)


CLASS = DaskTensor
