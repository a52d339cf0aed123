"""New tensors: filled with a number, evenly spaced, or like another one.

Sizes are passed as arguments or as one tuple or list; `names` as everywhere. Without a dtype the elements
have the default float dtype.

>>> zeros(2, 3, names="N C")
tensor([[0., 0., 0.],
        [0., 0., 0.]], names=('N', 'C'), shape=(2, 3))
"""

from __future__ import annotations

from math import isinf, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.backends.numpy.arrays import category, default_float
from nameexpr.dims import DIM_LIMIT, Dims, dims_of
from nameexpr.errors import Diagnostic, error
from nameexpr.rules.calls import ShownCall, fault, shown
from nameexpr.rules.targets import checked_names
from nameexpr.tensors.arguments import (
    as_dtype,
    checked_device,
    checked_real,
    checked_sizes,
    plain,
)
from nameexpr.tensors.by_option import (
    library_of_option,
    made_by_library,
    made_like,
    made_range,
)
from nameexpr.tensors.core import Array, Core
from nameexpr.tensors.faults import not_held, undefined
from nameexpr.tensors.named_tensor import NamedTensor, as_tensor, with_labels, wrap
from nameexpr.tensors.operators import is_foreign
from nameexpr.tensors.ops import RECORDED, exhausted, op
from nameexpr.tensors.torch_keywords import check_keywords, recorded
from nameexpr.tensors.writing import COMPLEX, check_real, write

if TYPE_CHECKING:
    from nameexpr.tensors.core import Dtype


@op("makes")
def zeros(
    *size: Any, names: object = None, dtype: Dtype = None, out: NamedTensor | None = None, **torch: Any
) -> NamedTensor:
    """Return a tensor of zeros.

    Raises
    ------
    SizeError
        NE384 if a size is negative, NE707 if there is not enough memory.
    DimNameError
        If a name is malformed or repeated, or there is not one per dim.

    Examples
    --------
    >>> zeros(3, names="N")
    tensor([0., 0., 0.], names=('N',), shape=(3,))
    """
    return _filled("zeros", size, names, dtype, out, torch, 0)


@op("makes")
def ones(
    *size: Any, names: object = None, dtype: Dtype = None, out: NamedTensor | None = None, **torch: Any
) -> NamedTensor:
    """Return a tensor of ones.

    >>> ones((2, 1), names=("N", None)).names
    ('N', None)
    """
    return _filled("ones", size, names, dtype, out, torch, 1)


@op("makes")
def empty(
    *size: Any, names: object = None, dtype: Dtype = None, out: NamedTensor | None = None, **torch: Any
) -> NamedTensor:
    """Return a tensor whose elements are not initialised.

    >>> empty(2, 3, names="N C").shape
    (2, 3)
    """
    return _filled("empty", size, names, dtype, out, torch, None)


@op("makes", extra=True)
def full(
    size: Any, fill_value: Any, names: object = None, *, dtype: Dtype = None, **torch: Any
) -> NamedTensor:
    """Return a tensor of one number, of its dtype: bool, int64, the default float, or complex.

    >>> full((2,), 7, names="N")
    tensor([7, 7], names=('N',), shape=(2,))
    """
    if dtype is not None or torch:
        of_library = made_by_library("full", (size,), names, {"dtype": dtype, **torch}, None, fill_value)
        if of_library is not None:
            return of_library  # type: ignore[no-any-return]
    wanted = as_dtype(dtype)
    if wanted is None:
        is_float = isinstance(fill_value, float)
        wanted = default_float() if is_float else _value(fill_value, wanted, "full").dtype
    made = _of_numpy("full", (size,), names, wanted, None, torch, fill_value)
    return recorded(made, torch)  # type: ignore[no-any-return]


def _filled(
    verb: str, size: tuple[Any, ...], names: object, dtype: Dtype, out: Any, torch: dict[str, Any], value: Any
) -> NamedTensor:
    if dtype is not None or torch or out is not None:
        made = made_by_library(verb, size, names, {"dtype": dtype, **torch}, out)
        if made is not None:
            return made  # type: ignore[no-any-return]
    made = _of_numpy(verb, size, names, dtype, out, torch, value)
    return recorded(made, torch) if torch else made


def _of_numpy(
    verb: str, size: tuple[Any, ...], names: object, dtype: Dtype, out: Any, torch: dict[str, Any], value: Any
) -> NamedTensor:
    check_keywords(verb, torch)
    dims = checked_dims(verb, size, names)
    shape = tuple(dim.size for dim in dims)
    wanted = as_dtype(dtype) or default_float()
    try:
        data: Array = np.empty(shape, wanted)
        if verb.startswith("full") and not (type(value) is float and wanted.kind == "f"):
            value = _value(value, wanted, verb)
        if value is not None:
            data[...] = value
    except MemoryError as fault:
        raise exhausted(verb, fault, shape) from fault
    return finished(data, dims, verb, out)


def _value(value: Any, dtype: np.dtype[Any] | None, verb: str) -> Array:
    """Return a number, or a 0-d tensor, to fill with as an array of the dtype: a fraction is truncated.

    NE570 for a complex value and a real dtype, NE577 for one that the dtype cannot hold, NE579 for anything
    but a number.
    """
    data = value._data if isinstance(value, Core) else value
    array = np.asarray(data)
    is_object = dtype is not None and dtype.kind == "O"
    if array.ndim or not (is_object or isinstance(data, int) or category(array.dtype) <= COMPLEX):
        message = f"{verb}: the value must be a number or a 0-d tensor, not {shown(value)}"
        hint = "tensor(data) makes a tensor of many values" if array.ndim else ""
        raise error(Diagnostic("NE579", message, hint=hint))
    if is_object or (dtype is None and array.dtype.kind != "O"):
        return array
    wanted = dtype or np.dtype(np.int64)
    check_real(array, wanted, verb, "dtype='complex128' holds it")
    try:
        return np.asarray(plain(data) if wanted.kind in "iu" else data, wanted)
    except (TypeError, ValueError, OverflowError) as refused:
        raise not_held(verb, data, wanted, "dtype={!r}") from refused


def finished(data: Array, dims: Dims, verb: str, out: Core | None = None) -> NamedTensor:
    """Return a new array as a tensor, or write it into `out`."""
    names = tuple(dim.name for dim in dims)
    return wrap(data, names) if out is None else write(out, data, names, verb, is_out=True)


def checked_dims(verb: str, size: tuple[Any, ...], names: object) -> Dims:
    """Return the dims of a new tensor, whose sizes are passed as arguments or as one tuple or list."""
    shape = checked_sizes(size, verb)
    call = ShownCall(verb, shape)
    if min(shape, default=0) < 0:
        marked = [index for index, number in enumerate(shape) if number < 0]
        raise fault("NE384", f"{verb}: sizes must be 0 or more", call, marked)
    if len(shape) > DIM_LIMIT:
        message = f"{verb}: {len(shape)} dims, and the limit is {DIM_LIMIT}"
        raise fault("NE750", message, ShownCall(verb, (...,)))
    if np.prod([float(number) for number in shape]) * 16 > 2.0**62:
        raise fault("NE707", f"{verb}: so many elements do not fit into memory", call, range(len(shape)))
    dims = dims_of((None,) * len(shape), shape)
    return dims_of(checked_names(names, dims), shape)


@op("makes")
def empty_like(input: Any, *, dtype: Dtype = None, **torch: Any) -> NamedTensor:
    """Return a tensor with the sizes and names of another, whose elements are not initialised.

    >>> empty_like(zeros(2, names="N")).names
    ('N',)
    """
    return _like("empty_like", input, dtype, torch, None)


@op("makes", extra=True)
def zeros_like(input: Any, *, dtype: Dtype = None, **torch: Any) -> NamedTensor:
    """Return zeros with the sizes, names and dtype of another tensor.

    >>> zeros_like(ones(2, names="N"))
    tensor([0., 0.], names=('N',), shape=(2,))
    """
    return _like("zeros_like", input, dtype, torch, 0)


@op("makes", extra=True)
def ones_like(input: Any, *, dtype: Dtype = None, **torch: Any) -> NamedTensor:
    """Return ones with the sizes, names and dtype of another tensor.

    >>> ones_like(zeros(2, names="N"), dtype=bool)
    tensor([ True,  True], names=('N',), shape=(2,))
    """
    return _like("ones_like", input, dtype, torch, 1)


@op("makes", extra=True)
def full_like(input: Any, fill_value: Any, *, dtype: Dtype = None, **torch: Any) -> NamedTensor:
    """Return one number everywhere, with the sizes, names and dtype of another tensor.

    >>> full_like(zeros(2, names="N"), 7)
    tensor([7., 7.], names=('N',), shape=(2,))
    """
    return _like("full_like", input, dtype, torch, fill_value)


def _like(verb: str, input: Any, dtype: Dtype, torch: dict[str, Any], value: Any) -> NamedTensor:
    tensor = checked_tensor(input, verb)
    if tensor._kernels is not None:
        values = (value,) if verb == "full_like" else ()
        return made_like(verb, tensor, {"dtype": dtype, **torch}, *values)  # type: ignore[no-any-return]
    made = _of_numpy(verb, tensor.shape, tensor.names, as_dtype(dtype) or tensor.dtype, None, torch, value)
    return recorded(with_labels(made, tensor._coordinates), torch)  # type: ignore[no-any-return]


def checked_tensor(input: Any, verb: str) -> NamedTensor:
    """Return an argument that must be a tensor, or an array (NE656)."""
    if isinstance(input, NamedTensor):
        return input if input._kernels is not RECORDED else input.detach()
    if isinstance(input, np.ndarray) or is_foreign(input):
        return as_tensor(input)
    raise error(Diagnostic("NE656", f"{verb} takes a NamedTensor or an array, not {type(input).__name__}"))


@op("makes", extra=True)
def arange(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    names: object = None,
    dtype: Dtype = None,
    device: Any = None,
) -> NamedTensor:
    """Return evenly spaced numbers from start up to, without, end: one dim.

    >>> arange(3, names="N")
    tensor([0, 1, 2], names=('N',), shape=(3,))
    """
    low, high = (0, start) if end is None else (start, end)
    options = {"dtype": dtype, "device": device}
    is_library = library_of_option(dtype) or library_of_option(device)
    wanted = None if is_library else as_dtype(dtype)
    if wanted is None and any(isinstance(bound, float) for bound in (low, high, step)):
        wanted = default_float()
    for what, bound in (("start", low), ("end", high), ("step", step)):
        number = checked_real(bound, "arange", what)
        if isinstance(number, float) and (isnan(number) or (isinf(number) and what != "step")):
            raise error(Diagnostic("NE677", f"arange: {what} must be a finite number, not {number}"))
    if step == 0:
        raise error(Diagnostic("NE677", "arange: step cannot be 0", hint="give another step"))
    if is_library:
        return made_range((low, high, step), names, options)  # type: ignore[no-any-return]
    checked_device(device)
    try:
        data = np.arange(low, high, step, dtype=wanted)
    except TypeError as fault:
        raise undefined("arange", (np.empty(0, wanted),)) from fault
    except (MemoryError, ValueError, OverflowError) as fault:
        raise exhausted("arange", fault) from fault
    return wrap(data, checked_names(names, dims_of((None,), data.shape)))
