"""The ground state of a quantum spin chain: a chain of tensors, all of which lower the energy at once.

The state of 12 spins has 4,096 numbers; as a matrix product state it has 12 small tensors. The energy is one
formula, a network of 38 tensors and its norm. The gradients by all 12 share what they have in common.

Run it with `python examples/spin_chain.py`, or cell by cell. It uses SciPy.
"""

# %% Spins that prefer to point alike, in a magnetic field across: H = -sum Z Z - sum X, at the critical field
from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

import nameexpr as ne

SPINS = 12
ONE, X, Z = np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0])
h = np.zeros((3, 2, 2, 3))  # H as a product of these: before a term, in the middle of Z Z, after a term
h[0, :, :, 0] = h[2, :, :, 2] = ONE
h[0, :, :, 1], h[1, :, :, 2], h[0, :, :, 2] = -Z, Z, -X
before, after = np.eye(3)[0], np.eye(3)[2]


# %% The texts. Neighbours share a bond: b in the state, c in its mirror image, m in H
def chain(name: str, bond: str, spins: str) -> list[str]:
    """Return the uses of a chain of tensors: `a0[b0 s0 b1]`, `a1[b1 s1 b2]`, ..."""
    numbered = [" ".join(f"{spin}{n}" for spin in spins) for n in range(SPINS)]
    return [f"{name.format(n)}[{bond}{n} {numbered[n]} {bond}{n + 1}]" for n in range(SPINS)]


def network(letters: str, *factors: str) -> str:
    """Return the sum over all labels of a product."""
    labels = [f"{letter}{n}" for letter in letters for n in range(SPINS + (letter in "bcm"))]
    return f"sum[{' '.join(labels)}]({' * '.join(factors)})"


ket = chain("a{}", "b", "s")
ends = ("before[m0]", f"after[m{SPINS}]")
ENERGY = f"""
    of_h = {network("bcmst", *ket, *chain("h", "m", "st"), *chain("a{}", "c", "t"), *ends)}
    norm = {network("bcs", *ket, *chain("a{}", "c", "s"))}
    energy = of_h / norm
"""
names = [f"a{n}" for n in range(SPINS)]
step = ne.value_and_grad(ENERGY, names)


# %% The exact energy: by diagonalising H of few spins, and in closed form for any number
def exact(spins: int) -> float:
    """Return the energy of the ground state (Pfeuty 1970)."""
    return 1 - 1 / np.sin(np.pi / (4 * spins + 2))


small = before
for _ in range(8):
    small = np.tensordot(small, h, axes=(-1, 0))
small = np.moveaxis(small @ after, range(0, 16, 2), range(8)).reshape(256, 256)
np.testing.assert_allclose(np.linalg.eigvalsh(small)[0], exact(8))


# %% Minimise the energy over all tensors, for bonds of more and more values
def ground_state(bond: int) -> tuple[float, dict[str, np.ndarray]]:
    """Return the lowest energy found with bonds of a size, and the tensors."""
    generator = np.random.default_rng(0)
    sizes = [min(bond, 2 ** min(n, SPINS - n)) for n in range(SPINS + 1)]
    start = {name: 1 + generator.normal(size=(sizes[n], 2, sizes[n + 1])) for n, name in enumerate(names)}
    start = {name: value / np.linalg.norm(value) for name, value in start.items()}
    problem = step.packed(operands=start, h=h, before=before, after=after)
    options = {"maxiter": 500, "maxcor": 30, "ftol": 1e-12}
    best = minimize(problem.fun, problem.x0, jac=True, method="L-BFGS-B", options=options)
    return float(best.fun), problem.unpack(best.x)


print(f"{SPINS} spins: the exact energy is {exact(SPINS):.6f}")
for bond in (1, 2, 4, 6):
    energy, tensors = ground_state(bond)
    count = sum(value.size for value in tensors.values())
    print(f"  bonds of {bond}: {count:3} numbers, energy {energy:.6f}, {energy - exact(SPINS):.1e} too high")
    assert energy > exact(SPINS) - 1e-9, "no state is below the ground state"
assert energy - exact(SPINS) < 1e-4

# %% All gradients together take less than three times the operations of the energy
shapes = {name: value.shape for name, value in tensors.items()}
shapes |= {"h": h.shape, "before": (3,), "after": (3,)}
forward, both = ne.compile(ENERGY).plan(operands=shapes).flops, step.plan(operands=shapes).flops
print(f"the energy takes {forward:,} operations, and {both / forward:.2f} times as many with all gradients")
assert both < 3.01 * forward
