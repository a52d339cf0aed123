"""The dtypes that JAX has: without 64 bits, the default, each of 64 bits is the one of 32.

>>> canonical("float64"), canonical("int8")
('float32', 'int8')
"""

from __future__ import annotations

import jax

NARROWED = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}


def has_64_bits() -> bool:
    """Return whether JAX computes in 64 bits now."""
    return bool(jax.config.jax_enable_x64)  # type: ignore[attr-defined]


def canonical(dtype: str) -> str:
    """Return the dtype that JAX has for another one: without 64 bits the one of 32."""
    return dtype if has_64_bits() else NARROWED.get(dtype, dtype)
