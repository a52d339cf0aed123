"""The bounds on what any text may cost: a second and 300 MB, in a process of its own.

Seconds are those of the processor, so that a busy machine does not fail what is fast.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

SECONDS = 1.0
MEGABYTES = 300

BOMBS = {
    "100,000 opening brackets": '"(" * 100_000',
    "100,000 pairs of brackets": '"(" * 100_000 + ")" * 100_000',
    "brackets up to the length": '"(" * 30_000 + ")" * 30_000',
    "10,000 operands": '", ".join("a" * 10_000) + " -> a"',
    "a megabyte": '"a " * 500_000',
    "as many names as fit": '" ".join(f"x{i}" for i in range(9_000)) + " -> x"',
    "as many anonymous dims as fit": '"_ " * 32_000 + "->"',
    "as many dots as fit": '"." * 60_000',
    "equals signs": '"a=" * 30_000',
    "stars": '"a*" * 30_000',
    "primes": """"a'" * 30_000""",
    "a long name and a dot": '"a" * 60_000 + ".a"',
    "long names that are alike": '"ab" * 10_000 + "c, " + "ab" * 10_000 + "d -> x"',
    "letters that are not ASCII": 'chr(233) * 60_000 + " ->"',
    "a NUL": '"a" + chr(0) + "b -> b"',
    "a lone surrogate": '"a " + chr(0xD800) + " -> a"',
    "a size of 10,000 digits": '"a b=" + "9" * 10_000 + " -> a"',
}
CHILD = """
import json, time
import numpy as np, nameexpr as ne

def peak():
    # Not ru_maxrss where it can be helped: a child starts with the peak of its parent there.
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
    except OSError:
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

x = np.ones((2, 3))
ne.einsum("a b -> b a", x)
start = time.process_time()
try:
    ne.einsum({text}, x)
    code = ""
except ne.NameExprError as fault:
    code = fault.code if str(fault) else "silent"
seconds = time.process_time() - start
print(json.dumps([code, seconds, peak()]))
"""


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS.keys())
def test_a_text_costs_at_most_a_second_and_300_megabytes(text: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", CHILD.format(text=text)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    code, seconds, megabytes = json.loads(run.stdout)
    assert code.startswith("NE")
    assert seconds < SECONDS
    assert megabytes < MEGABYTES
