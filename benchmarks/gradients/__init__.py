"""Gradients, compared with those of PyTorch, JAX and HIPS autograd: `python -m benchmarks.gradients`."""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported
