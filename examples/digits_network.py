"""A network of two layers reads handwritten digits: forward pass, loss and mistakes as formulas.

The digits are real. The weights were trained on the first 60 of them (see data/README.md), and the other 40
test the network. Image rows and columns stay two dims: nothing is flattened.

Run it with `python examples/digits_network.py`, or cell by cell.
"""

# %% A hundred digits of 8 x 8 pixels from 0 to 16, their labels, and the weights
from __future__ import annotations

from pathlib import Path

import numpy as np

import nameexpr as ne

DATA = Path(__file__).resolve().parent / "data"
with np.load(DATA / "digits.npz") as stored:
    images, labels = stored["images"], stored["labels"]  # (100, 8, 8) uint8: N y x, and (100,) uint8: N
with np.load(DATA / "digits_network.npz") as stored:
    weights = {name: stored[name] for name in ("w1", "b1", "w2", "b2")}
TRAINED = 60

print("the first digits, as they were written:")
for row in np.concatenate(images[:5], axis=1):
    print("   ", "".join(" .:#@"[value // 4] for value in row).rstrip())

# %% The forward pass. `index[K] == truth` is 1 for the correct digit
FORWARD = """
    pixel = image[N y x] / 16
    hidden[N H] = relu(sum[y x](pixel * w1[y x H]) + b1[H])
    score[N K] = sum[H](hidden * w2[H K]) + b2[K]

    digit = argmax[K](score)
    loss = -mean[N](sum[K](log_softmax[K](score) * (index[K] == truth[N])))
    right = mean[N](digit == truth)
"""
forward = ne.compile(FORWARD, outputs=("digit", "loss", "right"))
print(f"w1 {weights['w1'].shape}  w2 {weights['w2'].shape}")
for name, part in (("seen in training", slice(TRAINED)), ("not seen before", slice(TRAINED, None))):
    digit, loss, right = forward(image=images[part], truth=labels[part], **weights)
    print(f"{name:16}  {right:.0%} of {len(digit)} right, loss {loss:.2f}")
assert right >= 0.9, "of the digits that were not seen in training"

# %% The same in NumPy, with each image as a row of 64 numbers
digit, loss, _ = forward(image=images, truth=labels, **weights)
hidden = np.maximum(images.reshape(100, 64) / 16 @ weights["w1"].reshape(64, -1) + weights["b1"], 0)
score = hidden @ weights["w2"] + weights["b2"]
logs = score - np.log(np.exp(score).sum(axis=1, keepdims=True))
np.testing.assert_array_equal(digit, score.argmax(axis=1))
np.testing.assert_allclose(loss, -logs[np.arange(100), labels].mean())

# %% The confusion matrix: a sum over the digits of a product of two comparisons
CONFUSION = "table[was read] = sum[N]((truth[N] == index[was]) & (digit[N] == index[read]))"
table = ne.evaluate(CONFUSION, truth=labels, digit=digit, sizes={"was": 10, "read": 10})
by_hand = np.zeros((10, 10), dtype=int)
np.add.at(by_hand, (labels, digit), 1)
np.testing.assert_array_equal(table, by_hand)
for was, read in zip(*np.nonzero(table * (1 - np.eye(10, dtype=int)))):
    print(f"a {was} was read as {read}" + (f", {table[was, read]} times" if table[was, read] > 1 else ""))

# %% What activates a hidden unit: the mean image, weighted by the activations. Some units are never active
ANSWERS = """
    hidden[N H] = relu(sum[y x](image[N y x] / 16 * w1[y x H]) + b1[H])
    template[H y x] = sum[N](hidden * image) / maximum(sum[N](hidden), 1e-9)
"""
template = ne.evaluate(ANSWERS, image=images, w1=weights["w1"], b1=weights["b1"])
expected = np.einsum("nh,nyx->hyx", hidden, images) / np.maximum(hidden.sum(axis=0), 1e-9)[:, None, None]
np.testing.assert_allclose(template, expected)
assert template.shape == (32, 8, 8) and template.min() >= 0 and template.max() <= 16
print("templates of the hidden units", template.shape)
