"""Softmax and its logarithm along one axis, of floating arrays.

The largest value is subtracted before exp, which then cannot overflow. Narrow floats are summed in float32,
as PyTorch does. A slice that holds nan or inf, or nothing but -inf, has no softmax: all of it is nan.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nameexpr.backends.numpy.floats import native, widened

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]


@np.errstate(all="ignore")
def softmax(x: Array, axis: int) -> Array:
    """Return exp(x) over its sum along the axis.

    Examples
    --------
    >>> softmax(np.array([0.0, 0.0, -np.inf]), 0)
    array([0.5, 0.5, 0. ])
    """
    powers = _shifted(x, axis)
    np.exp(powers, out=powers)
    powers /= np.add.reduce(powers, axis=axis, keepdims=True)
    return powers.astype(native(x.dtype), copy=False)


@np.errstate(all="ignore")
def log_softmax(x: Array, axis: int) -> Array:
    """Return the logarithm of softmax, finite even where softmax itself would round to 0.

    Examples
    --------
    >>> log_softmax(np.array([0.0, -1000.0]), 0)
    array([    0., -1000.])
    """
    shifted = _shifted(x, axis)
    shifted -= np.log(np.add.reduce(np.exp(shifted), axis=axis, keepdims=True))
    return shifted.astype(native(x.dtype), copy=False)


def _shifted(x: Array, axis: int) -> Array:
    """Return a fresh array of x minus its largest along the axis, in float32 at least."""
    wide = widened(x)
    return np.asarray(wide - np.maximum.reduce(wide, axis=axis, keepdims=True, initial=-np.inf))
