"""Writing over a tensor: constants, copies, and random numbers. Names stay as they are.

>>> import nameexpr as ne
>>> ne.zeros(2, names="N").fill_(3)
tensor([3., 3.], names=('N',), shape=(2,))
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from nameexpr.backends.numpy.floats import category, is_float
from nameexpr.dims import names_of, shape_of
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.inference.calls import shown
from nameexpr.inference.pairing import Pairing, broadcast
from nameexpr.inference.writing import check_written
from nameexpr.tensors.core import Array, Core
from nameexpr.tensors.faults import undefined
from nameexpr.tensors.generators import generator_or_default
from nameexpr.tensors.masks import Masks
from nameexpr.tensors.ops import op
from nameexpr.tensors.rules import as_operand
from nameexpr.tensors.writing import check_writeable

Generator = np.random.Generator | None


class Fills(Masks):
    """fill_, zero_, copy_, clone, and bernoulli_, normal_, uniform_ and the other distributions."""

    __slots__ = ()

    @op("fills")
    def fill_(self, value: Any) -> Self:
        """Write a number, or a 0-d tensor, cast to the dtype, into every element.

        >>> ne.tensor([1, 2]).fill_(2.7)
        tensor([2, 2], shape=(2,))
        """
        return self._write_over(self._fill_value(value, "fill_"), "fill_")

    @op("fills")
    def zero_(self) -> Self:
        """Write 0 into every element."""
        return self._write_over(np.asarray(0), "zero_")

    @op("fills")
    def copy_(self, src: Any, non_blocking: bool = False) -> Self:
        """Write another tensor, broadcast and cast to the dtype, over this one.

        >>> ne.zeros(2, 2, names="N C").copy_(ne.tensor([1, 2], names="C"))
        tensor([[1., 2.],
                [1., 2.]], names=('N', 'C'), shape=(2, 2))
        """
        source = src if isinstance(src, Core) else self._unnamed(as_operand(src, "copy_"))
        dims = broadcast(self._dims, source._dims, Pairing("copy_", "destination", "source"))
        check_written(self._dims, names_of(dims), shape_of(dims), "copy_")
        if category(source.dtype) == 3 > category(self.dtype):  # noqa: PLR2004  complex into real
            self._check_holds(source._data, "copy_")
        self._write_over(source._data, "copy_")
        self._names = names_of(dims)
        return self

    @op("keeps", extra=True)
    def clone(self, memory_format: Any = None) -> Self:
        """Return a copy."""
        return self._wrap(self._data.copy(), self._names)

    def _write_over(self, values: Array, verb: str) -> Self:
        check_writeable(self, verb)
        with np.errstate(all="ignore"):
            np.copyto(self._data, values, casting="unsafe")
        return self

    @op("keeps")
    def bernoulli(
        self, p: float | None = None, *, generator: Generator = None, out: Core | None = None
    ) -> Self:
        """Return 1 with the probability that each element says, or with probability p, and else 0.

        >>> ne.tensor([0.0, 1.0]).bernoulli()
        tensor([0., 1.], shape=(2,))
        """
        if not is_float(self.dtype) and p is None:
            raise undefined("bernoulli", (self,))
        chances = _probabilities(self._data if p is None else np.asarray(p), "bernoulli")
        drawn = generator_or_default(generator).random(self.shape) < chances
        return self._put(drawn.astype(self.dtype), self._names, "bernoulli", out)

    @op("fills")
    def bernoulli_(self, p: Any = 0.5, *, generator: Generator = None) -> Self:
        """Write 1 with probability p, a number or a tensor whose names do not matter, and else 0."""
        given = p._data if isinstance(p, Core) else np.asarray(p)
        chances = _probabilities(given, "bernoulli_")
        check_written(self._dims, self._names, np.broadcast_shapes(self.shape, chances.shape), "bernoulli_")
        return self._write_over(generator_or_default(generator).random(self.shape) < chances, "bernoulli_")

    @op("fills")
    def normal_(self, mean: float = 0, std: float = 1, *, generator: Generator = None) -> Self:
        """Write normally distributed numbers over the tensor."""
        if std < 0:
            raise out_of_range("normal_", f"std is {shown(std)}", "0 or more")
        return self._drawn("normal_", lambda rng: rng.normal(mean, std, self.shape), generator)

    @op("fills")
    def log_normal_(self, mean: float = 1, std: float = 2, *, generator: Generator = None) -> Self:
        """Write numbers whose logarithms are normally distributed over the tensor."""
        if std <= 0:
            raise out_of_range("log_normal_", f"std is {shown(std)}", "more than 0")
        return self._drawn("log_normal_", lambda rng: rng.lognormal(mean, std, self.shape), generator)

    @op("fills")
    def uniform_(
        self,
        from_: float = 0,
        to: float = 1,
        *,
        generator: Generator = None,
        **bounds: float,
    ) -> Self:
        """Write numbers that are uniformly distributed from one bound up to, without, the other.

        The first bound is called `from` in PyTorch, which is a word of Python's: `uniform_(**{"from": 2})`.
        """
        low = _renamed(bounds, "uniform_", from_)
        if low > to:
            raise out_of_range("uniform_", f"from is {shown(low)} and to is {shown(to)}", "from at most to")
        return self._drawn("uniform_", lambda rng: rng.uniform(low, to, self.shape), generator)

    @op("fills")
    def exponential_(self, lambd: float = 1, *, generator: Generator = None) -> Self:
        """Write exponentially distributed numbers of the rate lambd, whose mean is 1 / lambd."""
        if not lambd > 0:
            raise out_of_range("exponential_", f"lambd is {shown(lambd)}", "more than 0")
        return self._drawn("exponential_", lambda rng: rng.exponential(1 / lambd, self.shape), generator)

    @op("fills")
    def cauchy_(self, median: float = 0, sigma: float = 1, *, generator: Generator = None) -> Self:
        """Write numbers of the Cauchy distribution with this median and half width."""
        if not sigma > 0:
            raise out_of_range("cauchy_", f"sigma is {shown(sigma)}", "more than 0")
        return self._drawn("cauchy_", lambda rng: median + sigma * rng.standard_cauchy(self.shape), generator)

    def _drawn(self, verb: str, draw: Any, generator: Generator) -> Self:
        if not is_float(self.dtype):
            raise undefined(verb, (self,))
        return self._write_over(np.asarray(draw(generator_or_default(generator))), verb)

    @op("fills")
    def random_(
        self, from_: int = 0, to: int | None = None, *, generator: Generator = None, **bounds: int
    ) -> Self:
        """Write integers drawn evenly from a range: `random_(to)`, `random_(from, to)`, to excluded.

        Without a bound up to what the dtype holds exactly.

        >>> ne.zeros(2).random_(1)
        tensor([0., 0.], shape=(2,))
        """
        low = _renamed(bounds, "random_", from_)
        if to is None and low > 0 and not bounds:
            low, to = 0, low
        high = int(_largest(self.dtype) if to is None else to)
        if low >= high:
            raise out_of_range("random_", f"from is {shown(low)} and to is {shown(high)}", "from below to")
        drawn = generator_or_default(generator).integers(low, high, self.shape)
        return self._write_over(np.asarray(drawn), "random_")


def _renamed(bounds: dict[str, Any], verb: str, otherwise: Any) -> Any:
    """Return the bound that is called `from`, a word that no parameter of Python's can have for its name."""
    if not bounds:
        return otherwise
    if set(bounds) == {"from"}:
        return bounds["from"]
    name = next(name for name in bounds if name != "from")
    raise error(Diagnostic("NE681", f"{verb} has no argument {name!r}", hint="the bounds are from and to"))


def _largest(dtype: np.dtype[Any]) -> int:
    """Return the end of the range in which the dtype holds every integer."""
    if is_float(dtype):
        return 2 ** (np.finfo(dtype).nmant + 1) if dtype.kind == "f" else 2**8
    return 2 if dtype.kind == "b" else int(np.iinfo(dtype).max)


def _probabilities(p: Array, verb: str) -> Array:
    if p.dtype.kind not in "fiub" or not np.all((p >= 0) & (p <= 1)):
        raise out_of_range(verb, "a probability lies outside", "0 to 1")
    return p


def out_of_range(verb: str, what: str, range_: str) -> NameExprError:
    """Return the error for a parameter of a distribution that it cannot have (NE682)."""
    return error(Diagnostic("NE682", f"{verb}: {what}", hint=f"it must be {range_}"))
