"""Attention as one formula: each patch of a photograph attends to the patches before it.

Cutting into patches, the projections of four heads, the mask, the softmax and merging the heads are eight
statements. Nothing is trained: random projections stand in for trained ones. The same is then computed with
NumPy.

Run it with `python examples/formula_attention.py`, or cell by cell.
"""

# %% Four photographs (see data/README.md for their sources) and the projections of four heads
from __future__ import annotations

from pathlib import Path

import numpy as np

import nameexpr as ne

DATA = Path(__file__).resolve().parent / "data"
photos = np.load(DATA / "photos.npy")  # (4, 96, 128, 3) uint8

HEADS, WIDTH = 4, 8
rng = np.random.default_rng(0)
wq, wk, wv = (rng.normal(size=(768, HEADS, WIDTH)) / 8 for _ in range(3))

# %% The formula. A group on the left merges dims, and a statement with a term can be used under other labels
FORMULA = """
    patches[B (y x) (h w C)] = photos[B (y h) (x w) C] / 255        # 48 patches of 768 numbers
    tokens[B T F] = patches[B T F] - mean[B T](patches[B T F])

    q[B H T D] = sum[F](tokens * wq[F H D])
    k[B H T D] = sum[F](tokens * wk[F H D])
    v[B H T D] = sum[F](tokens * wv[F H D])

    s = sum[D](q[B H Q D] * k[B H K D]) / sqrt(size[D])
    p[B H Q K] = softmax[K](where(index[Q] >= index[K], s, -inf))   # no patch attends to a later one
    o[B Q (H D)] = sum[K](p * v[B H K D])
"""
attend = ne.compile(FORMULA, outputs=("tokens", "p", "o"), sizes={"h": 16, "w": 16})
operands = {"photos": photos, "wq": wq, "wk": wk, "wv": wv}
tokens, p, o = attend(**operands)
print("tokens", tokens.shape, " p", p.shape, " o", o.shape)

# %% The same in NumPy, where every step gives axes by number
blocks = photos.reshape(4, 6, 16, 8, 16, 3).transpose(0, 1, 3, 2, 4, 5).reshape(4, 48, 768) / 255
centred = blocks - blocks.mean(axis=(0, 1))
np.testing.assert_allclose(tokens, centred, atol=1e-12)

queries, keys, values = (np.einsum("btf,fhd->bhtd", centred, w) for w in (wq, wk, wv))
scores = queries @ keys.transpose(0, 1, 3, 2) / np.sqrt(WIDTH)
powers = np.exp(scores - scores.max(axis=-1, keepdims=True)) * np.tri(48)
weights = powers / powers.sum(axis=-1, keepdims=True)
np.testing.assert_allclose(p, weights, atol=1e-12)

by_hand = (weights @ values).transpose(0, 2, 1, 3).reshape(4, 48, HEADS * WIDTH)
np.testing.assert_allclose(o, by_hand, atol=1e-12)
print("the same as by hand")

# %% Check the mask: rows sum to 1, no patch looks ahead, and the first patch attends only to itself
np.testing.assert_allclose(p.sum(axis=-1), 1.0)
assert (p[..., np.triu(np.ones((48, 48), dtype=bool), k=1)] == 0).all()
assert (p[:, :, 0, 0] == 1).all()

# %% Entropy of the weights, as a separate formula. 0 * log(0) is defined as 0
ENTROPY = "mean[B H](-sum[K](where(p[B H Q K] > 0, p * log(maximum(p, 1e-300)), 0)))"
entropy = ne.evaluate(ENTROPY, p=p)
assert entropy.shape == (48,) and entropy[0] == 0
assert (entropy <= np.log(np.arange(1, 49)) + 1e-9).all(), "never more than looking everywhere alike"
print(f"the last patch looks at {np.exp(entropy[-1]):.0f} of 48 patches")

# %% How it is computed: the sums over D and K are matrix products, and no array has the dims B H Q K D
plan = attend.plan(**operands)
assert attend.code.count("matmul") >= 2
assert max(step.bytes for step in plan.steps) < p.nbytes * WIDTH
print(f"{len(plan.steps)} steps, {plan.peak_bytes / 1e6:.1f} MB at the peak")
