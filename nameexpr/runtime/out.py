"""`out=`: the result is written into the caller's array, after everything that can fail."""

from __future__ import annotations

from typing import Any

import numpy as np

from nameexpr.backends.dispatch import array_within, library_name
from nameexpr.compiler.ir.axes import Names
from nameexpr.errors import Diagnostic, error
from nameexpr.tensors import NamedTensor, wrap
from nameexpr.tensors.coordinates import agreed
from nameexpr.tensors.ops import RECORDED
from nameexpr.tensors.writing import store

UNWRITTEN = {
    "jax": "JAX, which are never written to",
    "array_api": "the array API standard, which need not be writable",
}
"""Libraries that `out=` is not supported for."""


def write_out(out: Any, result: Any, text: str) -> Any:
    """Copy the result into `out` and return `out`; of several results each into its own.

    Names follow PyTorch's rule for `out=`: an unnamed tensor takes the result's names, a named one must
    already have them.
    """
    if not isinstance(result, tuple):
        _check(out, result, text)
        return _write(out, result)
    if not isinstance(out, tuple | list) or len(out) != len(result):
        message = f"the text has {len(result)} results, and out= is not as many arrays"
        hint = f"give a tuple of {len(result)} arrays, one for each result"
        raise error(Diagnostic("NE611", message, text, hint=hint))
    for one, own in zip(out, result, strict=True):
        _check(one, own, text)
    # Results may be views of an operand, whose memory another one may be written to.
    copies = [_copied(own) for own in result]
    return tuple([_write(one, own) for one, own in zip(out, copies, strict=True)])


def _copied(result: Any) -> Any:
    if _is_writable_elsewhere(result):
        from nameexpr.runtime.out_on_library import library_for

        array = array_within(result)
        copy = library_for(array).copied(array)
        return copy if array is result else type(result)._wrap(copy, result.names)
    return wrap(result._data.copy(), result.names) if isinstance(result, NamedTensor) else result.copy()


def _check(out: Any, result: Any, text: str) -> None:
    """Raise an error if a result cannot be written into `out`."""
    data = out._data if isinstance(out, NamedTensor) else out
    if isinstance(out, NamedTensor) and out._kernels is RECORDED:
        RECORDED.check_out("the text")
    if isinstance(out, int):
        hint = f"for a label named out, give its size as sizes={{'out': {out}}}"
        raise error(Diagnostic("NE611", "out= is the array for the result, not a size", text, hint=hint))
    kinds: list[Any] = [type(data), type(array_within(result))]
    unwritten = [name for name in map(library_name, kinds) if name in UNWRITTEN]
    if unwritten:
        message = f"out= is not supported for arrays of {UNWRITTEN[unwritten[0]]}"
        raise error(Diagnostic("NE616", message, text, hint="use the result: y = ne.einsum(...)"))
    if any(map(_is_writable_elsewhere, (out, result))):
        from nameexpr.runtime.out_on_library import check

        check(out, result, text)
        _check_names(out, result, text)
        return
    if not isinstance(data, np.ndarray):
        hint = "give a NumPy array or a NamedTensor of the result's shape"
        raise error(Diagnostic("NE611", f"out= is a {type(out).__name__}, not an array", text, hint=hint))
    if isinstance(data, np.ma.MaskedArray):
        message = "out= is a masked array, whose mask would hide the result"
        raise error(Diagnostic("NE611", message, text, hint="give out.data, or an array without a mask"))
    if "dask" in map(library_name, kinds):
        message = "out= is not supported for Dask arrays, which are computed later"
        hint = "use the result, or write it with its store() or to_zarr()"
        raise error(Diagnostic("NE616", message, text, hint=hint))
    values = np.asarray(result._data if isinstance(result, NamedTensor) else result)
    if data.shape != values.shape:
        message = f"the result has shape {values.shape}, and out= has shape {data.shape}"
        raise error(Diagnostic("NE312", message, text, hint="give an array of the result's shape"))
    if not data.flags.writeable:
        raise error(Diagnostic("NE612", "out= is read-only", text, hint="pass a writable array"))
    if any(step == 0 and size > 1 for size, step in zip(data.shape, data.strides, strict=True)):
        message = "out= has elements that share memory, as np.broadcast_to makes"
        raise error(Diagnostic("NE612", message, text, hint="pass an array whose elements do not overlap"))
    if not np.can_cast(values.dtype, data.dtype, "same_kind"):
        message = f"the result is of dtype {values.dtype}, which out= of dtype {data.dtype} cannot hold"
        raise error(Diagnostic("NE613", message, text, hint="give an array of a dtype that holds the result"))
    _check_names(out, result, text)


def _is_writable_elsewhere(operand: Any) -> bool:
    kind: Any = type(array_within(operand))
    return library_name(kind) == "torch"


def _check_names(out: Any, result: Any, text: str) -> None:
    """Raise an error if a tensor has other names, or coordinates, than the result."""
    if not isinstance(out, NamedTensor):
        return
    names = _names_of(result)
    if out.names != names and any(name is not None for name in out.names):
        message = f"out= has the names {out.names}, and the result has {names}"
        hint = "out= must have no names, or exactly those of the result"
        raise error(Diagnostic("NE407", message, text, hint=hint))
    if out._coordinates and isinstance(result, NamedTensor):
        agreed([result._coordinates, out._coordinates], "out=")


def _names_of(result: Any) -> Names:
    return result.names if isinstance(result, NamedTensor) else (None,) * result.ndim


def _write(out: Any, result: Any) -> Any:
    if _is_writable_elsewhere(out):
        from nameexpr.runtime.out_on_library import write

        return write(out, result)
    values = np.asarray(result._data if isinstance(result, NamedTensor) else result)
    if not isinstance(out, NamedTensor):
        np.copyto(out, values, casting="same_kind")
        return out
    # A cast may warn, and a warning may be an error.
    store(out, values.astype(out._data.dtype, copy=False), _names_of(result), "out=")
    return out
