"""A convolutional network reads handwritten digits: padding, windows, pooling and look-ups as formulas.

The first layer looks for edges in eight directions. The second one compares what it finds with the mean of
each digit, over the first 60 images; the other 40 test it. Nothing is trained by gradients, so every number
can be followed.

Run it with `python examples/digits_convolution.py`, or cell by cell.
"""

# %% A hundred digits of 8 x 8 pixels from 0 to 16, and their labels
from __future__ import annotations

from pathlib import Path

import numpy as np

import nameexpr as ne

DATA = Path(__file__).resolve().parent / "data"
with np.load(DATA / "digits.npz") as stored:
    images, labels = stored["images"] / 16.0, stored["labels"].astype(int)  # N y x, and N
TRAINED = 60

# %% Eight kernels of 3 x 3: the slope in eight directions, computed from the indices of the window
KERNELS = """
    angle[K] = 2 * pi * index[K] / size[K]
    kernel[K i j] = cos(angle) * (index[j] - 1) + sin(angle) * (index[i] - 1)
"""
kernels = ne.evaluate(KERNELS, sizes={"K": 8, "i": 3, "j": 3})
assert kernels.shape == (8, 3, 3)
np.testing.assert_allclose(kernels[0], [[-1, 0, 1]] * 3, atol=1e-15)

# %% The layer: a frame of zeros, a sum over windows, a nonlinearity, and the largest of each 4 x 4 window
LAYER = """
    p[N (1 + y + 1) (1 + x + 1)] = image[N y x]
    edge[N y x K] = relu(sum[i j](p[N _@(y + i) _@(x + j)] * kernel[K i j]))
    feature[N v u K] = max[a b](edge[N _@(2*v + a) _@(2*u + b) K])
"""
layer = ne.compile(LAYER, outputs=("edge", "feature"), sizes={"a": 4, "b": 4})
edge, feature = layer(image=images, kernel=kernels)
print(f"edges {edge.shape}  features {feature.shape}")

# %% The same in NumPy
windows = np.lib.stride_tricks.sliding_window_view
framed = np.pad(images, ((0, 0), (1, 1), (1, 1)))
by_hand = np.maximum(np.einsum("nyxij,kij->nyxk", windows(framed, (3, 3), (1, 2)), kernels), 0)
np.testing.assert_allclose(edge, by_hand, atol=1e-12)
np.testing.assert_allclose(feature, windows(edge, (4, 4), (1, 2))[:, ::2, ::2].max(axis=(4, 5)))

# %% The mean features of each digit: a sum by label. `(n + _)` reads the first n images
MEANS = """
    mine[n digit] = label[(n + _)] == index[digit]
    centre[digit v u K] = sum[n](mine * feature[(n + _) v u K]) / sum[n](mine)
"""
centre = ne.evaluate(MEANS, feature=feature, label=labels, sizes={"n": TRAINED, "digit": 10})
for digit in range(10):
    np.testing.assert_allclose(centre[digit], feature[:TRAINED][labels[:TRAINED] == digit].mean(axis=0))

# %% Every image is the digit whose mean is nearest; the loss reads the score of the correct one
READ = """
    score[N digit] = -sum[v u K]((feature[N v u K] - centre[digit v u K]) ** 2)
    read = argmax[digit](score)
    logs[N digit] = log_softmax[digit](score)
    loss = -mean[N](logs[N digit@label[N]])
    right = mean[N](read == label[N])
"""
reader = ne.compile(READ, outputs=("read", "loss", "right"))
for name, part in (("used for the means", slice(TRAINED)), ("not seen before", slice(TRAINED, None))):
    read, loss, right = reader(feature=feature[part], centre=centre, label=labels[part])
    print(f"{name:18}  {right:.0%} of {len(read)} right, loss {loss:.2f}")
assert right > 0.8, "of the digits that were not seen before"

# %% The second guess: of each image the digit with the second largest score
SECOND = """
    score[N digit] = -sum[v u K]((feature[N v u K] - centre[digit v u K]) ** 2)
    order[N digit] = argsort[digit](-score[N digit])
    mean[N]((order[N _@0] == label[N]) | (order[N _@1] == label[N]))
"""
either = ne.evaluate(SECOND, feature=feature[TRAINED:], centre=centre, label=labels[TRAINED:])
print(f"the first or the second guess is right for {either:.0%}")
assert either >= right
