"""Newton's method on a logistic regression that finds the eights among handwritten digits.

The Hessian is one more line of the formula. The weights have the dims of an image, y and x, so the Hessian
has four: y and x, and v and u for the second derivative.

Run it with `python examples/newton_logistic.py`, or cell by cell.
"""

# %% A thousand digits of 8 x 8 pixels from 0 to 16, and which of them are eights
from __future__ import annotations

from pathlib import Path

import numpy as np

import nameexpr as ne

DATA = Path(__file__).resolve().parent / "data"
with np.load(DATA / "digits_1000.npz") as stored:
    images, is_eight = stored["images"] / 16, stored["labels"] == 8  # (1000, 8, 8): N y x, and (1000,): N
print(f"{is_eight.sum()} of {len(images)} digits are eights")

# %% The loss, its gradient and its Hessian. Large weights cost something, so there is one minimum
LOSS = """
    z[N] = sum[y x](image[N y x] * w[y x])
    loss = mean[N](softplus(z) - eight[N] * z) + 0.001 * sum[y x](w ** 2)
"""
DERIVATIVES = """
    g[y x] = grad(loss, w[y x])
    h[y x v u] = grad(grad(loss, w[y x]), w[v u])
"""
derivatives = ne.compile(LOSS + DERIVATIVES, outputs=("loss", "g", "h"))

# %% Newton's method solves a linear system for each step, here with the dims y and x as they are
w = np.zeros((8, 8))
print("Newton's method     loss        largest gradient")
for step in range(10):
    loss, g, h = derivatives(image=images, eight=is_eight, w=w)
    print(f"  step {step:2}           {loss:.8f}  {abs(g).max():.1e}")
    if abs(g).max() < 1e-12:
        break
    w = w - np.linalg.tensorsolve(h, g)
assert abs(g).max() < 1e-12

# %% Gradient descent takes many more steps: its largest stable one depends on the largest eigenvalue of h
descend = ne.value_and_grad(LOSS, "w")
largest = np.linalg.eigvalsh(h.reshape(64, 64))[-1]
slow = np.zeros((8, 8))
for _ in range(1000):
    reached, gradients = descend(image=images, eight=is_eight, w=slow)
    slow = slow - gradients["w"] / (2 * largest)
print(f"gradient descent\n  step 1000         {reached:.8f}  {abs(gradients['w']).max():.1e}")
assert reached > loss

# %% The Hessian by hand: the sum of x x' p (1 - p) over the digits
rows = images.reshape(1000, 64)
p = 1 / (1 + np.exp(-rows @ w.reshape(64)))
by_hand = (rows * (p * (1 - p))[:, None]).T @ rows / 1000 + 0.002 * np.eye(64)
np.testing.assert_allclose(h.reshape(64, 64), by_hand, atol=1e-12)

# %% The plan shows the Hessian as one matrix product: no array of N y x v u is computed
plan = derivatives.plan(image=(1000, 8, 8), eight=(1000,), w=(8, 8))
print(f"value, gradient and Hessian take {plan.flops / 1e6:.1f} million operations")
assert plan.peak_bytes < 1000 * 64 * 64 * 8 / 10

# %% Each digit is classified by the sign of z
found = rows @ w.reshape(64) > 0
print(f"{(found == is_eight).mean():.1%} of the digits are classified correctly")
