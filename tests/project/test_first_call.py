"""How many of the package's modules a first call loads: pieces cost time, and figures here only go down."""

from __future__ import annotations

from pathlib import Path

import pytest

from project.sources import run_python

FIRST = """
import sys
import numpy as np
import nameexpr as ne

x, w = np.ones((2, 3)), np.ones((3, 4))
exec(sys.argv[1])
print(sum(name.partition(".")[0] == "nameexpr" for name in sys.modules))
"""


@pytest.mark.parametrize(
    ("call", "most"),
    [
        ("", 2),
        ("ne.einsum('N C, C K -> N K', x, w)", 61),
        ("ne.compile('N C, C K -> N K')(x, w)", 72),
        ("ne.evaluate('y[N K] = sum[C](x[N C] * w[C K])', x=x, w=w)", 77),
        ("ne.tensor(x, names='N C').sum('C')", 48),
    ],
)
def test_a_first_call_loads_few_modules(call: str, most: int, tmp_path: Path) -> None:
    """The aim for a first `ne.einsum` is 60."""
    assert int(run_python(FIRST, call, cwd=tmp_path)) <= most


def test_a_first_call_loads_no_dataclasses(tmp_path: Path) -> None:
    """Making its classes would take as long as all the rest: see `nameexpr.records`."""
    script = FIRST.rpartition("print")[0] + "print(int('dataclasses' in sys.modules))"
    assert int(run_python(script, "ne.einsum('N C, C K -> N K', x, w)", cwd=tmp_path)) == 0
