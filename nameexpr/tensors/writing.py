"""Writing a result into an existing tensor: the end of every in-place operator and of every `out=`.

All checks come first: names and sizes (`nameexpr.rules.writing`), dtype, and whether the array is writable.
Then the result is computed, and only then written. If an operator is interrupted by an error, a lack of
memory or Ctrl-C, its tensor is either unchanged or completely written: names, shape and elements always
belong together. With several tensors, as for `np.modf`, this applies to each.

This relies on two facts. NumPy fills an array in one call. And CPython handles signals only after calls, at
the start of functions and at backward jumps: elements and names are therefore stored by adjacent statements
that call nothing (`store`), and a resized tensor gets a new array.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import category, is_float
from nameexpr.backends.numpy.pointwise import KEEPS_DTYPE
from nameexpr.dims import Names
from nameexpr.errors import Diagnostic, error
from nameexpr.rules.writing import check_written
from nameexpr.tensors.core import Array, Core
from nameexpr.tensors.faults import not_held
from nameexpr.tensors.ops import RECORDED


def write(out: object, data: Array, names: Names, verb: str, *, is_out: bool) -> Any:
    """Write a result into `out`, which takes its names if it has none, and return `out`.

    In-place operators pass the tensor itself, with `is_out` False. NE660 if `out` is not a NamedTensor, NE371
    and NE472 as in `check_written`, NE570 if the result's dtype is of a higher kind, NE576 if the array is
    read-only.
    """
    target = checked_out(out, verb)
    if is_out and target._kernels is RECORDED:
        RECORDED.check_out(verb)
    if target._names != names or target._data.shape != data.shape:
        check_written(target._dims, names, data.shape, verb, is_out=is_out)
    check_castable(data.dtype, target._data.dtype, verb, is_out=is_out)
    if target._data.shape != data.shape:
        _replace(target, data, names)
        return target
    check_writeable(target, verb, is_out=is_out)
    store(target, data, names, verb)
    return target


WATCHED: list[Callable[[Array, str], None]] = []
"""While arrays are saved for a backward pass, the function that notes what is written to which array."""


def store(target: Core, values: Array, names: Names, verb: str) -> None:
    """Write elements, which are broadcast and cast, over a tensor, and set its names, both or neither.

    The caller has made all checks.
    """
    if WATCHED:
        WATCHED[0](target._data, verb)
    dtype = target._data.dtype
    if values.dtype == dtype:
        target._data[...] = values
        target._names = names
        return
    with np.errstate(all="ignore"):
        if values.dtype.kind in "OSU":  # each element may be invalid for the dtype
            values = values.astype(dtype)
        target._data[...] = values
        target._names = names


def _replace(target: Core, data: Array, names: Names) -> None:
    resizing(target, data.shape, bool(target._data.size))
    with np.errstate(all="ignore"):
        new = data.astype(target._data.dtype, order="C")
    target._data, target._names = new, names


def resizing(target: Core, shape: tuple[int, ...], has_elements: bool) -> None:
    """Warn that an `out=` with elements gets a new array of another shape."""
    if has_elements:
        message = f"out= had shape {target.shape} and is replaced by a new array of shape {shape}"
        warnings.warn(message, UserWarning, stacklevel=6)


def checked_out(out: object, verb: str) -> Core:
    """Return `out` if it is a NamedTensor (NE660)."""
    if isinstance(out, Core):
        return out
    hint = "from_numpy(array) makes a tensor that shares the array's memory"
    raise error(
        Diagnostic("NE660", f"{verb}: out= must be a NamedTensor, not {type(out).__name__}", hint=hint)
    )


def check_castable(
    result: Any, target: Any, verb: str, *, is_out: bool, category: Callable[[Any], int] = category
) -> None:
    """Raise NE570 if a dtype is of a higher kind (bool, integer, float, complex) than the target."""
    if result == target or category(result) <= category(target):
        return
    where = "out, which is" if is_out else "a tensor of"
    message = f"{verb}: the result is {result} and cannot be written into {where} {target}"
    convert = f"convert first, x.to({str(result)!r})"
    hint = "give an out= of that dtype" if is_out else f"{convert}; y = x.{verb[:-1]}(...) makes a new tensor"
    raise error(Diagnostic("NE570", message, hint=hint))


_TO_COMPLEX = "convert the tensor first: x.to('complex128')"


def check_real(values: Array, target: np.dtype[Any], verb: str, hint: str = _TO_COMPLEX) -> None:
    """Raise NE570 if complex values would be written into a real tensor."""
    if category(values.dtype) == COMPLEX > category(target):
        message = f"{verb}: a complex value cannot be written into a tensor of {target}"
        raise error(Diagnostic("NE570", message, hint=hint))


def check_finite(values: Array, target: np.dtype[Any], verb: str) -> None:
    """Raise NE577 if nan or inf would be written into integers, which have neither."""
    if target.kind in "iu" and is_float(values.dtype) and not np.isfinite(values).all():
        raise not_held(verb, values[~np.isfinite(values)].flat[0], target)


def check_writeable(target: Core, verb: str, *, is_out: bool = False) -> None:
    """Raise NE576 if the array is read-only, for example after `expand`."""
    if not target._data.flags.writeable:
        message = f"{verb}: {'out' if is_out else 'the tensor'}'s array is read-only"
        hint = "expand makes read-only views: write to the tensor that was expanded, or to a clone()"
        raise error(Diagnostic("NE576", message, hint=hint))


def spelt(verb: str, *, is_out: bool) -> str:
    """Return how an error spells an operator: in place with an underscore, a kernel as its operator."""
    name = "div" if verb == "truncated_div" else verb
    return name if is_out else name + "_"


def apply_into(
    out: object,
    kernel: Callable[..., Any],
    operands: tuple[Any, ...],
    names: Names,
    verb: str,
    *,
    is_out: bool,
) -> Any:
    """Write `kernel(*operands)` into `out`: if it is large, without an intermediate array if that is safe."""
    target = out if isinstance(out, Core) else checked_out(out, verb)
    if is_out and target._kernels is RECORDED:
        RECORDED.check_out(verb)
    if target._data.nbytes < _LARGE or target._names != names or not _is_direct(target, operands, verb):
        data = kernel(*operands)
        if _is_alike(target, data, names):
            target._data[...] = data
            return target
        return write(out, np.asarray(data), names, spelt(verb, is_out=is_out), is_out=is_out)
    if WATCHED:
        WATCHED[0](target._data, spelt(verb, is_out=is_out))
    kernel(*operands, out=target._data)
    return target


def _is_alike(target: Core, data: Any, names: Names) -> bool:
    """Return whether a result has the names, sizes and dtype of the target, which can be written."""
    own = target._data
    return (
        type(data) is np.ndarray
        and data.dtype is own.dtype
        and data.shape == own.shape
        and target._names == names
        and own.flags.writeable
        and not WATCHED
    )


COMPLEX = category(np.dtype(complex))
_LARGE = 1 << 16
"""The number of bytes from which an intermediate array costs more than checking whether one is needed."""


def can_raise() -> bool:
    """Return whether NumPy may raise an error after it has written: by `np.errstate`, or warnings
    as errors.
    """
    modes = set(np.geterr().values())
    if modes - {"ignore", "print", "warn"}:
        return True
    for action, message, kind, module, line in warnings.filters if "warn" in modes else ():
        if issubclass(RuntimeWarning, kind):  # the first filter that matches the warning decides
            if action == "error":
                return True
            if message is module is None and not line:
                return False
    return False


def _is_direct(target: Core, operands: tuple[Any, ...], verb: str) -> bool:
    """Return whether the kernel may write into the array itself: same dtype, and the result's shape."""
    data = target._data
    if verb not in KEEPS_DTYPE or data.dtype.kind != "f" or not data.flags.writeable or can_raise():
        return False
    has_shape = False
    for operand in operands:
        if operand is data:
            has_shape = True
        elif type(operand) is np.ndarray:
            if operand.dtype != data.dtype:
                return False
            if operand.shape == data.shape:
                has_shape = True
            elif not _fits(operand.shape, data.shape):
                return False
        elif type(operand) not in _REAL:
            return False
    return has_shape


_REAL = frozenset({int, float})


def _fits(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Return whether an array of one shape broadcasts to another without changing it."""
    pairs = zip(reversed(shape), reversed(wanted), strict=False)
    return len(shape) <= len(wanted) and all(size in (1, there) for size, there in pairs)
