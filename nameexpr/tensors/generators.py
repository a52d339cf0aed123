"""The generator of random numbers that is used where none is given.

Its streams are NumPy's (PCG64); PyTorch's bits cannot be reproduced.

>>> import nameexpr as ne
>>> generator = manual_seed(0)
>>> a = ne.rand(2)
>>> generator = manual_seed(0)
>>> a.equal(ne.rand(2))
True
"""

from __future__ import annotations

import numpy as np

from nameexpr.errors import Diagnostic, error
from nameexpr.inference.calls import shown
from nameexpr.tensors.ops import op

# Made on first use: numpy.random takes as long to import as the whole of this package.
_current: list[np.random.Generator] = []


@op("answers")
def manual_seed(seed: int) -> np.random.Generator:
    """Start the random numbers of this process from a seed, and return their generator.

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
    _current[:] = [np.random.default_rng(int(seed) % 2**64)]
    return _current[0]


def generator_or_default(generator: np.random.Generator | None) -> np.random.Generator:
    """Return the generator that is given, or else the one that `manual_seed` sets (NE680)."""
    if generator is None:
        if not _current:
            _current.append(np.random.default_rng())
        return _current[0]
    if not isinstance(generator, np.random.Generator):
        message = f"generator= is a np.random.Generator, not {shown(generator)}"
        raise error(Diagnostic("NE680", message, hint="np.random.default_rng(seed) makes one"))
    return generator
