"""Writing over a tensor: constants, copies, and random numbers. Names are unchanged.

>>> ne.zeros(2, names="N").fill_(3)
tensor([3., 3.], names=('N',), shape=(2,))
"""

from __future__ import annotations

import math
from typing import Any, Self, TypeAlias

import numpy as np

from nameexpr.backends.numpy.arrays import is_float
from nameexpr.dims import Names, names_of, shape_of
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.rules.calls import shown
from nameexpr.rules.pairing import Pairing, broadcast, paired_fault
from nameexpr.rules.writing import check_written
from nameexpr.tensors.arguments import checked_int, checked_real, generator_or_default, unnamed
from nameexpr.tensors.core import Array, Core, Other
from nameexpr.tensors.faults import undefined
from nameexpr.tensors.masks import Masks
from nameexpr.tensors.ops import op
from nameexpr.tensors.writing import check_finite, check_real, check_writeable, store

Generator: TypeAlias = "np.random.Generator | None"


class Fills(Masks):
    """fill_, zero_, copy_, clone, and bernoulli_, normal_, uniform_ and the other distributions."""

    __slots__ = ()

    @op("fills")
    def fill_(self, value: Other) -> Self:
        """Write a number, or a 0-d tensor, cast to the dtype, into every element.

        >>> ne.tensor([1, 2]).fill_(2.7)
        tensor([2, 2], shape=(2,))
        """
        return self._write_over(self._fill_value(value, "fill_"), "fill_")

    @op("fills")
    def zero_(self) -> Self:
        """Write 0 into every element."""
        return self._write_over(self._fill_value(0, "zero_"), "zero_")

    @op("fills")
    def copy_(self, src: Other, non_blocking: bool = False) -> Self:
        """Write another tensor, broadcast and cast to the dtype, over this one.

        >>> ne.zeros(2, 2, names="N C").copy_(ne.tensor([1, 2], names="C"))
        tensor([[1., 2.],
                [1., 2.]], names=('N', 'C'), shape=(2, 2))
        """
        source = self._as_core(src, "copy_")
        dims = broadcast(self._dims, source._dims, Pairing("copy_", "destination", "source", "right"))
        check_written(self._dims, names_of(dims), shape_of(dims), "copy_")
        self._copy_from(source._data, names_of(dims))
        return self

    def _copy_from(self, values: Array, names: Names) -> None:
        check_real(values, self.dtype, "copy_")
        check_finite(values, self.dtype, "copy_")
        check_writeable(self, "copy_")
        store(self, values, names, "copy_")

    @op("keeps", extra=True)
    def clone(self, memory_format: Any = None) -> Self:
        """Return a copy."""
        return self._wrap(self._copied(), self._names)

    copy = clone

    def _write_over(self, values: Array, verb: str) -> Self:
        check_writeable(self, verb)
        store(self, values, self._names, verb)
        return self

    @op("keeps")
    def bernoulli(
        self, p: float | None = None, *, generator: Generator = None, out: Core | None = None
    ) -> Self:
        """Return 1 with the probability in each element, or with probability p, and else 0.

        >>> ne.tensor([0.0, 1.0]).bernoulli()
        tensor([0., 1.], shape=(2,))
        """
        if p is None:
            self._check_floats("bernoulli")
        drawn = self._tossed(self if p is None else p, generator, "bernoulli")
        return self._put(drawn, self._names, "bernoulli", out)

    def _check_floats(self, verb: str) -> None:
        if not is_float(self.dtype):
            raise undefined(verb, (self,))

    @op("fills")
    def bernoulli_(self, p: Any = 0.5, *, generator: Generator = None) -> Self:
        """Write 1 with probability p, a number or a tensor whose names are ignored, and else 0."""
        return self._write_over(self._tossed(p, generator, "bernoulli_"), "bernoulli_")

    def _tossed(self, p: Any, generator: Generator, verb: str) -> Array:
        """Return 1 with these probabilities, else 0."""
        chances = _probabilities(self._chances(p, verb), verb)
        return (generator_or_default(generator).random(self.shape) < chances).astype(self.dtype)

    def _chances(self, p: Any, verb: str) -> Array:
        """Return probabilities, whose names are ignored (NE370 if they do not fit this shape)."""
        chances = self._as_core(p, verb)._data
        roles = Pairing(verb, "tensor", "probabilities")
        here, there = unnamed(self._data)._dims, unnamed(chances)._dims
        if shape_of(broadcast(here, there, roles)) != self.shape:
            message = f"{verb}: probabilities of shape {chances.shape} for a tensor of shape {self.shape}"
            hint = "there is one probability for all elements, or for each: they are broadcast to the tensor"
            raise paired_fault("NE370", message, (self._dims, there), roles, ((), ()), hint)
        return chances  # type: ignore[no-any-return]

    @op("fills")
    def normal_(self, mean: float = 0, std: float = 1, *, generator: Generator = None) -> Self:
        """Write normally distributed numbers over the tensor."""
        mean, std = checked_real(mean, "normal_", "the mean"), checked_real(std, "normal_", "std")
        if std < 0:
            raise out_of_range("normal_", f"std is {shown(std)}", "0 or more")
        return self._drawn("normal_", (mean, std), generator)

    @op("fills")
    def log_normal_(self, mean: float = 1, std: float = 2, *, generator: Generator = None) -> Self:
        """Write numbers whose logarithms are normally distributed over the tensor."""
        mean, std = checked_real(mean, "log_normal_", "the mean"), checked_real(std, "log_normal_", "std")
        if std <= 0:
            raise out_of_range("log_normal_", f"std is {shown(std)}", "more than 0")
        return self._drawn("log_normal_", (mean, std), generator)

    @op("fills")
    def uniform_(
        self, from_: float = 0, to: float = 1, *, generator: Generator = None, **bounds: float
    ) -> Self:
        """Write uniformly distributed numbers from one bound up to, excluding, the other.

        The first bound is called `from` in PyTorch, which is a keyword of Python: `uniform_(**{"from": 2})`.
        """
        low = checked_real(_renamed(bounds, "uniform_", from_), "uniform_", "from")
        to = checked_real(to, "uniform_", "to")
        what = f"from is {shown(low)} and to is {shown(to)}"
        if low > to:
            raise out_of_range("uniform_", what, "at most to", "from")
        if not math.isfinite(to - low):
            raise out_of_range("uniform_", what, "finite, and their difference too", "both")
        return self._drawn("uniform_", (low, to), generator)

    @op("fills")
    def exponential_(self, lambd: float = 1, *, generator: Generator = None) -> Self:
        """Write exponentially distributed numbers of the rate lambd, whose mean is 1 / lambd."""
        if not checked_real(lambd, "exponential_", "lambd") > 0:
            raise out_of_range("exponential_", f"lambd is {shown(lambd)}", "more than 0")
        return self._drawn("exponential_", (lambd,), generator)

    @op("fills")
    def cauchy_(self, median: float = 0, sigma: float = 1, *, generator: Generator = None) -> Self:
        """Write numbers of the Cauchy distribution with this median and half width."""
        median = checked_real(median, "cauchy_", "the median")
        if not checked_real(sigma, "cauchy_", "sigma") > 0:
            raise out_of_range("cauchy_", f"sigma is {shown(sigma)}", "more than 0")
        return self._drawn("cauchy_", (median, sigma), generator)

    def _drawn(self, verb: str, parameters: tuple[float, ...], generator: Generator) -> Self:
        """Write numbers of a distribution, with its checked parameters, over the tensor."""
        self._check_floats(verb)
        drawn = _DRAWS[verb](generator_or_default(generator), self._data, *parameters)
        return self._write_over(np.asarray(drawn), verb)

    @op("fills")
    def random_(
        self, from_: int | None = None, to: int | None = None, *, generator: Generator = None, **bounds: int
    ) -> Self:
        """Write uniformly drawn integers from a range: `random_(to)`, `random_(from, to)`, excluding `to`.

        Without a bound, the range is that of the integers which the dtype holds exactly.

        >>> ne.zeros(2).random_(1)
        tensor([0., 0.], shape=(2,))
        """
        if from_ is not None and to is None:
            from_, to = None, from_
        low = checked_int(_renamed(bounds, "random_", from_ or 0), "random_", "from")
        least, most, limit = self._range()
        high = most if to is None else checked_int(to, "random_", "to")
        if low >= high:
            raise out_of_range("random_", f"from is {low} and to is {high}", "below to", "from")
        if low < least or high > limit:
            what = f"{self.dtype} cannot hold {low} to {high - 1}"
            raise out_of_range("random_", what, f"within {least} to {most - 1}", "the numbers")
        return self._integers(low, high, generator)

    def _integers(self, low: int, high: int, generator: Generator) -> Self:
        kind = np.uint64 if high > 2**63 else np.int64
        drawn = generator_or_default(generator).integers(low, high, self.shape, dtype=kind)
        return self._write_over(np.asarray(drawn), "random_")

    def _range(self) -> tuple[int, int, int]:
        """Return the range, without its end, in which the dtype holds every integer, and the highest end."""
        dtype = self.dtype
        if is_float(dtype):
            end = 2 ** (np.finfo(dtype).nmant + 1) if dtype.kind == "f" else 2**8
            return -end if dtype != np.float64 else -(2**63), end, max(end, 2**63)
        if dtype.kind == "b":
            return 0, 2, 2
        if dtype.kind not in "iu":
            raise undefined("random_", (self,))
        end = int(np.iinfo(dtype).max) + (dtype != np.int64)
        return int(np.iinfo(dtype).min), end, end


def _renamed(bounds: dict[str, Any], verb: str, otherwise: Any) -> Any:
    """Return the bound that is called `from`, which is a keyword of Python and cannot be a parameter."""
    if not bounds:
        return otherwise
    if set(bounds) == {"from"}:
        return bounds["from"]
    name = next(name for name in bounds if name != "from")
    raise error(Diagnostic("NE681", f"{verb} has no argument {name!r}", hint=f"write {verb}(low, high)"))


def uniform(
    rng: np.random.Generator, low: float, high: float, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    """Return uniformly distributed numbers below `high`, which rounding to a narrow dtype may reach."""
    drawn = rng.uniform(low, high, shape).astype(dtype)
    if low < high:
        limit = np.asarray(high, dtype)
        drawn = np.where(drawn >= limit, np.nextafter(limit, np.asarray(low, dtype)), drawn)
    return np.asarray(drawn)


_DRAWS: dict[str, Any] = {
    "normal_": lambda rng, x, mean, std: rng.normal(mean, std, x.shape),
    "log_normal_": lambda rng, x, mean, std: rng.lognormal(mean, std, x.shape),
    "uniform_": lambda rng, x, low, high: uniform(rng, low, high, x.shape, x.dtype),
    "exponential_": lambda rng, x, lambd: rng.exponential(1 / lambd, x.shape),
    "cauchy_": lambda rng, x, median, sigma: median + sigma * rng.standard_cauchy(x.shape),
}
"""The draws of each distribution, in the shape of an array, and its dtype where that matters."""


def _probabilities(p: Array, verb: str) -> Array:
    if p.dtype.kind not in "iub" and not is_float(p.dtype):
        message = f"{verb}: probabilities are real numbers, not {p.dtype}"
        raise error(Diagnostic("NE571", message, hint=f"{verb}(0.5) takes one for all elements"))
    with np.errstate(invalid="ignore"):  # bfloat16's nan would warn
        wrong = p[~((p >= 0) & (p <= 1))]
    if wrong.size:
        raise out_of_range(verb, f"a probability is {shown(wrong.flat[0].item())}", "within 0 to 1")
    return p


def out_of_range(verb: str, what: str, range_: str, which: str = "it") -> NameExprError:
    """Return the error for an invalid parameter of a distribution (NE682)."""
    return error(Diagnostic("NE682", f"{verb}: {what}", hint=f"{which} must be {range_}"))
