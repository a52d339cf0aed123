"""New tensors of a library other than NumPy: around its arrays, or by its own factories."""

from __future__ import annotations

import sys
from typing import Any

from nameexpr.dims import Dims, dims_of, names_of, shape_of
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.rules.calls import shown
from nameexpr.rules.targets import checked_names
from nameexpr.tensors.arguments import check_kept
from nameexpr.tensors.by_option import LOADED
from nameexpr.tensors.core import Core
from nameexpr.tensors.factories import checked_dims
from nameexpr.tensors.libraries.classes import class_for
from nameexpr.tensors.named_tensor import NamedTensor


def made(library: str, data: Any, names: object, dtype: object, device: Any = None) -> NamedTensor:
    """Return an array of a library as a tensor that shares its memory; other data are copied."""
    kind = class_for(library)
    kernels, old = kind._kernels, data._names if isinstance(data, Core) else None
    array = data._data if isinstance(data, Core) else data
    own = kind._wrap(array, old or ())
    if isinstance(array, kernels.Array):
        array, own_names = kernels.strided(array)
        old = own_names if old is None else old
    wanted = own._as_dtype(dtype)
    try:
        array = kernels.new_array(array, wanted, device)
    except Exception as fault:
        raise _no_array(kernels, data, fault) from fault
    unnamed = (None,) * array.ndim
    if names is None:
        return kind._wrap(array, unnamed if old is None else old)
    new = checked_names(names, dims_of(unnamed if old is None else old, tuple(array.shape)))
    if old is not None and any(old):
        check_kept(kind._wrap(array, old), new, type(data).__name__, has_all=True)
    return kind._wrap(array, new)


def _no_array(kernels: Any, data: Any, fault: Exception) -> Exception:
    if isinstance(fault, NameExprError) or not isinstance(fault, kernels.REFUSED):
        return fault
    message = f"{shown(data)} cannot be converted to an array of {kernels.NAME}"
    return error(
        Diagnostic("NE653", message, hint="its elements must be numbers, and its lists of one length")
    )


def filled(
    library: str, verb: str, size: Any, names: object, values: tuple[Any, ...], options: Any, out: Any = None
) -> NamedTensor:
    """Return a new tensor of these sizes by a library's factory, with its options: dtype, device, others."""
    dims = checked_dims(verb, size, names)
    return created(library, verb, dims, (shape_of(dims), *values), options, out)


def created(
    library: str, verb: str, dims: Dims | None, arguments: tuple[Any, ...], options: Any, out: Any = None
) -> NamedTensor:
    """Return the result of a library's factory with the names of dims, or of none."""
    own: Any = class_for(library)._wrap(None, ())  # type: ignore[arg-type]
    given = {word: value for word, value in options.items() if value is not None}
    for word in given.keys() - own._kernels.OPTIONS:
        raise error(Diagnostic("NE681", f"{verb} does not support {word}={shown(given[word])}"))
    if "dtype" in given:
        given["dtype"] = own._as_dtype(given["dtype"])
    try:
        data, _ = own._kernels.strided(own._needed("FACTORIES", verb)(*map(_plain, arguments), **given))
    except Exception as fault:
        raise own._refusal(fault, verb, ()) from fault
    made = own._wrap(data, (None,) * data.ndim if dims is None else names_of(dims))
    if out is None:
        return made  # type: ignore[no-any-return]
    return made._write(out, made._data, made._names, verb)  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    return value._data if isinstance(value, Core) else value


LOADED.append(sys.modules[__name__])
