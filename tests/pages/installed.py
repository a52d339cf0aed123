"""Which libraries of the documentation's examples are not installed: these examples are left out."""

from __future__ import annotations

import re
from importlib.util import find_spec

LIBRARIES = ("array_api_strict", "dask", "jax", "matplotlib", "scipy", "torch")
MISSING = frozenset(name for name in LIBRARIES if find_spec(name) is None)


def needs_missing(text: str) -> bool:
    """Whether a text is about a library that is not installed."""
    return not MISSING.isdisjoint(re.findall(r"\w+", text))
