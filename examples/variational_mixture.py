"""A mixture of Gaussians that finds how many components it needs, by variational inference.

The means of the components have a posterior, approximated by Gaussians with their own means and deviations.
The evidence lower bound is a formula; its gradients go to an optimizer of SciPy, which sees one vector.

Run it with `python examples/variational_mixture.py`, or cell by cell. It uses SciPy.
"""

# %% Points around three centres. The mixture starts with eight components
from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

import nameexpr as ne

COMPONENTS, PRIOR = 8, 10.0  # of the means, the prior is a Gaussian with the deviation 10
generator = np.random.default_rng(0)
centres, widths = np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 4.0]]), np.array([0.6, 0.8, 0.5])
which = generator.integers(3, size=300)
x = centres[which] + widths[which, None] * generator.normal(size=(300, 2))  # (300, 2): N D

# %% The bound: how well the components explain the points, minus how far their posteriors are from the prior
BOUND = """
    share = softmax[K](logit[K])
    precision = exp(log_precision[K])
    variance = exp(2 * log_deviation[K D])                   # of the posterior of each mean
    distance[N K] = sum[D]((x[N D] - mean[K D]) ** 2 + variance)
    joint[N K] = log(share) + size[D] / 2 * log(precision / (2 * pi)) - precision * distance / 2
    fit = sum[N](logsumexp[K](joint))
    divergence = sum[K D]((variance + mean ** 2) / prior ** 2 - 1 - log(variance / prior ** 2)) / 2
    loss = divergence - fit
"""
step = ne.value_and_grad(BOUND, "logit log_precision mean log_deviation")


# %% Pack the parameters, minimise, unpack them by name
def fitted(components: int, seed: int = 0) -> tuple[dict[str, np.ndarray], float]:
    """Return the parameters of a mixture, and its bound."""
    problem = step.packed(
        logit=np.zeros(components),
        log_precision=np.zeros(components),
        mean=np.random.default_rng(seed).permutation(x)[:components],
        log_deviation=np.full((components, 2), -1.0),
        x=x,
        prior=PRIOR,
    )
    best = minimize(problem.fun, problem.x0, jac=True, method="L-BFGS-B", options={"maxiter": 1000})
    return problem.unpack(best.x), -float(best.fun)


found, bound = max((fitted(COMPONENTS, seed) for seed in range(3)), key=lambda one: one[1])
share = np.exp(found["logit"]) / np.exp(found["logit"]).sum()
deviation = np.exp(found["log_deviation"])
used = np.flatnonzero(share > 0.01)
print(f"{len(used)} of {COMPONENTS} components are used, and the bound is {bound:.1f}")
for k in used[np.argsort(-share[used])]:
    mean = ", ".join(f"{m:5.2f} +- {s:.2f}" for m, s in zip(found["mean"][k], deviation[k]))
    width = np.exp(-found["log_precision"][k] / 2)
    print(f"  {share[k]:.0%} of the points around ({mean}), {width:.2f} wide")
unused = np.setdiff1d(range(COMPONENTS), used)
np.testing.assert_allclose(deviation[unused], PRIOR, rtol=0.05)  # without points, the posterior is the prior

# %% The centres are where they were put, within the uncertainty that the posterior states
nearest = used[np.linalg.norm(found["mean"][used] - centres[:, None], axis=-1).argmin(axis=1)]
assert len(set(nearest)) == 3
assert np.all(np.abs(found["mean"][nearest] - centres) < 4 * deviation[nearest])

# %% At the maximum, each mean is the posterior that the textbook derives from the shares of its points
(joint,) = ne.evaluate(BOUND, outputs=("joint",), x=x, prior=PRIOR, **found)
weights = np.exp(joint - joint.max(axis=1, keepdims=True))
weights /= weights.sum(axis=1, keepdims=True)
precision = np.exp(found["log_precision"])[used]
certainty = 1 / PRIOR**2 + precision * weights.sum(axis=0)[used]
exact = (precision[:, None] * (weights.T @ x)[used]) / certainty[:, None]
np.testing.assert_allclose(found["mean"][used], exact, atol=1e-2)
np.testing.assert_allclose(deviation[used], certainty[:, None] ** -0.5 * np.ones((1, 2)), rtol=1e-2)

# %% Fewer components explain the points less well; more than three do not help
bounds = {components: max(fitted(components, seed)[1] for seed in range(3)) for components in range(1, 5)}
print("bounds by components: " + ", ".join(f"{n}: {value:.1f}" for n, value in bounds.items()))
assert bounds[1] < bounds[2] < bounds[3]
assert abs(bounds[4] - bounds[3]) < 0.1
