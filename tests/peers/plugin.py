"""A plugin of pytest that replaces the functions of a library by those of `nameexpr.compat`.

`PEER` in the environment is the library. Where functions can pass a call on to the library, these calls are
counted, and all; the counts are printed at the end. (A function that `torch.compile` traces cannot count.)
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from itertools import product
from typing import Any

PEER = os.environ["PEER"]
HOMES = {
    "numpy": {"numpy": ("einsum", "einsum_path")},
    "opt_einsum": {
        "opt_einsum": ("contract", "contract_expression", "contract_path"),
    },
    "einops": {
        "einops": ("rearrange", "reduce", "repeat", "einsum", "pack", "unpack", "parse_shape", "asnumpy"),
        "einops.einops": ("rearrange", "reduce", "repeat", "einsum", "parse_shape", "asnumpy"),
        "einops.packing": ("pack", "unpack"),
    },
}
"""The functions of each library, in the modules that its tests take them from."""
PASSED_ON = {
    "numpy": {"numpy_einsum": "einsum"},
    "opt_einsum": {"peer_contract": "contract", "peer_expression": "contract_expression"},
    "einops": {},
}
"""The names that the modules of `nameexpr.compat` have for functions of the library."""
calls: Counter[str] = Counter()


def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that counts its calls."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        calls[name] += 1
        return function(*args, **kwargs)

    return call


def pytest_configure() -> None:
    """Replace the functions before the tests import them."""
    front = import_module(f"nameexpr.compat.{PEER}")
    lower = import_module("nameexpr.compat.contract_expressions")
    for module, (inside, name) in product((front, lower), PASSED_ON[PEER].items()):
        if hasattr(module, inside):
            setattr(module, inside, counted(f"{name} of {PEER}", getattr(module, inside)))
    for home, names in HOMES[PEER].items():
        import_module(home)
        module: Any = sys.modules[home]
        for name in names:
            own = getattr(front, name)
            setattr(module, name, counted(name, own) if PASSED_ON[PEER] else own)


def pytest_runtest_setup() -> None:
    """Have PyTorch draw the same numbers in every run: some tolerances are too small for others."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the counts."""
    if calls:
        terminalreporter.write_line(f"calls: {dict(calls)}")
