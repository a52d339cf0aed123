"""A network learns to read handwritten digits: 800 to learn from, and 200 that it has not seen.

The loss is a formula, `ne.value_and_grad` computes it and its gradients, and gradient descent with
momentum is three lines of Python. The example digits_network.py shows what such a network does.

Run it with `python examples/training_digits.py`, or cell by cell.
"""

# %% A thousand digits of 8 x 8 pixels from 0 to 16, and their labels. 200 of them are held out
from __future__ import annotations

from pathlib import Path

import numpy as np

import nameexpr as ne

DATA = Path(__file__).resolve().parent / "data"
with np.load(DATA / "digits_1000.npz") as stored:
    images, labels = stored["images"], stored["labels"]  # (1000, 8, 8) uint8: N y x, and (1000,) uint8: N
generator = np.random.default_rng(0)
held_out, training = np.split(generator.permutation(1000), [200])
seen, truth = images[training], labels[training]
print(f"{len(training)} digits to learn from, {len(held_out)} held out")

# %% The loss. Rows and columns of the images are two dims, and so they are in the weights
SCORE = """
    hidden[N H] = relu(sum[y x](image[N y x] / 16 * w1[y x H]) + b1[H])
    score[N K] = sum[H](hidden * w2[H K]) + b2[K]
"""
LOSS = SCORE + "loss = -mean[N](sum[K](log_softmax[K](score) * (index[K] == truth[N])))"
step = ne.value_and_grad(LOSS, "w1 b1 w2 b2")
read = ne.compile(SCORE + "digit = argmax[K](score)")

weights = {
    "w1": generator.normal(size=(8, 8, 64)) / 8,
    "b1": np.zeros(64),
    "w2": generator.normal(size=(64, 10)) / 64**0.5,
    "b2": np.zeros(10),
}

# %% The gradients by hand, which is what ne.value_and_grad saves
loss, gradients = step(image=seen, truth=truth, **weights)
rows = seen.reshape(800, 64) / 16
hidden = np.maximum(rows @ weights["w1"].reshape(64, 64) + weights["b1"], 0)
score = hidden @ weights["w2"] + weights["b2"]
p = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
np.testing.assert_allclose(loss, -np.log(p[np.arange(800), truth]).mean())
of_score = (p - np.eye(10)[truth]) / 800
of_hidden = (of_score @ weights["w2"].T) * (hidden > 0)
np.testing.assert_allclose(gradients["w2"], hidden.T @ of_score)
np.testing.assert_allclose(gradients["b2"], of_score.sum(axis=0))
np.testing.assert_allclose(gradients["w1"], (rows.T @ of_hidden).reshape(8, 8, 64))
np.testing.assert_allclose(gradients["b1"], of_hidden.sum(axis=0))


# %% Training: 40 times through the digits, in batches of 50
def right(chosen: np.ndarray) -> float:
    """Return the share of digits that the network reads correctly."""
    return float((read(image=images[chosen], **weights) == labels[chosen]).mean())


speed = {name: np.zeros_like(value) for name, value in weights.items()}
print(f"before training   loss {loss:.2f}, {right(held_out):.0%} of the held-out digits right")
for epoch in range(1, 41):
    losses = []
    for batch in np.split(generator.permutation(len(seen)), len(seen) // 50):
        loss, gradients = step(image=seen[batch], truth=truth[batch], **weights)
        losses.append(loss)
        for name, gradient in gradients.items():
            speed[name] = 0.9 * speed[name] - 0.05 * gradient
            weights[name] = weights[name] + speed[name]
    if epoch in (1, 2, 5, 10, 40):
        print(f"after {epoch:2} epochs   loss {np.mean(losses):.2f}, {right(held_out):.1%} right")
assert right(held_out) > 0.95, "of the digits that were held out"
assert right(training) > 0.99

# %% The digits that it reads wrongly
found = read(image=images[held_out], **weights)
wrong = np.flatnonzero(found != labels[held_out])[:4]
print("the first mistakes: " + ", ".join(f"a {labels[held_out][n]} read as {found[n]}" for n in wrong))
for row in np.concatenate(images[held_out][wrong], axis=1):
    print("   ", "".join(" .:#@"[value // 4] for value in row).rstrip())
