"""Scale the channels of photographs: one expression for each layout, and the errors for mistakes.

White balance multiplies each colour channel by its own factor. In NumPy the factors first need dims of size 1
that depend on the layout; here the expression names the channel dim.

Run it with `python examples/scale_channels.py`, or cell by cell.
"""

# %% Four real photographs and their white balance (see data/README.md for their sources)
from __future__ import annotations

from pathlib import Path

import numpy as np

import nameexpr as ne

DATA = Path(__file__).resolve().parent / "data"
photos = np.load(DATA / "photos.npy")  # (4, 96, 128, 3) uint8: N H W C
scale = np.load(DATA / "channel_scale.npy")  # (3,) float32: C
print("photos", photos.shape, photos.dtype, " scale", scale)

# %% The factors are matched with the channels by name
balanced = ne.einsum("N H W C, C -> N H W C", photos, scale)

assert balanced.dtype == np.float32
np.testing.assert_allclose(balanced, photos * scale, rtol=1e-6)

# %% Three layouts: only the order of the labels changes
channels_first = ne.einsum("N H W C -> N C H W", photos)
photos_last = ne.einsum("N H W C -> H W C N", photos)
first = ne.einsum("N C H W, C -> N C H W", channels_first, scale)
last = ne.einsum("H W C N, C -> H W C N", photos_last, scale)

np.testing.assert_allclose(first, channels_first * scale[:, None, None], rtol=1e-6)
np.testing.assert_allclose(last, photos_last * scale[:, None], rtol=1e-6)
assert np.shares_memory(channels_first, photos), "a pure rearrangement is a view"
print("one scale, three layouts:", balanced.shape, first.shape, last.shape)

# %% Means: dropped dims are averaged by the reducer after ':'
colours = ne.einsum("N H W C -> N C : mean", photos)
np.testing.assert_allclose(colours, photos.mean(axis=(1, 2)))
for name, colour in zip(["astronaut", "cat", "coffee", "retina"], colours):
    print(f"mean colour of the {name:9}  red {colour[0]:5.1f}  green {colour[1]:5.1f}  blue {colour[2]:5.1f}")

world = ne.einsum("N H W C -> C : mean", photos)
np.testing.assert_allclose(scale, world.mean() / world, rtol=1e-6)
grey = ne.einsum("N H W C -> C : mean", balanced.astype(np.float64))
np.testing.assert_allclose(grey, world.mean(), rtol=1e-5)
print(f"after the balance every channel has the mean {world.mean():.1f}")

# %% A separate balance for each photograph: add N to the term of the factors instead of None to an index
gains = ne.einsum("N C -> N : mean", colours)[:, None] / colours
each = ne.einsum("N H W C, N C -> N H W C", photos, gains)
np.testing.assert_allclose(each, photos * gains[:, None, None, :])

# %% Luma: C is in both inputs and not in the output, so it is summed
rec601 = np.array([0.299, 0.587, 0.114])
luma = ne.einsum("N H W C, C -> N H W", photos, rec601)
np.testing.assert_allclose(luma, photos @ rec601)
print("luma", luma.shape, f"from {luma.min():.0f} to {luma.max():.0f}")


# %% A misspelt label is an error. numpy.einsum would silently multiply by the sum of the factors
def complaint(text: str, *arrays: np.ndarray | ne.NamedTensor) -> str:
    """Return the error message for a mistake."""
    try:
        ne.einsum(text, *arrays)
    except ne.NameExprError as error:
        return str(error)
    raise AssertionError(f"{text!r} was accepted")


silent = np.einsum("nhwc,k->nhwc", photos, scale)
np.testing.assert_allclose(silent, photos * scale.sum(), rtol=1e-5)

misspelt = complaint(  # nameexpr: ignore[NE217]
    "photo row col chan, chann -> photo row col chan", photos, scale
)
assert "chann" in misspelt
print(f"\nA misspelt label:\n{misspelt}")

# %% A factor for the wrong dim is an error, too
mistaken = complaint("N H W C, W -> N H W C", photos, scale)
assert "W" in mistaken and "128" in mistaken and "3" in mistaken
print(f"\nThe wrong dim:\n{mistaken}")

# %% A NamedTensor knows its own layout: a term that does not match it is an error, too
named = ne.tensor(photos, names="N H W C")
factors = ne.tensor(scale, names="C")
result = ne.einsum("N H W C, C -> N H W C", named, factors)

assert tuple(result.names) == ("N", "H", "W", "C")
np.testing.assert_array_equal(result.numpy(), balanced)

misread = complaint("N C H W, C -> N C H W", named, factors)
print(f"\nThe wrong layout:\n{misread}")

# %% If the inputs are left out, the names of the tensors are the terms
moved = ne.einsum("-> N C H W", named)
assert tuple(moved.names) == ("N", "C", "H", "W")
np.testing.assert_array_equal(moved.numpy(), channels_first)
np.testing.assert_array_equal(ne.einsum("-> N C H W", named, factors).numpy(), first)
print("\nmoved", tuple(moved.names), tuple(moved.shape))
