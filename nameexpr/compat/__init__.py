"""Replacements for functions of other libraries, with the same arguments and results, computed by nameexpr.

Each module has the names of the library that it is called after, so that one changed import is enough:

>>> import numpy as np
>>> from nameexpr.compat.numpy import einsum
>>> einsum("ij,jk", np.ones((2, 3)), np.ones((3, 4))).shape
(2, 4)

`subscripts` reads the texts of `numpy.einsum`, `patterns` those of einops, and `contraction` has the entries
that compute sums of products (docs/drop-in.md).
"""
