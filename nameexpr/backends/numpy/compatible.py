"""What NumPy keeps under a private name, with the public way for releases that keep it elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

c_einsum: Any
try:
    from numpy._core.multiarray import c_einsum
except ImportError:
    c_einsum = np.einsum
"""`numpy.einsum` without its Python wrapper, which takes longer than the work on small arrays."""
