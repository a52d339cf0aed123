"""Attention in single expressions: the heads are split and merged inside the expression.

Each photograph becomes 48 patches, and each patch a vector of 64 numbers. Every patch attends to every patch
of its photograph through four heads. Nothing is trained: queries and keys are the same principal components
of the patches, so a patch attends to patches that resemble it.

Run it with `python examples/attention.py`, or cell by cell.
"""

# %% Four photographs (see data/README.md for their sources)
from __future__ import annotations

from pathlib import Path

import numpy as np

import nameexpr as ne

DATA = Path(__file__).resolve().parent / "data"
photos = np.load(DATA / "photos.npy") / 255.0  # (4, 96, 128, 3) float64: B H W C
HEADS, WIDTH = 4, 64

# %% Photographs to tokens: T counts the 16 x 16 patches, F their 16 * 16 * 3 values
patches = ne.einsum("B (y h) (x w) C -> B (y x) (h w C)", photos, h=16, w=16)

blocks = photos.reshape(4, 6, 16, 8, 16, 3)
np.testing.assert_array_equal(patches, blocks.transpose(0, 1, 3, 2, 4, 5).reshape(4, 48, 768))
print("patches   B T F   ", patches.shape)

# %% Tokens to vectors: the 64 directions in which the patches differ most
centred = patches - ne.einsum("B T F -> F : mean", patches)
samples = ne.einsum("B T F -> (B T) F", centred)
_, strengths, directions = np.linalg.svd(samples, full_matrices=False)
kept = (strengths[:WIDTH] ** 2).sum() / (strengths**2).sum()
print(f"{WIDTH} of {patches.shape[-1]} numbers keep {kept:.1%} of the variance")
assert kept > 0.98

values = ne.einsum("B T F, D F -> B T D", centred, directions[:WIDTH])
np.testing.assert_allclose(values, centred @ directions[:WIDTH].T, atol=1e-10)

# %% Queries and keys: the same vectors, scaled so that every component has the variance 1
spread = ne.einsum("B T D -> D : std", values)
queries = keys = ne.einsum("B T D, D -> B T D", values, 1 / spread)
np.testing.assert_allclose(queries, values / values.std(axis=(0, 1)))

# %% Scores: D is h heads of d numbers each, d is summed, and each head has its own Q x K table
scores = ne.einsum("B Q (h d), B K (h d) -> B h Q K", queries, keys, h=HEADS)
scores /= np.sqrt(WIDTH // HEADS)

split = queries.reshape(4, 48, HEADS, WIDTH // HEADS)
np.testing.assert_allclose(scores, np.einsum("bqhd,bkhd->bhqk", split, split) / 4.0, atol=1e-10)
print("scores    B h Q K ", scores.shape)


# %% Softmax over K, in NumPy
def softmax(x: np.ndarray) -> np.ndarray:
    """Return weights along the last axis that are positive and sum to 1."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


weights = softmax(scores)
np.testing.assert_allclose(ne.einsum("B h Q K -> B h Q : sum", weights), 1.0)

# %% Weighted sum over K, with the heads merged again. h is known from the weights, so d = 64 / 4 is inferred
attend = ne.compile("B h Q K, B K (h d) -> B Q (h d)")
mixed = attend(weights, values)

by_head = np.einsum("bhqk,bkhd->bqhd", weights, values.reshape(4, 48, HEADS, WIDTH // HEADS))
np.testing.assert_allclose(mixed, by_head.reshape(4, 48, WIDTH), atol=1e-10)
print("mixed     B Q (h d)", mixed.shape)
print(f"\nHow it is computed:\n{attend.plan(weights, values)}\n")

# %% How much does a patch attend to itself? A label that occurs twice in one input takes the diagonal
on_itself = ne.einsum("B h Q Q -> h : mean", weights)
np.testing.assert_allclose(on_itself, np.einsum("bhqq->h", weights) / (4 * 48))
assert (on_itself > 10 / 48).all(), "ten times what looking everywhere alike would give"
for head, share in enumerate(on_itself):
    print(f"head {head}: {share:.0%} of the attention stays on the patch itself, not {1 / 48:.0%}")

# %% Back to pictures: replace every patch by the mixture of the patches that it attends to
means = ne.einsum("B T F -> F : mean", patches)
mixtures = ne.einsum("B T D, D F -> B T F", mixed, directions[:WIDTH]) + means
pictures = ne.einsum("B (y x) (h w C) -> B (y h) (x w) C", mixtures, y=6, h=16, w=16)

assert pictures.shape == photos.shape
left = np.square(pictures - photos).mean() / np.square(photos - photos.mean(axis=(0, 1, 2))).mean()
print(f"the mixtures are still pictures of the same things: {1 - left:.0%} of the variance is there")
assert left < 0.25

# %% 64 numbers cannot be split into five heads; the error lists the sizes that work
try:
    ne.einsum("B Q (h d), B K (h d) -> B h Q K", queries, keys, h=5)
except ne.NameExprError as error:
    message = str(error)
else:
    raise AssertionError("64 was split among 5 heads")
assert "64" in message and "5" in message
print(f"\nFive heads:\n{message}")
