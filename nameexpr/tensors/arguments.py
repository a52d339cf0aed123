"""Checks of arguments: arrays, numbers, dtypes, devices, and generators of random numbers.

What NumPy rejects, or would convert with a loss of information, is rejected here with our own messages. The
only device is the CPU, where NumPy arrays are. Streams of random numbers are NumPy's (PCG64); PyTorch's
cannot be reproduced. A forked child has its own stream: that of the seed and of its number among the forks
since the seed was set, or a new one if no seed was set.

>>> generator = manual_seed(0)
>>> a = ne.rand(2)
>>> generator = manual_seed(0)
>>> a.equal(ne.rand(2))
True
"""

from __future__ import annotations

from operator import index as as_index
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import default_float, is_float
from nameexpr.dims import Names
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.forks import around_forks, lock
from nameexpr.rules.calls import ShownCall, fault, shown
from nameexpr.tensors.core import Array, Core
from nameexpr.tensors.ops import op


def as_array(data: object, dtype: object, *, copy: bool) -> Array:
    """Return `data` as an array that is not a subclass, copied if asked or needed.

    NE653 if it cannot be an array of numbers, NE654 for arrays of other libraries that would lose something,
    NE655 for an unknown dtype.
    """
    if type(data) is not np.ndarray:
        from nameexpr.tensors.foreign import foreign  # imported here: most data are arrays

        found = foreign(data)
        data = data if found is None else found.array
    wanted = as_dtype(dtype)
    try:
        array = np.array(data, dtype=wanted) if copy else np.asarray(data, dtype=wanted)
    except (TypeError, ValueError, OverflowError) as fault:
        raise _no_array(data, wanted, fault) from fault
    except MemoryError as fault:
        raise error(Diagnostic("NE707", "the data is larger than this machine's memory")) from fault
    if wanted is None and array.dtype.kind in "OUS" and not hasattr(data, "dtype"):
        is_text = array.dtype.kind in "US"
        what = "text" if is_text else f"a {type(data).__name__}, which NumPy cannot convert to numbers"
        hint = "the data comes first, tensor(data, names='N C'); dtype=object takes any objects"
        raise error(Diagnostic("NE653", f"the data is {what}", hint=hint))
    if wanted is None and array.dtype == np.float64 and not hasattr(data, "dtype"):
        return array.astype(default_float(), copy=False)  # Python floats do not have a dtype
    return array


def as_dtype(dtype: object) -> np.dtype[Any] | None:
    """Return a dtype in any of NumPy's spellings, or "bfloat16", or None for None (NE655)."""
    try:
        return None if dtype is None else np.dtype(dtype)  # type: ignore[call-overload]
    except (TypeError, ValueError) as fault:
        if isinstance(dtype, str) and dtype == "bfloat16":  # which NumPy accepts once ml_dtypes is imported
            return bfloat16()
        hint = "dtypes are NumPy's: np.float32, 'int64', bool"
        raise error(Diagnostic("NE655", f"{shown(dtype)} is not a dtype", hint=hint)) from fault


def bfloat16() -> np.dtype[Any]:
    """Return the dtype bfloat16 of the package ml_dtypes (NE655 if it is not installed)."""
    try:
        import ml_dtypes
    except ImportError as fault:
        message = "NumPy has no bfloat16; the package ml_dtypes brings it"
        hint = "pip install 'nameexpr[bfloat16]', or use half() or float()"
        raise error(Diagnostic("NE655", message, hint=hint)) from fault
    dtype: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return dtype


def unnamed(array: Array) -> Core:
    """Return an array as a tensor whose dims have no names."""
    return Core._wrap(array, (None,) * array.ndim)


def _no_array(data: object, dtype: np.dtype[Any] | None, fault: Exception) -> NameExprError:
    if "inhomogeneous" in str(fault):
        message = "the nested lists do not all have the same length"
        hint = "pad them, or make one tensor of each"
    else:
        wanted = f" of {dtype}" if dtype is not None else ""
        message = f"{shown(data)} cannot be converted to an array{wanted}"
        hint = "its elements must be numbers"
        if isinstance(fault, OverflowError):
            hint = "a number in it is too large"
            if dtype is not None and dtype.kind in "iu":
                hint = f"{dtype} holds {np.iinfo(dtype).min} to {np.iinfo(dtype).max}"
    return error(Diagnostic("NE653", message, hint=hint))


def plain(number: Any) -> Any:
    """Return a NumPy scalar, or a 0-d array, as a Python scalar.

    An integer dtype rejects a Python scalar that it cannot hold, and casts any NumPy scalar.
    """
    if not isinstance(number, _OF_NUMPY):
        return number
    return float(number) if is_float(number.dtype) else number.item()


_OF_NUMPY = (np.ndarray, np.generic)  # not a union, which torch.compile does not trace


class Device:
    """The device of an array: `str()` of it is "cpu"."""

    __slots__ = ("type",)

    index = None

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:
        name = str(type)
        if name.partition(":")[0] != "cpu" or index not in (None, 0):
            message = f"there is no device {shown(name)}: NumPy's arrays are on the CPU"
            hint = 'leave it out or give "cpu"; torch.device(...) of PyTorch makes a tensor of PyTorch'
            raise error(Diagnostic("NE678", message, hint=hint))
        self.type = "cpu"

    def __str__(self) -> str:
        return self.type

    def __repr__(self) -> str:
        return "device('cpu')"

    def __eq__(self, other: object) -> bool:
        return str(other) == self.type

    def __hash__(self) -> int:
        return hash(self.type)


@op("answers")
def device(type: Any = "cpu", index: int | None = None) -> Device:
    """Return the device of that name: "cpu" is the only one.

    Raises
    ------
    OptionError
        NE678 for any other.

    Examples
    --------
    >>> str(device("cpu"))
    'cpu'
    """
    return Device(type, index)


def checked_device(wanted: object) -> None:
    """Raise NE678 unless `wanted` is None or the CPU."""
    if wanted is not None:
        Device(wanted)


def checked_int(value: object, verb: str, what: str) -> int:
    """Return an integer argument as an int (NE677)."""
    if type(value) is int:
        return value
    try:
        if isinstance(value, bool) or getattr(value, "shape", ()) != ():
            raise TypeError
        return as_index(value)  # type: ignore[arg-type]
    except TypeError:
        message = f"{verb}: {what} must be an integer, not {shown(value)}"
        raise error(Diagnostic("NE677", message)) from None


def checked_sizes(sizes: tuple[Any, ...], verb: str) -> tuple[int, ...]:
    """Return sizes, which are passed as arguments or as one tuple or list (NE677)."""
    given = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], list | tuple) else sizes
    return tuple([checked_int(size, verb, "a size") for size in given])


def checked_real(value: object, verb: str, what: str) -> Any:
    """Return an argument that must be a number as `checked_number` does, and not a complex one (NE677)."""
    number = checked_number(value, verb, what)
    if isinstance(number, complex):
        raise error(Diagnostic("NE677", f"{verb}: {what} is a real number, not {shown(value)}"))
    return number


def checked_number(value: object, verb: str, what: str) -> Any:
    """Return an argument that must be a number, or a 0-d array or tensor of one (NE677)."""
    data = value._data if isinstance(value, Core) else value
    number = data.item() if isinstance(data, _OF_NUMPY) and data.shape == () else data
    if isinstance(number, bool) or not isinstance(number, int | float | complex):
        raise error(Diagnostic("NE677", f"{verb}: {what} must be a number, not {shown(value)}"))
    return number


class _Default:
    """The generator of this process, created on first use: numpy.random takes as long to import as the rest
    of this package. `branch` contains the numbers of the forks that led to this process, `forks` is the
    number of the latest.
    """

    generator: np.random.Generator | None = None
    seed: int | None = None
    branch: tuple[int, ...] = ()
    forks = 0

    def started(self) -> np.random.Generator:
        """Return the generator; two threads that call this first get the same one."""
        random = np.random  # loaded before the lock is acquired, so that forks do not wait for it
        with lock:
            if self.generator is None:
                sequence = random.SeedSequence(self.seed, spawn_key=self.branch)
                self.generator = random.default_rng(sequence)
            return self.generator

    def restart(self, seed: int) -> np.random.Generator:
        """Return a new generator for a seed; children are numbered from now on."""
        generator = np.random.default_rng(seed)
        with lock:
            self.generator, self.seed, self.branch, self.forks = generator, seed, (), 0
        return generator

    def count_fork(self) -> None:
        """Give the next child a number."""
        self.forks += 1

    def branch_off(self) -> None:
        """Start again in a child: the stream belongs to the parent, whose generator may be locked
        for good.
        """
        self.generator, self.branch, self.forks = None, (*self.branch, self.forks), 0


_default = _Default()
around_forks(_default.count_fork, _default.branch_off)


@op("answers")
def manual_seed(seed: int) -> np.random.Generator:
    """Start the random numbers of this process from a seed, and return their generator.

    A child that is forked later has different numbers, the same ones on each run: they follow from the seed
    and the number of children forked before it. A child that is spawned does not inherit the seed.

    Raises
    ------
    OptionError
        NE677 if it is not an integer.

    Examples
    --------
    >>> manual_seed(7) is generator_or_default(None)
    True
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise error(Diagnostic("NE677", f"manual_seed: a seed must be an integer, not {shown(seed)}"))
    return _default.restart(int(seed) % 2**64)


def generator_or_default(generator: np.random.Generator | None) -> np.random.Generator:
    """Return the given generator, or else the one that `manual_seed` sets (NE680)."""
    if generator is None:
        return _default.generator or _default.started()
    if not isinstance(generator, np.random.Generator):
        message = f"generator= must be a np.random.Generator, not {shown(generator)}"  # type: ignore[unreachable]
        raise error(Diagnostic("NE680", message, hint="np.random.default_rng(seed) makes one"))
    return generator


def check_kept(old: Any, names: Names, kind: str, *, has_all: bool) -> None:
    """Raise NE418 if a name would be lost; or gained, unless an index of pandas left it open."""
    for at, (name, new) in enumerate(zip(old.names, names, strict=True)):
        if name != new and (has_all or name is not None):
            message = f"the data is a {kind} whose dim {at} is called {name!r}, not {new!r}"
            hint = "leave names= out and rename the result, or refine_names for dims without a name"
            raise fault("NE418", message, ShownCall("names=", names, (old._dims,)), (at,), hint)
