"""Moments of inertia of a body made of voxels, compared with the textbook formula for an ellipsoid.

The tensor is I[i j] = sum of m (|r|^2 delta[i j] - r[i] r[j]) over the voxels. It is computed from this
definition and from the second moments, and the energy of a rotation is computed in two ways.

Run it with `python examples/moments_of_inertia.py`, or cell by cell.
"""

# %% A box of 96 x 96 x 96 cells, and in it an ellipsoid that is rotated against the axes
from __future__ import annotations

import numpy as np

import nameexpr as ne

CELLS, EDGE, DENSITY = 96, 2.4, 7870.0  # iron, in kg / m^3, in a box of 2.4 m
HALF = np.array([1.0, 0.7, 0.5])  # its semi-axes in m

step = EDGE / CELLS
ticks = (np.arange(CELLS) + 0.5) * step - EDGE / 2
r = np.stack(np.meshgrid(ticks, ticks, ticks, indexing="ij"), axis=-1)  # (96, 96, 96, 3): X Y Z i
about_z, about_x = np.radians([30.0, 50.0])
c, s = np.cos(about_z), np.sin(about_z)
turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
c, s = np.cos(about_x), np.sin(about_x)
turn = turn @ np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])

# %% Which cells are inside: the axes a of the body are the columns of the rotation matrix
BODY = """
    own[X Y Z a] = sum[i](r[X Y Z i] * turn[i a]) / half[a]
    m = where(sum[a](own ** 2) <= 1, cell, 0)
"""
m = ne.evaluate(BODY, r=r, turn=turn, half=HALF, cell=DENSITY * step**3)
mass = m.sum()
exact_mass = DENSITY * 4 / 3 * np.pi * HALF.prod()
print(f"mass {mass:.0f} kg, and {exact_mass:.0f} kg for the smooth body")
assert abs(mass / exact_mass - 1) < 1e-3

# %% The tensor by definition, and from second moments: r[X Y Z i] and r[X Y Z j] are views of one operand
DEFINITION = """
    square = sum[k](r[X Y Z k] ** 2)
    tensor[i j] = sum[X Y Z](m[X Y Z] * (square * (index[i] == index[j]) - r[X Y Z i] * r[X Y Z j]))
"""
MOMENTS = """
    second[i j] = sum[X Y Z](m[X Y Z] * r[X Y Z i] * r[X Y Z j])
    tensor[i j] = sum[k](second[k k]) * (index[i] == index[j]) - second[i j]
"""
tensor = ne.evaluate(MOMENTS, m=m, r=r)
frugal = ne.evaluate(
    DEFINITION, m=m, r=r, memory_limit=2 * m.nbytes
)  # all cells, i and j would be 9 * m.nbytes
np.testing.assert_allclose(frugal, tensor, atol=1e-9 * mass)

flat, weights = r.reshape(-1, 3), m.reshape(-1)
moments = (flat * weights[:, None]).T @ flat
np.testing.assert_allclose(tensor, np.trace(moments) * np.eye(3) - moments, atol=1e-9 * mass)

# %% The textbook: m (b^2 + c^2) / 5 about the axis a, rotated into the frame of the box
squares = HALF**2
exact = turn @ np.diag(exact_mass / 5 * (squares.sum() - squares)) @ turn.T
error = np.abs(tensor - exact).max() / np.abs(exact).max()
print(f"largest difference from the closed form {error:.2%}")
assert error < 2e-3

found = np.linalg.eigvalsh(tensor)
np.testing.assert_allclose(found, np.sort(np.diag(turn.T @ exact @ turn)), rtol=2e-3)
print("principal moments", " ".join(f"{one:.0f}" for one in found), "kg m^2")

# %% Energy of a rotation: from the tensor, and from the velocity of every cell, w x r
ENERGY = """
    speed[X Y Z i] = sum[j k](levi[i j k] * w[j] * r[X Y Z k])
    of_cells = sum[X Y Z i](m[X Y Z] * speed ** 2) / 2
    of_tensor = sum[i j](w[i] * tensor[i j] * w[j]) / 2
"""
levi = np.zeros((3, 3, 3))
levi[[0, 1, 2], [1, 2, 0], [2, 0, 1]], levi[[0, 2, 1], [2, 1, 0], [1, 0, 2]] = 1, -1
w = np.array([0.5, -1.0, 2.0])
outputs = ("speed", "of_cells", "of_tensor")
speed, of_cells, of_tensor = ne.evaluate(ENERGY, outputs=outputs, m=m, r=r, w=w, levi=levi, tensor=tensor)
np.testing.assert_allclose(speed, np.cross(w, r), atol=1e-12)
np.testing.assert_allclose(of_cells, of_tensor)
print(f"energy of rotation {of_cells:.0f} J, both ways")

# %% Parallel axes: about another point, the tensor grows by that of the whole mass at the centre
about = np.array([0.3, -0.2, 0.1])
moved = ne.evaluate(MOMENTS, m=m, r=r - about)
np.testing.assert_allclose(m.reshape(-1) @ flat, 0, atol=1e-9 * mass)
np.testing.assert_allclose(moved - tensor, mass * (about @ about * np.eye(3) - np.outer(about, about)))
