"""K-means on the pixels of a photograph: six colours that represent all of them.

One step of k-means computes the distance from every pixel to every colour, the nearest colour, and the
means of the pixels assigned to each colour. It takes five statements, and the table of differences (pixels
by colours by channels) is never built.

Run it with `python examples/kmeans_pixels.py`, or cell by cell.
"""

# %% A photograph of a cup of coffee (see data/README.md for its source)
from __future__ import annotations

from pathlib import Path

import numpy as np

import nameexpr as ne

DATA = Path(__file__).resolve().parent / "data"
photo = np.load(DATA / "photos.npy")[2] / 255.0  # (96, 128, 3): H W C
pixels = photo.reshape(-1, 3)  # (12288, 3): N C
COLOURS = 6

# %% One step. `nearest == index[K]` says whether pixel N belongs to colour K: no loop, no index array;
# the sums over the pixels of each colour do not compare every pixel with every colour
STEP = """
    d[N K] = sum[C]((x[N C] - colour[K C]) ** 2)
    nearest = argmin[K](d)
    mine = nearest == index[K]
    moved[K C] = sum[N](where(mine, x, 0)) / sum[N](mine)
    spread = mean[N](min[K](d))
"""
step = ne.compile(STEP, outputs=("moved", "nearest", "spread"))

# %% Start with pixels of six brightnesses, and repeat until the colours no longer change
order = pixels.sum(axis=1).argsort(kind="stable")
colours = pixels[order[np.linspace(0, len(order) - 1, 2 * COLOURS + 1).astype(int)[1::2]]]
spreads = []
for _ in range(200):
    moved, nearest, spread = step(x=pixels, colour=colours)
    spreads.append(float(spread))
    if np.abs(moved - colours).max() < 1e-6:
        break
    colours = moved
assert np.all(np.diff(spreads) <= 1e-12), "no step makes it worse"
assert len(spreads) < 200
print(f"the mean squared distance falls from {spreads[0]:.4f} to {spreads[-1]:.4f}")
assert spreads[-1] < 0.7 * spreads[0]

# %% The same step in NumPy, with the table of N x K x C differences
by_hand = np.square(pixels[:, None, :] - colours[None, :, :]).sum(axis=2)
np.testing.assert_array_equal(nearest, by_hand.argmin(axis=1))
np.testing.assert_allclose(spread, by_hand.min(axis=1).mean())
for number in range(COLOURS):
    np.testing.assert_allclose(moved[number], pixels[nearest == number].mean(axis=0))

# %% Finally every pixel is nearest to the mean of its own cluster: within and between add up to the total
PARTS = """
    mine = nearest[N] == index[K]
    count = sum[N](mine)
    within = sum[N K C](mine * (x[N C] - colour[K C]) ** 2)
    between = sum[K C](count * (colour - mean[N](x)) ** 2)
    whole = sum[N C]((x - mean[N](x)) ** 2)
"""
parts = {"outputs": ("count", "within", "between", "whole"), "x": pixels, "nearest": nearest, "colour": moved}
count, within, between, whole = ne.evaluate(PARTS, **parts)
assert count.sum() == len(pixels) and (count > 0).all()
np.testing.assert_allclose(within + between, whole)
print(f"six colours explain {between / whole:.0%} of the variance of {len(pixels)} pixels")
for share, colour in sorted(zip(count / len(pixels), moved), key=lambda pair: -pair[0]):
    print(f"  {share:4.0%}  #{''.join(f'{round(255 * value):02x}' for value in colour)}")

# %% The picture again: each pixel has the colour of its cluster, which is read at the number of the cluster
PAINT = "colour[K@nearest[(H W)] C]"
picture = ne.evaluate(PAINT, nearest=nearest, colour=moved, sizes={"W": 128})
np.testing.assert_allclose(picture, moved[nearest].reshape(96, 128, 3))
assert np.square(picture - photo).sum(axis=2).mean() <= spreads[-1] + 1e-9

# %% Distances between 3,000 pixels, in less memory than the table of differences would need
few = pixels[::4][:3000]
distances = ne.evaluate("sum[C]((x[i C] - x[j C]) ** 2)", x=few, memory_limit=100_000_000)
assert distances.shape == (3000, 3000) and (np.diagonal(distances) == 0).all()
np.testing.assert_allclose(distances[7], np.square(few - few[7]).sum(axis=1), atol=1e-12)
size = distances.nbytes // 10**6
print(f"{size} MB of distances, where the differences would be {3 * size} MB")
