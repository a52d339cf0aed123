"""A mixture of Gaussians for the colours of a photograph, fitted by the EM algorithm.

The densities can be tiny, so everything is computed from their logarithms: `logsumexp[K]` gives the
likelihood, and subtracting it gives the share of each component in a pixel.

Run it with `python examples/gaussian_mixture.py`, or cell by cell.
"""

# %% Chelsea the cat (see data/README.md for the source of the photograph): 12,288 colours
from __future__ import annotations

from pathlib import Path

import numpy as np

import nameexpr as ne

DATA = Path(__file__).resolve().parent / "data"
x = np.load(DATA / "photos.npy")[1].reshape(-1, 3) / 255.0  # (12288, 3): N C
COMPONENTS = 4

# %% Expectation: u is a factor of the inverse covariance, so the distance is a sum of squares
EXPECTATION = """
    z = sum[D](u[K C D] * (x[N D] - m[K D]))
    joint[N K] = log(w[K]) + log_det[K] - (sum[C](z ** 2) + size[D] * log(2 * pi)) / 2
    evidence = logsumexp[K](joint)
    share[N K] = exp(joint - evidence)
    likelihood = mean[N](evidence)
"""
expectation = ne.compile(EXPECTATION, outputs=("share", "likelihood"))

# %% Maximisation: weights, means and covariances, with every pixel weighted by its shares
MAXIMISATION = """
    n = sum[N](share[N K])
    w = n / size[N]
    m[K C] = sum[N](share * x[N C]) / n
    cov[K C D] = sum[N](share * x[N C] * x[N D]) / n - m[K C] * m[K D]
"""
maximisation = ne.compile(MAXIMISATION, outputs=("w", "m", "cov"))


def factors(cov: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the inverse Cholesky factors of covariances, and the logarithms of their determinants."""
    u = np.linalg.inv(np.linalg.cholesky(cov))
    return u, np.log(np.diagonal(u, axis1=1, axis2=2)).sum(axis=1)


# %% Start from four groups of pixels by brightness, then alternate the two steps
rank = x.sum(axis=1).argsort(kind="stable").argsort(kind="stable")
share = (rank[:, None] * COMPONENTS // len(x) == np.arange(COMPONENTS)).astype(float)
likelihoods = []
for _ in range(40):
    w, m, cov = maximisation(share=share, x=x)
    u, log_det = factors(cov)
    share, likelihood = expectation(x=x, u=u, m=m, w=w, log_det=log_det)
    likelihoods.append(float(likelihood))
print(f"log-likelihood per pixel from {likelihoods[0]:.2f} to {likelihoods[-1]:.2f}")
assert np.all(np.diff(likelihoods) > -1e-12), "EM never goes back"
np.testing.assert_allclose(share.sum(axis=1), 1.0)
np.testing.assert_allclose(w.sum(), 1.0)

# %% The last step in NumPy: densities from determinants and linear solves, without logarithms
density = np.zeros((len(x), COMPONENTS))
for k in range(COMPONENTS):
    off = x - m[k]
    distance = (off * np.linalg.solve(cov[k], off.T).T).sum(axis=1)
    density[:, k] = w[k] * np.exp(-distance / 2) / np.sqrt(np.linalg.det(2 * np.pi * cov[k]))
np.testing.assert_allclose(likelihood, np.log(density.sum(axis=1)).mean())
np.testing.assert_allclose(share, density / density.sum(axis=1, keepdims=True), atol=1e-9)

# %% The covariances, computed from weighted samples
again, means, covs = maximisation(share=share, x=x)
for k in range(COMPONENTS):
    np.testing.assert_allclose(means[k], np.average(x, axis=0, weights=share[:, k]))
    sample = np.cov(x.T, aweights=share[:, k], bias=True)
    np.testing.assert_allclose(covs[k], sample, atol=1e-9)

# %% A single Gaussian explains the colours less well
single = maximisation(share=np.ones((len(x), 1)), x=x)
u, log_det = factors(single[2])
_, alone = expectation(x=x, u=u, m=single[1], w=single[0], log_det=log_det)
assert alone < likelihoods[-1] - 0.5
print(f"one Gaussian reaches {alone:.2f}")

# %% A colour far from all components: the densities are 0 in floating point, but their logarithms are finite
far = np.array([[40.0, -40.0, 40.0]])
u, log_det = factors(cov)
of_far, far_likelihood = expectation(x=far, u=u, m=m, w=w, log_det=log_det)
assert np.isfinite(far_likelihood) and np.exp(far_likelihood) == 0
np.testing.assert_allclose(of_far.sum(), 1.0)
print(f"components {', '.join(f'{one:.0%}' for one in sorted(w, reverse=True))} of the pixels")
