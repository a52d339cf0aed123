"""Products of all elements but one, and the derivative of cumulative products: exact where elements are 0."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def products_of_others(a: Array, axes: tuple[int, ...]) -> Array:
    """Return for each element the product of the others along some axes.

    >>> products_of_others(np.array([2.0, 0.0, 5.0]), (0,))
    array([ 0., 10.,  0.])
    """
    if not axes or not a.size:
        return np.ones_like(a)
    rest = [at for at in range(a.ndim) if at not in axes]
    moved = a.transpose([*rest, *axes])
    rows = moved.reshape([*(a.shape[at] for at in rest), -1])
    ones = np.ones_like(rows[..., :1])
    before = np.multiply.accumulate(np.concatenate([ones, rows[..., :-1]], -1), axis=-1)
    after = np.multiply.accumulate(np.concatenate([ones, rows[..., :0:-1]], -1), axis=-1)[..., ::-1]
    back = np.argsort([*rest, *axes])
    return np.asarray((before * after).reshape(moved.shape).transpose(back))


def products_up_to(a: Array, g: Array, axis: int) -> Array:
    """Return the gradient of cumulative products along an axis: for each element the sum, over the products
    that contain it, of their gradients times their other factors.

    The sum over later products is a recurrence, `later[k] = g[k] + a[k+1] * later[k+1]`, so that nothing is
    divided by an element.
    """
    rows, grads = np.moveaxis(a, axis, 0), np.moveaxis(g, axis, 0)
    later = np.array(grads)
    for at in range(len(rows) - 2, -1, -1):
        later[at] += rows[at + 1] * later[at + 1]
    before = np.ones_like(later)
    np.multiply.accumulate(rows[:-1], axis=0, out=before[1:])
    return np.moveaxis(before * later, 0, axis)
