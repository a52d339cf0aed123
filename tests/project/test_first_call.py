"""How many modules a first call loads, and how often a new text goes from one file to another: pieces cost
time, and figures here only go down.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from project.sources import run_python

FIRST = """
import os
import sys
os.environ.pop("NAMEEXPR_TARGET", None)  # with the profile of this machine
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
        ("ne.einsum('N C, C K -> N K', x, w)", 60),
        ("ne.compile('N C, C K -> N K')(x, w)", 72),
        ("ne.evaluate('y[N K] = sum[C](x[N C] * w[C K])', x=x, w=w)", 74),
        ("ne.tensor(x, names='N C').sum('C')", 49),
    ],
)
def test_a_first_call_loads_few_modules(call: str, most: int, tmp_path: Path) -> None:
    """The aim for a first `ne.einsum` is 60."""
    assert int(run_python(FIRST, call, cwd=tmp_path)) <= most


def test_a_first_call_loads_no_dataclasses(tmp_path: Path) -> None:
    """Making its classes would take as long as all the rest: see `nameexpr.records`."""
    script = FIRST.rpartition("print")[0] + "print(int('dataclasses' in sys.modules))"
    assert int(run_python(script, "ne.einsum('N C, C K -> N K', x, w)", cwd=tmp_path)) == 0


SCIPY = """
import sys
import numpy as np
import nameexpr as ne

exec(sys.argv[1])
print(int("scipy" in sys.modules))
"""


@pytest.mark.parametrize(
    ("call", "is_loaded"),
    [
        ("ne.evaluate('sigmoid(x[N C]) + tanh(x) + softplus(x)', x=np.ones((2, 3)))", False),
        ("ne.evaluate('gelu(x[N C]) + erf(x)', x=np.ones((100, 100)))", False),
        ("ne.evaluate('erf(x[N C])', x=np.ones((2, 3)))", True),
    ],
)
def test_scipy_is_loaded_by_what_needs_it(call: str, is_loaded: bool, tmp_path: Path) -> None:
    assert int(run_python(SCIPY, call, cwd=tmp_path)) == is_loaded


NEW = """
import sys
import numpy as np
import nameexpr as ne

ne.einsum("a b c, c d -> b d a", np.ones((2, 3, 4)), np.ones((4, 5)))
ne.evaluate("z[a d] = sum[b c](x[a b c] * w[c d])", x=np.ones((2, 3, 4)), w=np.ones((4, 5)))
x, w = np.ones((4, 5)), np.ones((5, 6))
code, entered = compile(sys.argv[1], "call", "exec"), []

def note(frame, event, _):
    name = frame.f_code.co_filename
    if event == "call" and name not in entered[-1:] and name.startswith((ne.__path__[0], "<nameexpr>")):
        entered.append(name)

sys.setprofile(note)
exec(code)
sys.setprofile(None)
print(len(set(entered)), len(entered))
"""


@pytest.mark.parametrize(
    ("call", "files", "moves"),
    [
        ("ne.einsum('N C, C K -> N K', x, w)", 22, 52),
        ("ne.evaluate('y[N K] = sum[C](x[N C] * w[C K])', x=x, w=w)", 33, 114),
    ],
)
def test_a_new_text_makes_few_moves_between_few_files(
    call: str, files: int, moves: int, tmp_path: Path
) -> None:
    """The aim for `ne.einsum` is 20 files, and 30 for `ne.evaluate`."""
    entered, moved = map(int, run_python(NEW, call, cwd=tmp_path).split())
    assert entered <= files
    assert moved <= moves
