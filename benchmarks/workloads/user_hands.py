"""The expressions of group u in NumPy: the workarounds of the threads, and quicker ones that we know."""

from __future__ import annotations

import math

import numpy as np


def dot_of_all(x, y):
    return x.ravel().dot(y.ravel())


def tetrahedron(x, y, z, w):
    """Return a sum over all dims, with the first product in the layout that the second one reads."""
    pairs = np.matmul(z.reshape(-1, z.shape[2]), w.transpose(1, 0, 2))
    step = y.reshape(len(y), -1) @ pairs.reshape(-1, z.shape[1] * w.shape[2])
    return np.einsum("abc,cba->", x, step.reshape(x.shape[::-1]))


def summed_grams(x, y):
    """Return the sum of ``x[i] @ y[i].T``; BLAS takes half of the time for a matrix times itself."""
    out = np.zeros((x.shape[1], y.shape[1]), x.dtype)
    for left, right in zip(x, y, strict=True):
        out += left @ right.T
    return out


def gram_of_copy(x, y):
    left = x.transpose(1, 0, 2).reshape(x.shape[1], -1)
    right = left if x is y else y.transpose(1, 0, 2).reshape(y.shape[1], -1)
    return left @ right.T


def sandwiches_in_steps(a, x, y):
    step = np.matmul(x.transpose(0, 2, 1, 3), a.transpose(1, 0, 2, 3))
    return np.einsum("jiml,jmil->jm", step, y)


def sandwiches_of_vectors(a, x, y):
    """Return the same with products of rows and columns, so that the second step is a sum of rows."""
    step = np.matmul(x[..., None, :], a.transpose(1, 0, 2, 3)[:, None])[..., 0, :]
    return np.einsum("jmi,jmi->jm", step.reshape(*step.shape[:2], -1), y.reshape(*y.shape[:2], -1))


def sandwiches_by_loop(a, x, y):
    step = np.einsum("ijkl,jmik->jmil", a, x)
    return np.einsum("jmi,jmi->jm", step.reshape(*step.shape[:2], -1), y.reshape(*y.shape[:2], -1))


def sandwiches_with_long_rows(a, x, y):
    """Return the same through products of 3x3 with all m at once, and one dot for each place."""
    step = np.matmul(a, y.transpose(2, 0, 3, 1))
    step = np.ascontiguousarray(step.transpose(1, 3, 0, 2)).reshape(*x.shape[:2], -1, 1)
    return np.matmul(x.reshape(*x.shape[:2], 1, -1), step)[..., 0, 0]


def sandwiches_of_pairs(a, x, y):
    pairs = (x[..., :, None] * y[..., None, :]).reshape(*x.shape[:2], -1)
    return np.matmul(pairs, a.transpose(1, 0, 2, 3).reshape(a.shape[1], -1, 1))[..., 0]


def cores(*operands):
    """Contract a core with one vector for each of its dims, at every place: half of them at once."""
    *vectors, core = operands
    flat = [x.reshape(-1, x.shape[-1]) for x in vectors]
    left, right = (_outer(half) for half in (flat[: len(flat) // 2], flat[len(flat) // 2 :]))
    step = (left @ core.reshape(left.shape[1], -1)).reshape(len(left), right.shape[1], -1)
    return np.matmul(right[:, None], step).reshape(*vectors[0].shape[:-1], -1)


def _outer(vectors):
    out = vectors[0]
    for x in vectors[1:]:
        out = (out[:, :, None] * x[:, None]).reshape(len(out), -1)
    return out


def exchange(x, s, m, y, t, u, v):
    """Return the sum of three matrices' products: none of the intermediates has more than two dims."""
    left, right = (u @ x).T @ t, s.T @ (v @ y)
    left *= m
    return left.ravel().dot(right.ravel())


def exchange_by_loop(x, s, m, y, t, u, v):
    return np.einsum("pq,pq,pq->", (u @ x).T @ t, m, s.T @ (v @ y))


def exchange_of_equals(x, s, m, y, t, u, v):
    """Return the same with half of the products where the operands are the same twice, as in the thread."""
    left = (u @ x).T @ t
    right = left.T if u is v and x is y and s is t else s.T @ (v @ y)
    return np.einsum("pq,pq,pq->", left, m, right)


def clique(ab, ac, bc, ad, bd, ae, ce, de):
    first = np.matmul(ab[:, None] * bc.T, bd)
    first *= np.matmul(ae[:, None] * ce, de.T)
    return (np.matmul(ac[:, None], first)[:, 0] * ad).sum()


def clique_by_loop(ab, ac, bc, ad, bd, ae, ce, de):
    first, second = np.matmul(ab[:, None] * bc.T, bd), np.matmul(ae[:, None] * ce, de.T)
    return np.einsum("acd,acd,ac,ad->", first, second, ac, ad)


def clique_of_equals(ab, ac, bc, ad, bd, ae, ce, de):
    """Return the same by sums over c and over d, which are one product where all matrices are the same."""
    first = _corner(ac, bc, ce)
    second = first if ac is ad and bc is bd and ce is de else _corner(ad, bd, de)
    return (np.matmul(ae[:, None], (first * second).transpose(0, 2, 1))[:, 0] * ab).sum()


def _corner(x, y, z):
    """Return the sum over c of x[a c] y[b c] z[c e]."""
    return (x @ (y.T[:, :, None] * z[:, None]).reshape(len(z), -1)).reshape(len(x), len(y), -1)


def halves(gfl, egh, efj, mjk, cdn, bck, bdi, oih):
    """Contract four tensors, and the other four, which are the same ones in the thread; then both halves."""
    is_same = gfl is cdn and egh is bck and efj is bdi and mjk is oih
    first = _half(gfl, egh, efj, mjk)
    second = first if is_same else _half(cdn, bck, bdi, oih)
    (_, rows, _, columns), (_, n, _, o) = first.shape, second.shape
    left = first.transpose(1, 3, 2, 0).reshape(rows * columns, -1)
    right = second.transpose(0, 2, 1, 3).reshape(-1, n * o)
    return (left @ right).reshape(rows, columns, n, o)


def _half(gfl, egh, efj, mjk):
    """Return what four tensors give, as h l k m."""
    pairs = np.tensordot(egh, efj, (0, 0)).transpose(0, 2, 1, 3)
    step = np.tensordot(gfl, pairs, ((0, 1), (0, 1)))
    return np.tensordot(step, mjk, (2, 1)).transpose(1, 0, 3, 2)


def no_small_intermediate(x, y, z):
    i, k, left = x.shape
    first = x.transpose(1, 0, 2).reshape(k * i, left).T @ z.transpose(1, 2, 0).reshape(k * i, -1)
    return y.reshape(len(y), -1) @ first.ravel()


def winograd(back, filters, weights, forth, x):
    """Return a convolution through one product of matrices for each n."""
    w = (weights @ filters.T).transpose(2, 0, 1)
    o, c, t, h = x.shape
    tiles = (forth @ x.reshape(-1, h).T).reshape(-1, o, c, t)
    out = np.matmul(w[:, None], tiles)
    return (back @ out.reshape(len(out), -1)).reshape(-1, *out.shape[1:]).transpose(1, 2, 3, 0)


def winograd_in_batches(back, filters, weights, forth, x):
    w = np.matmul(filters, weights.transpose(0, 2, 1)).transpose(1, 0, 2)
    o, c, t, h = x.shape
    tiles = np.matmul(forth, x.transpose(0, 3, 1, 2).reshape(o, h, -1)).reshape(o, -1, c, t)
    out = np.matmul(w[:, None], tiles.transpose(1, 0, 2, 3)).transpose(1, 2, 3, 0)
    return np.matmul(out.reshape(o, -1, out.shape[3]), back.T).reshape(o, -1, t, len(back))


def winograd_by_rows(back, filters, weights, forth, x):
    w = (filters @ weights.reshape(-1, weights.shape[2]).T).reshape(-1, *weights.shape[:2])
    o, c, t, h = x.shape
    tiles = (forth @ x.reshape(-1, h).T).reshape(-1, o, c, t).transpose(0, 2, 1, 3)
    out = np.matmul(w, tiles.reshape(len(tiles), c, -1))
    out = out.reshape(len(out), -1).T @ back.T
    return out.reshape(-1, o, t, len(back)).transpose(1, 0, 2, 3)


def scaled_grams(s, j, a, b):
    return np.matmul(a * (s * j)[:, None, None], b.swapaxes(1, 2))


def scaled_grams_by_loop(s, j, a, b):
    return np.einsum("ijk,ilk->ijl", a * (s * j)[:, None, None], b)


def scaled_grams_in_columns(s, j, a, b):
    """Return the same with the long dim last, in which each pair of rows is a few products of vectors."""
    left = np.ascontiguousarray(a.transpose(1, 2, 0))
    right = left if a is b else np.ascontiguousarray(b.transpose(1, 2, 0))
    return np.einsum("jki,lki->jli", left * (s * j), right).transpose(2, 0, 1)


def scaled_grams_of_copies(s, j, a, b):
    """Return what the thread calls the quicker way: scales repeated to the shape of the matrices."""
    shape = a.shape
    count = math.prod(shape[1:])
    first, second = (np.repeat(x, count).reshape(shape) for x in (s, j))
    return first * a @ np.swapaxes(b, 1, 2) * second


def all_pairs(x, y):
    return (x[:, 0] @ y[:, 0].T)[:, None]


def tensors(x, y):
    """Return a product with nine kinds of dims in mixed order, as one matmul."""
    x = x.sum((8, 9, 10, 13, 14)).transpose(3, 5, 9, 7, 0, 2, 8, 1, 4, 6)
    y = y.sum((1, 3)).transpose(2, 6, 5, 10, 8, 9, 0, 1, 3, 4, 7)
    return _batched(x, y)


def tensors_summed_by_product(x, y):
    """Return the same; a copy with the summed dims first makes their sum a product with ones."""
    turned = np.ascontiguousarray(x.transpose(8, 9, 10, 13, 14, 0, 1, 2, 3, 4, 5, 6, 7, 11, 12))
    flat = turned.reshape(math.prod(turned.shape[:5]), -1)
    x = (np.ones(len(flat), x.dtype) @ flat).reshape(turned.shape[5:])
    x = x.transpose(3, 5, 9, 7, 0, 2, 8, 1, 4, 6)
    y = np.add.reduce(np.add.reduce(y, 1), 2).transpose(2, 6, 5, 10, 8, 9, 0, 1, 3, 4, 7)
    return _batched(x, y)


def tensors_summed_by_loop(x, y):
    x = np.einsum("kdyzBvhwcqfnbeg->zvbwkyndBh", x)
    y = np.einsum("htiAzxobvudBw->zvbwdBhixou", y)
    return _batched(x, y)


def _batched(x, y):
    """Return the products over d B h for each z v b w, with the dims of the result in its order."""
    batch, left, inner, right = x.shape[:4], x.shape[4:7], x.shape[7:], y.shape[7:]
    k = math.prod(inner)
    out = np.matmul(x.reshape(*batch, -1, k), y.reshape(*batch, k, -1)).reshape(*batch, *left, *right)
    return out.transpose(5, 3, 10, 4, 2, 6, 1, 7, 0, 8, 9)


def few_rows(x, y):
    out = x[0] * y[0]
    for row, rows in zip(x[1:], y[1:], strict=True):
        out += row * rows
    return out.T


def broadcast_dots(a, b):
    """Return products of matrices, one for each of the dims that both have and that stay."""
    right = a.transpose(1, 3, 5, 6, 7, 8, 0, 2, 4).reshape(8, 8, -1)
    out = np.matmul(b.reshape(len(b), 8, 8).transpose(1, 0, 2), right)
    return out.reshape(2, 2, 2, len(b), *a.shape[:5:2]).transpose(3, 4, 0, 5, 1, 6, 2)


def broadcast_dots_as_columns(a, b):
    """Return the same with the long dim of the second operand last."""
    left = a.transpose(1, 3, 5, 6, 7, 8, 0, 2, 4).reshape(8, 8, -1).swapaxes(1, 2)
    out = np.matmul(left, b.reshape(len(b), 8, 8).transpose(1, 2, 0))
    return out.reshape(2, 2, 2, *a.shape[:5:2], len(b)).transpose(6, 3, 0, 4, 1, 5, 2)


def broadcast_dots_by_sum(a, b):
    return (a * b[:, None, :, None, :, None, :]).sum((-3, -2, -1))


def pairs_of_columns(a, b):
    both = a * b
    return both[:, 0] + both[:, 1]


def each_column(a, b):
    out = a[:, 0] * b[:, 0]
    out += a[:, 1] * b[:, 1]
    return out


def shared_matrices(a, b):
    return np.matmul(a, b[..., 0].transpose(1, 2, 0)).transpose(2, 0, 1)[..., None]


def shared_matrices_transposed(a, b):
    return np.matmul(b[..., 0].transpose(1, 0, 2), a.swapaxes(1, 2)).transpose(1, 0, 2)[..., None]


def middle_batch(a, b):
    return np.matmul(a.transpose(1, 0, 2), b).transpose(1, 0, 2)


def middle_batch_into(a, b):
    out = np.empty((*a.shape[:2], b.shape[2]), a.dtype)
    np.matmul(a.transpose(1, 0, 2), b, out=out.transpose(1, 0, 2))
    return out


def all_dims(a, b):
    flat = a.reshape(len(a), -1).T @ b.reshape(len(b), -1)
    return flat.reshape(*a.shape[1:], *b.shape[1:])
