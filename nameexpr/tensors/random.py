"""New tensors of random numbers. The generator is the one that `manual_seed` sets, or `generator=`.

>>> generator = ne.manual_seed(0)
>>> rand(2, 3, names="N C").names
('N', 'C')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.backends.numpy.arrays import default_float, is_float
from nameexpr.dims import shape_of
from nameexpr.errors import Diagnostic, error
from nameexpr.rules.pairing import Pairing, broadcast
from nameexpr.tensors.arguments import as_dtype, checked_number, generator_or_default
from nameexpr.tensors.by_option import made_by_library, made_like, makers
from nameexpr.tensors.core import Array, Core
from nameexpr.tensors.factories import (
    checked_dims,
    checked_tensor,
    finished,
)
from nameexpr.tensors.faults import undefined
from nameexpr.tensors.fills import Generator, uniform
from nameexpr.tensors.named_tensor import NamedTensor, with_labels, wrap
from nameexpr.tensors.ops import exhausted, op
from nameexpr.tensors.torch_keywords import check_keywords, recorded

if TYPE_CHECKING:
    from nameexpr.tensors.core import Dtype


@op("makes")
def rand(
    *size: Any,
    names: object = None,
    dtype: Dtype = None,
    generator: Generator = None,
    out: NamedTensor | None = None,
    **torch: Any,
) -> NamedTensor:
    """Return uniformly distributed numbers from 0 up to, excluding, 1.

    >>> generator = ne.manual_seed(0)
    >>> rand(2, names="N").names
    ('N',)
    """
    return _random("rand", size, names, dtype, generator, out, torch)


@op("makes")
def randn(
    *size: Any,
    names: object = None,
    dtype: Dtype = None,
    generator: Generator = None,
    out: NamedTensor | None = None,
    **torch: Any,
) -> NamedTensor:
    """Return normally distributed numbers, of mean 0 and standard deviation 1.

    >>> randn((2, 3), names="N C").shape
    (2, 3)
    """
    return _random("randn", size, names, dtype, generator, out, torch)


@op("makes", extra=True)
def rand_like(input: Any, *, dtype: Dtype = None, generator: Generator = None, **torch: Any) -> NamedTensor:
    """Return uniformly distributed numbers with the sizes and names of another tensor.

    >>> rand_like(ne.zeros(2, names="N")).names
    ('N',)
    """
    return _random_like("rand", input, dtype, generator, torch)


@op("makes", extra=True)
def randn_like(input: Any, *, dtype: Dtype = None, generator: Generator = None, **torch: Any) -> NamedTensor:
    """Return normally distributed numbers with the sizes and names of another tensor.

    >>> randn_like(ne.zeros(2, names="N")).names
    ('N',)
    """
    return _random_like("randn", input, dtype, generator, torch)


def _random_like(
    verb: str, input: Any, dtype: Dtype, generator: Generator, torch: dict[str, Any]
) -> NamedTensor:
    like = checked_tensor(input, f"{verb}_like")
    if like._kernels is not None:
        return made_like(f"{verb}_like", like, {"dtype": dtype, "generator": generator, **torch})  # type: ignore[no-any-return]
    check_keywords(f"{verb}_like", torch)
    drawn = _random(verb, like.shape, like.names, as_dtype(dtype) or like.dtype, generator, None, {})
    return recorded(with_labels(drawn, like._coordinates), torch)  # type: ignore[no-any-return]


def _random(
    verb: str, size: Any, names: object, dtype: Dtype, generator: Any, out: Any, torch: dict[str, Any]
) -> NamedTensor:
    if dtype is not None or torch or out is not None:
        made = made_by_library(verb, size, names, {"dtype": dtype, "generator": generator, **torch}, out)
        if made is not None:
            return made  # type: ignore[no-any-return]
    check_keywords(verb, torch)
    wanted = as_dtype(dtype) or default_float()
    if not is_float(wanted):
        hint = "random_ draws integers: zeros(..., dtype=...).random_(low, high)"
        raise error(Diagnostic("NE571", f"{verb} draws floats, not {wanted}", hint=hint))
    dims = checked_dims(verb, size, names)
    shape = tuple(dim.size for dim in dims)
    try:
        drawn = _drawn(verb, generator_or_default(generator), shape, wanted)
    except MemoryError as fault:
        raise exhausted(verb, fault, shape) from fault
    new = finished(np.asarray(drawn).astype(wanted, copy=False), dims, verb, out)
    return recorded(new, torch)  # type: ignore[no-any-return]


def _drawn(verb: str, rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    exact = np.float32 if dtype == np.float32 else np.float64
    if verb == "randn":
        return np.asarray(rng.standard_normal(shape, exact))
    if dtype.itemsize < exact().itemsize:
        return uniform(rng, 0, 1, shape, dtype)
    return np.asarray(rng.random(shape, exact))


@op("keeps")
def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator = None,
    names: object = None,
    out: NamedTensor | None = None,
) -> NamedTensor:
    """Return normally distributed numbers: mean and std are numbers, with a size, or tensors.

    The dims of two tensors pair from the right and the names unify; the dtype is theirs.

    Raises
    ------
    OptionError
        NE682 if a standard deviation is negative.

    Examples
    --------
    >>> normal(0.0, 1.0, (2, 3)).shape
    (2, 3)
    >>> normal(ne.zeros(2, names="N"), 1.0).names
    ('N',)
    """
    from nameexpr.tensors.foreign import of_library

    library = of_library(mean, std, out)
    if library is not None:
        return _normal_by(library, mean, std, size, {"generator": generator, "out": out})
    centre, spread = _parameter(mean), _parameter(std)
    if np.any(spread.numpy() < 0):
        hint = "std must be 0 or more everywhere"
        raise error(Diagnostic("NE682", "normal: a standard deviation is negative", hint=hint))
    if size is None:
        dims = broadcast(centre._dims, spread._dims, Pairing("normal", "mean", "std"))
    elif centre.ndim or spread.ndim:
        raise _no_size()
    else:
        dims = checked_dims("normal", (size,), names)
    shape = shape_of(dims)
    noise = generator_or_default(generator).standard_normal(shape)
    drawn = centre.numpy() + spread.numpy() * noise
    like = next((x.dtype for x in (mean, std) if isinstance(x, Core | np.ndarray)), default_float())
    return finished(drawn.astype(like, copy=False), dims, "normal", out)


def _normal_by(like: Any, mean: Any, std: Any, size: Any, options: dict[str, Any]) -> NamedTensor:
    """Return normally distributed numbers of a library."""
    if size is not None:
        raise _no_size()
    given = [like._as_core(value, "normal") for value in (mean, std)]
    for tensor in given:
        if like._kernels.kind_of(tensor.dtype) not in "fiu":
            raise undefined("normal", (tensor,))
    dims = broadcast(given[0]._dims, given[1]._dims, Pairing("normal", "mean", "std"))
    arguments = [each._expanded(shape_of(dims)) for each in given]
    out = options.pop("out")
    return makers().created(like._kernels.LIBRARY, "normal", dims, tuple(arguments), options, out)  # type: ignore[no-any-return]


def _no_size() -> Exception:
    message = "normal: a size is for numbers, and tensors have one of their own"
    return error(Diagnostic("NE682", message, hint="leave size= out, or expand the tensors to it"))


def _parameter(value: Any) -> NamedTensor:
    """Return a parameter of a distribution as a tensor of floats."""
    if not isinstance(value, Core | np.ndarray):
        return wrap(np.asarray(checked_number(value, "normal", "a parameter"), np.float64), ())
    tensor = checked_tensor(value, "normal")
    if not is_float(tensor.dtype):
        raise undefined("normal", (tensor,))
    return tensor
