"""Products of many tiny matrices, each element for many of them at once.

BLAS takes about 50 ns for a product of 3x3 matrices, of which 27 multiplications are the smallest part. With
the batch last in memory, the C loop of `numpy.einsum` multiplies and adds long runs instead. Operands are
copied to this layout, and multiplied, a part at a time, so that the copies stay in the cache.
"""

from __future__ import annotations

import numpy as np

from nameexpr.backends.numpy.arrays import Array
from nameexpr.backends.numpy.kernels import c_einsum
from nameexpr.compiler.ir.tiny import tiny_rows


def tiny_matmul(x: Array, y: Array) -> Array:
    """Return the products of `x` (count, rows, inner) and `y` (count, inner, columns), of which there are at
    least two to add: an array (count, rows, columns) that is contiguous along its first axis.
    """
    (count, rows, inner), columns = x.shape, y.shape[2]
    result = np.empty((rows, columns, count), x.dtype)
    step = tiny_rows(count, rows, inner, columns, x.itemsize)
    if rows == columns == 1:
        _dots(x[:, 0], y[:, :, 0], result[0, 0], step)
        return result.transpose(2, 0, 1)
    is_same = _is_transposed(x, y)
    for start in range(0, count, step):
        part = slice(start, start + step)
        _multiply(x[part], None if is_same else y[part], result[..., part])
    return result.transpose(2, 0, 1)


def _multiply(x: Array, y: Array | None, out: Array) -> None:
    """Write the products of matrices, or of matrices and themselves transposed."""
    left = _batch_last(x)
    right = left.swapaxes(0, 1) if y is None else _batch_last(y)
    c_einsum("rin,icn->rcn", left, right, out=out)


def _dots(x: Array, y: Array, out: Array, step: int) -> None:
    """Write the inner products of rows, `step` at a time: all elements are multiplied, and columns added."""
    products = np.empty((step, x.shape[1]), x.dtype)
    for start in range(0, len(x), step):
        rows, total = x[start : start + step], out[start : start + step]
        terms = np.multiply(rows, y[start : start + step], out=products[: len(rows)])
        np.add(terms[:, 0], terms[:, 1], out=total)
        for column in range(2, terms.shape[1]):
            np.add(total, terms[:, column], out=total)


def _is_transposed(x: Array, y: Array) -> bool:
    """Return whether the second matrices are the first ones transposed, in the same memory."""
    if y.strides != (x.strides[0], x.strides[2], x.strides[1]) or x.shape[1] != y.shape[2]:
        return False
    return bool(x.__array_interface__["data"] == y.__array_interface__["data"])


def _batch_last(x: Array) -> Array:
    """Return an array with its first axis last, and contiguous along it."""
    turned = x.transpose(1, 2, 0)
    return turned if turned.strides[2] == turned.itemsize else turned.copy()
