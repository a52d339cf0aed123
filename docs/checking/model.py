"""A file with four mistakes, for docs/checking.md."""

import numpy as np

import nameexpr as ne

SCORES = "B Q D, B K D -> B Q K : sum"


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the values, weighted by how well their keys fit."""
    weights = ne.evaluate(
        """
        s[B Q K] = sum[D](q[B Q D] * k[B K D])
        softmax[C](s)  # no dim C
        """,
        q=q,
        k=k,
    )
    return ne.einsum("B Q K, B K D -> B Q D : sun", weights, v)


def heads(x: np.ndarray) -> np.ndarray:
    """Return what each head scores."""
    merged = ne.einsum("B T (h d) -> B h T d", x, heads=8)
    return ne.einsum(SCORES, merged)
