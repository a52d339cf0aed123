"""Thirteen atoms: their forces and vibrations are derivatives of one energy, the Lennard-Jones potential.

The cluster is relaxed to its minimum, an icosahedron whose energy is known. The second derivatives there are
its vibrations. Then it moves: forces are computed at each step, and the total energy stays what it was.

Run it with `python examples/molecular_forces.py`, or cell by cell. It uses SciPy for the minimum.
"""

# %% The energy is a sum over pairs. On the diagonal, 1 is added so that nothing is divided by 0
from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

import nameexpr as ne

ENERGY = """
    d2[i j] = sum[c]((x[i c] - x[j c]) ** 2) + (index[i] == index[j])
    energy = sum[i j](where(index[i] < index[j], 4 * (d2 ** -6 - d2 ** -3), 0))
"""
FORCES = ENERGY + "force[i c] = -grad(energy, x[i c])"
forces = ne.compile(FORCES, outputs=("energy", "force"))

# %% Start from an atom in the middle of an icosahedron
golden = (1 + 5**0.5) / 2
corners = [(0, a, b) for a in (-1, 1) for b in (-golden, golden)]
corners += [(a, b, 0) for a, b in np.array(corners)[:, 1:]] + [(b, 0, a) for a, b in np.array(corners)[:, 1:]]
start = np.array([(0, 0, 0), *corners]) / np.hypot(1, golden)  # (13, 3): i c
energy, force = forces(x=start)
print(f"13 atoms at the distance 1: energy {energy:.4f}, largest force {abs(force).max():.2f}")

# %% The force by hand: the derivative of each pair along its distance
apart = start[:, None] - start
distance = np.linalg.norm(apart, axis=-1) + np.eye(13)
strength = (48 * distance**-13 - 24 * distance**-7) / distance * (1 - np.eye(13))
np.testing.assert_allclose(force, (strength[:, :, None] * apart).sum(axis=1), atol=1e-11)

# %% The minimum, by an optimizer of SciPy. The energy of this cluster is known to six digits
cluster = ne.value_and_grad(ENERGY, "x").packed(x=start)
best = minimize(cluster.fun, cluster.x0, jac=True, method="BFGS", options={"gtol": 1e-8})
x = cluster.unpack(best.x)["x"]
print(f"at rest: energy {best.fun:.6f}, and -44.326801 in the literature")
assert abs(best.fun + 44.326801) < 1e-6

# %% Vibrations: the Hessian has the dims of x twice. Its eigenvalues are the squares of the frequencies
hessian = ne.evaluate(ENERGY + "h[i c j d] = grad(grad(energy, x[i c]), x[j d])", x=x)
squares, modes = np.linalg.eigh(hessian.reshape(39, 39))
assert np.abs(squares[:6]).max() < 1e-4, "three translations and three rotations"
frequencies = np.sqrt(squares[6:])
print(f"6 of 39 motions have no frequency; the others {frequencies[0]:.2f} to {frequencies[-1]:.2f}")


# %% Motion by the velocity Verlet method: forces are the only thing it asks for
def run(x: np.ndarray, v: np.ndarray, dt: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the final positions, and the total energy after each step."""
    total = np.empty(steps)
    _, force = forces(x=x)
    for step in range(steps):
        v = v + dt / 2 * force
        x = x + dt * v
        energy, force = forces(x=x)
        v = v + dt / 2 * force
        total[step] = energy + (v**2).sum() / 2
    return x, total


# %% A small push along the slowest vibration: after one period the atoms are back
push = 1e-4 * modes[:, 6].reshape(13, 3)
later, _ = run(x + push, np.zeros((13, 3)), dt=2 * np.pi / frequencies[0] / 500, steps=500)
np.testing.assert_allclose(later - x, push, atol=1e-7)
print(f"one period of {2 * np.pi / frequencies[0]:.3f}: the forces agree with the Hessian")

# %% A warm cluster: 4,000 steps. Energy and momentum are conserved
v = np.random.default_rng(0).normal(size=(13, 3)) * 0.4
v -= v.mean(axis=0)
later, total = run(x, v, dt=0.002, steps=4000)
print(f"4000 steps: the total energy {total[0]:.3f} changes by {np.ptp(total):.1e}")
assert np.ptp(total) < 1e-3
np.testing.assert_allclose(later.mean(axis=0), x.mean(axis=0), atol=1e-9)
