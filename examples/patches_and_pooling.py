"""Cut photographs into patches, join them again, and pool them, with checked shapes.

A group `(y h)` means that one dim is y blocks of h. Cutting, joining, pooling and enlarging are then the same
expression with the groups in different places.

Run it with `python examples/patches_and_pooling.py`, or cell by cell.
"""

# %% Four photographs (see data/README.md for their sources)
from pathlib import Path

import numpy as np

import nameexpr as ne

DATA = Path(__file__).resolve().parent / "data"
photos = np.load(DATA / "photos.npy")  # (4, 96, 128, 3) uint8: N H W C
scale = np.load(DATA / "channel_scale.npy")  # (3,) float32: C

# %% An expression without an arrow is an assertion. It returns all sizes, including inferred ones
sizes = ne.check("N (y h) (x w) C=3", photos, h=16, w=16)
assert dict(sizes) == {"N": 4, "y": 6, "h": 16, "x": 8, "w": 16, "C": 3}
print("sizes:", dict(sizes))

try:
    ne.check("N (y h) (x w) C=3", photos, h=36, w=16)
except ne.NameExprError as error:
    message = str(error)
else:
    raise AssertionError("96 rows were cut into blocks of 36")
assert "96" in message and "36" in message
print(f"\nBlocks of 36 rows:\n{message}\n")

# %% Cut: the grid of patches becomes one dim, and the pixels of a patch another
patches = ne.einsum("N (y h) (x w) C -> N (y x) (h w C)", photos, h=16, w=16)

blocks = photos.reshape(4, 6, 16, 8, 16, 3)
np.testing.assert_array_equal(patches, blocks.transpose(0, 1, 3, 2, 4, 5).reshape(4, 48, 768))
print("patches", patches.shape, patches.dtype)

# %% Join: the same expression in reverse, with the sizes that cannot be inferred
joined = ne.einsum("N (y x) (h w C) -> N (y h) (x w) C", patches, y=6, h=16, w=16)
np.testing.assert_array_equal(joined, photos)

# %% A contact sheet: N is r rows of c photographs
sheet = ne.einsum("(r c) H W C -> (r H) (c W) C", photos, r=2)
np.testing.assert_array_equal(sheet, np.vstack([np.hstack(photos[:2]), np.hstack(photos[2:])]))
print("contact sheet", sheet.shape)

# %% Pool: the pixels of a block are dropped, and the reducer after ':' combines them
windows = photos.reshape(4, 24, 4, 32, 4, 3)
means = ne.einsum("N (y h) (x w) C -> N y x C : mean", photos, h=4, w=4)
peaks = ne.einsum("N (y h) (x w) C -> N y x C : max", photos, h=4, w=4)

np.testing.assert_allclose(means, windows.mean(axis=(2, 4)))
np.testing.assert_array_equal(peaks, windows.max(axis=(2, 4)))
assert means.dtype == np.float64 and peaks.dtype == np.uint8
print("pooled", means.shape, "means", means.dtype, "peaks", peaks.dtype)

# %% Where is the brightest block? argmax over two dims counts them in row-major order
light = ne.einsum("N y x C -> N y x : mean", means)
brightest = ne.einsum("N y x -> N : argmax", light)
np.testing.assert_array_equal(brightest, light.reshape(4, -1).argmax(axis=1))
rows, columns = np.unravel_index(brightest, (24, 32))
for name, row, column in zip(["astronaut", "cat", "coffee", "retina"], rows, columns):
    print(f"brightest block of the {name:9}  row {row:2}  column {column:2}")

# %% Enlarge: labels that only the output has repeat
enlarged = ne.einsum("N y x C -> N (y h) (x w) C", peaks, h=4, w=4)
np.testing.assert_array_equal(enlarged, peaks.repeat(4, axis=1).repeat(4, axis=2))
assert (enlarged >= photos).all()

# %% Sums of small integers: they are widened before they are multiplied. numpy.einsum wraps around at 256
moments = ne.einsum("N H W C, N H W D -> C D", photos, photos)
wide = photos.reshape(-1, 3).astype(np.int64)
np.testing.assert_array_equal(moments, wide.T @ wide)
wrapped = np.einsum("nhwc,nhwd->cd", photos, photos)
assert wrapped.dtype == np.uint8 and (wrapped != moments).all()
print("sum of red * red:", moments[0, 0], " with numpy.einsum:", wrapped[0, 0])

# %% Diagonals: a label that occurs twice in an input reads one, twice in the output writes one
np.testing.assert_array_equal(ne.einsum("C C -> C", moments), np.diag(moments))
assert ne.einsum("C C ->", moments) == np.trace(moments)

balance = ne.einsum("C -> C C", scale)
np.testing.assert_array_equal(balance, np.diag(scale))
mixed = ne.einsum("N H W C, C D -> N H W D", photos, balance)
np.testing.assert_allclose(mixed, photos * scale, rtol=1e-6)
print("the white balance as a matrix:", balance.shape, "->", mixed.shape, mixed.dtype)
