"""NumPy as a backend: `kernels`, what generated code calls beside NumPy itself, and `arrays`, how operands
become arrays. This module says how code calls a kernel, and loads no NumPy.
"""

from nameexpr.ops import KERNELS

_OWN = {*KERNELS, "as_array"}


def spelled(kernel: str) -> str:
    """Return how generated code calls a pointwise kernel.

    >>> spelled("absolute"), spelled("erf")
    ('np.absolute', 'formulas.erf')
    """
    return f"formulas.{kernel}" if kernel in _OWN else f"np.{kernel}"
