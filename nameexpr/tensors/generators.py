"""The generator of random numbers that is used where none is given.

Its streams are NumPy's (PCG64); PyTorch's bits cannot be reproduced. A forked child has a stream of its own:
that of the seed and of its number among the forks since the seed was set, or a new one where none was set.

>>> import nameexpr as ne
>>> generator = manual_seed(0)
>>> a = ne.rand(2)
>>> generator = manual_seed(0)
>>> a.equal(ne.rand(2))
True
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nameexpr.errors import Diagnostic, error
from nameexpr.forks import around_forks, lock
from nameexpr.rules.calls import shown
from nameexpr.tensors.ops import op


@dataclass(slots=True)
class _Default:
    """The generator of this process, made on first use: numpy.random takes as long to import as the whole of
    this package. `branch` has the numbers of the forks that led here, `forks` is the number of the latest.
    """

    generator: np.random.Generator | None = None
    seed: int | None = None
    branch: tuple[int, ...] = ()
    forks: int = 0

    def started(self) -> np.random.Generator:
        """Return the generator; of two threads that come first, the same."""
        random = np.random  # loaded before the lock is taken: a fork that has it waits for no module
        with lock:
            if self.generator is None:
                sequence = random.SeedSequence(self.seed, spawn_key=self.branch)
                self.generator = random.default_rng(sequence)
            return self.generator

    def restart(self, seed: int) -> np.random.Generator:
        """Return a new generator of a seed, which children are numbered by from now on."""
        generator = np.random.default_rng(seed)
        with lock:
            self.generator, self.seed, self.branch, self.forks = generator, seed, (), 0
        return generator

    def count_fork(self) -> None:
        """Give the next child a number."""
        self.forks += 1

    def branch_off(self) -> None:
        """Start anew in a child: the parent's stream is its own, and its generator may be locked for good."""
        self.generator, self.branch, self.forks = None, (*self.branch, self.forks), 0


_default = _Default()
around_forks(_default.count_fork, _default.branch_off)


@op("answers")
def manual_seed(seed: int) -> np.random.Generator:
    """Start the random numbers of this process from a seed, and return their generator.

    A child that is forked later has other numbers, the same ones on each run: they follow from the seed and
    from how many children were forked before it. A child that is spawned knows of no seed.

    Raises
    ------
    OptionError
        NE677, if it is not an integer.

    Examples
    --------
    >>> manual_seed(7) is generator_or_default(None)
    True
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise error(Diagnostic("NE677", f"manual_seed: a seed is an integer, not {shown(seed)}"))
    return _default.restart(int(seed) % 2**64)


def generator_or_default(generator: np.random.Generator | None) -> np.random.Generator:
    """Return the generator that is given, or else the one that `manual_seed` sets (NE680)."""
    if generator is None:
        return _default.generator or _default.started()
    if not isinstance(generator, np.random.Generator):
        message = f"generator= is a np.random.Generator, not {shown(generator)}"
        raise error(Diagnostic("NE680", message, hint="np.random.default_rng(seed) makes one"))
    return generator
