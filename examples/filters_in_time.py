"""Filters that go through a series step by step: an average, a Kalman filter, a smoother, and an LSTM.

The series is a row of a photograph, its brightness from left to right, with noise. A statement that reads its
own earlier rows is a recurrence; each is compared with the loop that it replaces.

Run it with `python examples/filters_in_time.py`, or cell by cell.
"""

# %% A row of the cup of coffee, in grey from 0 to 1, and the same with noise
from __future__ import annotations

from pathlib import Path

import numpy as np

import nameexpr as ne

DATA = Path(__file__).resolve().parent / "data"
true = np.load(DATA / "photos.npy")[2, 48].mean(axis=1) / 255  # (128,): T
rng = np.random.default_rng(0)
NOISE, DRIFT = 0.1, 0.08  # DRIFT is about what the row changes from pixel to pixel
seen = true + NOISE * rng.normal(size=true.shape)


def error(estimate: np.ndarray) -> float:
    """Return the root of the mean squared error."""
    return float(ne.evaluate("sqrt(mean[T](square(x[T] - y[T])))", x=estimate, y=true))


print(f"error of the noisy row      {error(seen):.3f}")

# %% An exponential average: cell 0 is the start, and cell 1 + T is computed from cell T
average = ne.evaluate("m[(1 + T)] = x[T@0], 0.6 * m[_@T] + 0.4 * x[T]; m[(1 + T)]", x=seen)
level, by_hand = seen[0], []
for value in seen:
    level = 0.6 * level + 0.4 * value
    by_hand.append(level)
np.testing.assert_allclose(average, by_hand)
print(f"error of the average        {error(average):.3f}")

# %% A Kalman filter: `gain` and `spread` read each other, and are one recurrence
KALMAN = """
    gain[T] = (spread[_@T] + q) / (spread[_@T] + q + r)
    spread[(1 + T)] = 1, (1 - gain[T]) * (spread[_@T] + q)
    level[(1 + T)] = x[T@0], level[_@T] + gain[T] * (x[T] - level[_@T])
"""
given = {"x": seen, "q": DRIFT**2, "r": NOISE**2}
spread, level = ne.evaluate(KALMAN, outputs=("spread", "level"), **given)
state, variance = seen[0], 1.0
for step, value in enumerate(seen):
    gain = (variance + DRIFT**2) / (variance + DRIFT**2 + NOISE**2)
    state, variance = state + gain * (value - state), (1 - gain) * (variance + DRIFT**2)
    np.testing.assert_allclose((level[1 + step], spread[1 + step]), (state, variance))
print(f"error of the Kalman filter  {error(level[1:]):.3f}")

# %% A smoother goes back: its step s reads the row at T = size[T] - 1 - s
SMOOTH = """
    share[T] = spread[T] / (spread[T] + q)
    now[s] = level[T@(size[T] - 2 - s)]
    weight[s] = share[T@(size[T] - 2 - s)]
    back[(1 + s)] = level[T@(size[T] - 1)], now[s] + weight[s] * (back[_@s] - now[s])
    back[S@(size[S] - 1 - u)]
"""
smooth = ne.evaluate(SMOOTH, spread=spread[1:], level=level[1:], q=DRIFT**2)
late, backwards = level[-1], [level[-1]]
for step in range(len(seen) - 2, -1, -1):
    weight = spread[1 + step] / (spread[1 + step] + DRIFT**2)
    late = level[1 + step] + weight * (late - level[1 + step])
    backwards.append(late)
np.testing.assert_allclose(smooth, backwards[::-1])
print(f"error of the smoother       {error(smooth):.3f}")
assert error(smooth) < error(level[1:]) < error(seen)

# %% An LSTM with weights that were not trained: three statements that read each other
LSTM = """
    z[T gate D] = x[T] * w[gate D] + sum[E](h[_@T E] * u[E gate D]) + b[gate D]
    c[(1 + T) D] = 0, sigmoid(z[T gate@0 D]) * c[_@T D] + sigmoid(z[T gate@1 D]) * tanh(z[T gate@2 D])
    h[(1 + T) D] = 0, sigmoid(z[T gate@3 D]) * tanh(c[_@(T + 1) D])
    h[_@(size[T]) D]
"""
UNITS = 16
w, b = rng.normal(size=(2, 4, UNITS))
u = rng.normal(size=(UNITS, 4, UNITS)) / 4
last = ne.evaluate(LSTM, x=seen, w=w, u=u, b=b)
memory = hidden = np.zeros(UNITS)
for value in seen:
    forget, enter, new, out = value * w + np.einsum("e,egd->gd", hidden, u) + b
    memory = memory / (1 + np.exp(-forget)) + np.tanh(new) / (1 + np.exp(-enter))
    hidden = np.tanh(memory) / (1 + np.exp(-out))
np.testing.assert_allclose(last, hidden)
print(f"LSTM: {len(seen)} steps of {UNITS} units, the same as the loop")
