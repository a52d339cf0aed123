"""PyTorch's named tensors on NumPy: names, reductions, checks, alignment, masks, attention.

This example follows PyTorch's tutorial on named tensors, with four photographs. At the end, multi-head
attention is written with methods and with expressions, and both give the same result.

Run it with `python examples/porting_named_tensors.py`, or cell by cell.
"""

# %% Four photographs and their white balance (see data/README.md for their sources)
from __future__ import annotations

from pathlib import Path

import numpy as np

import nameexpr as ne

DATA = Path(__file__).resolve().parent / "data"
array = np.load(DATA / "photos.npy")  # (4, 96, 128, 3) uint8

# %% Name the dims of a tensor when it is created, or later; the array does not change
photos = ne.from_numpy(array, names=("N", "H", "W", "C"))
assert photos.names == ("N", "H", "W", "C")
assert photos.numpy() is array
assert ne.zeros(2, 3, names="N C").names == ("N", "C"), "one string does for all names"

assert photos.rename(H="row", W="col").names == ("N", "row", "col", "C")
assert photos.rename("photo", ..., "channel").names == ("photo", "H", "W", "channel")
assert photos.rename(None).names == (None, None, None, None)
assert photos.names == ("N", "H", "W", "C"), "rename gives a view, and rename_ would have changed this one"

# %% refine_names names unnamed dims and never changes a name: use it to declare what a function expects
plain = ne.from_numpy(array)
assert plain.refine_names(..., "C").names == (None, None, None, "C")
assert plain.refine_names("N", "H", "W", "C").refine_names(..., "W", "C").names == photos.names

try:
    photos.refine_names("N", "C", "H", "W")
except ne.DimNameError as error:
    misread = str(error)
else:
    raise AssertionError("a dim called H was taken for channels")
assert "'H'" in misread and "'C'" in misread
print(f"The wrong layout:\n{misread}\n")

# %% Dims by name: sizes, parts, reductions. The remaining names describe the result
assert photos.size("C") == 3
red = photos.select("C", 0)
colours = photos.mean(["H", "W"], dtype=np.float64)
assert red.names == ("N", "H", "W") and colours.names == ("N", "C")
np.testing.assert_array_equal(red, array[..., 0])
np.testing.assert_allclose(colours, array.mean(axis=(1, 2)))
brightest = photos.max("C").values
assert brightest.names == ("N", "H", "W")
print("red", red.names, " colours", colours.names, colours.shape)

# %% Names are checked when tensors are combined, from the right, and a name takes precedence over None
offset = ne.tensor([10.0, 20.0, 30.0], names="C")
unnamed = ne.ones(4, 96, 128, 3)
assert (photos + offset).names == photos.names == (unnamed + photos).names

try:
    photos + offset.rename(C="W")
except ne.DimNameError as error:
    crossed = str(error)
else:
    raise AssertionError("channels were added to columns")
assert "'C'" in crossed and "'W'" in crossed
print(f"Two dims that do not belong together:\n{crossed}\n")


# %% One scale, three layouts: the function only needs to know the channel
def scale_channels(x: ne.NamedTensor, scale: ne.NamedTensor) -> ne.NamedTensor:
    """Return x with every channel multiplied by its factor, in the layout of x."""
    return x * scale.refine_names("C").align_as(x)


scale = ne.from_numpy(np.load(DATA / "channel_scale.npy"))  # (3,) float32
last = photos
first = photos.align_to("N", "C", "H", "W")
strip = first.select("H", 48)  # the middle row of every photograph: N C W
for x in (last, first, strip):
    scaled = scale_channels(x, scale)
    assert scaled.names == x.names
    np.testing.assert_allclose(scaled.align_to(..., "C"), x.align_to(..., "C").numpy() * scale.numpy())
    np.testing.assert_allclose(scaled, ne.einsum(f"{' '.join(x.names)}, C -> {' '.join(x.names)}", x, scale))
    print("scaled", scaled.names, scaled.shape)
assert np.shares_memory(first.numpy(), array), "align_to gives a view"

# %% Moving and merging dims by name, where view and permute take numbers
features = first.flatten(["C", "H", "W"], "features")
assert features.names == ("N", "features")
again = features.unflatten("features", [("C", 3), ("H", 96), ("W", 128)])
assert again.equal(first)
assert photos.align_to("C", ..., "N").names == ("C", "H", "W", "N")

# %% A mask by name: the dark pixels of the retina's frame become grey in all three channels
dark = photos.amax("C") < 16  # N H W
masked = photos.masked_fill(dark.align_as(photos), 128)
assert masked.names == photos.names
np.testing.assert_array_equal(masked, np.where((array.max(axis=3) < 16)[..., None], 128, array))
share = dark.mean(["H", "W"], dtype=np.float64)
print(f"dark pixels: {share[3].item():.0%} of the retina, {share[2].item():.0%} of the coffee")
assert share[3] > 0.1 > share[2]

corners = ne.from_numpy(array[3, ..., 0].T.copy(), names="W H") < 16  # the retina's, and W before H
np.testing.assert_array_equal(
    photos.masked_fill(corners.align_as(photos), 0),
    np.where((array[3, ..., 0] < 16)[None, ..., None], 0, array),
)

# %% Attention: every patch of a photograph attends to every patch, through four heads
HEADS = 4
pixels = photos.rename(N="B").to(ne.float64) / 255
blocks = pixels.unflatten("H", "y h=16").unflatten("W", "x w=16")  # B y h x w C
patches = blocks.align_to("B", "y", "x", ...).flatten(["y", "x"], "T").flatten(["h", "w", "C"], "F")
tokens = patches - patches.mean(["B", "T"])
assert (tokens.names, tokens.shape) == (("B", "T", "F"), (4, 48, 768))

# Nothing is trained: three random projections of 768 numbers to 32 stand in for trained ones.
rng = np.random.default_rng(0)
weights = [ne.from_numpy(rng.normal(size=(768, 32)) / 768**0.5, names="F D") for _ in range(3)]
queries, keys, values = (tokens @ weight for weight in weights)
queries, keys, values = queries.rename(T="Q"), keys.rename(T="K"), values.rename(T="K")
blank = (patches.mean("F") < 0.1).rename(T="K")  # B K: patches that are almost black are masked
assert blank.any() and not blank.all("K").any()


# %% With methods: dims are split, aligned and merged by name
def attention_by_methods() -> tuple[ne.NamedTensor, ne.NamedTensor]:
    """Return the weights (B, h, Q, K) and the mixed values (B, Q, D)."""

    def heads(x: ne.NamedTensor) -> ne.NamedTensor:
        return x.unflatten("D", [("h", HEADS), ("d", -1)]).align_to("B", "h", ..., "d")

    q, k, v = heads(queries), heads(keys), heads(values)
    scores = q.matmul(k.align_to(..., "d", "K")) / q.size("d") ** 0.5
    weights = scores.masked_fill(blank.align_as(scores), -np.inf).softmax("K")
    mixed = weights.matmul(v)
    return weights, mixed.align_to("B", "Q", "h", "d").flatten(["h", "d"], "D")


# %% With expressions: the heads are split and merged inside the expressions
def attention_by_expressions() -> tuple[ne.NamedTensor, ne.NamedTensor]:
    """Return the same."""
    scores = ne.einsum("B Q D=(h d), B K D=(h d) -> B h Q K", queries, keys, h=HEADS) / (32 / HEADS) ** 0.5
    weights = ne.where(blank.align_as(scores), -np.inf, scores).softmax("K")
    return weights, ne.einsum("B h Q K, B K D=(h d) -> B Q D=(h d)", weights, values)


# %% Both give the same values and names, and the same as NumPy without names
looks, mixed = attention_by_methods()
for ours, other in zip((looks, mixed), attention_by_expressions(), strict=True):
    assert ours.names == other.names
    np.testing.assert_allclose(ours, other, atol=1e-12)

q, k, v = (x.numpy().reshape(4, 48, HEADS, 8) for x in (queries, keys, values))
powers = np.exp(np.einsum("bqhd,bkhd->bhqk", q, k) / 8**0.5) * ~blank.numpy()[:, None, None, :]
by_hand = powers / powers.sum(axis=-1, keepdims=True)
np.testing.assert_allclose(looks, by_hand, atol=1e-12)
np.testing.assert_allclose(mixed, np.einsum("bhqk,bkhd->bqhd", by_hand, v).reshape(4, 48, 32), atol=1e-12)

assert looks.names == ("B", "h", "Q", "K") and mixed.names == ("B", "Q", "D")
np.testing.assert_allclose(looks.sum("K"), 1.0)
assert looks.masked_select(blank.align_as(looks)).eq(0).all(), "no patch looks at a blank one"
print("attention", looks.names, "->", mixed.names, mixed.shape, f" {blank.sum().item()} patches masked")
