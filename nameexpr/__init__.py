"""nameexpr: einsum-style expressions with real names, and tensors whose dims have names.

>>> import numpy as np, nameexpr as ne
>>> ne.einsum("batch chan, chan out -> batch out", np.ones((2, 3)), np.ones((3, 4))).shape
(2, 4)
"""

from nameexpr.api.einsum import einsum

__all__ = ["einsum"]
