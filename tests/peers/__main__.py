"""Run the test suites of NumPy, opt_einsum and einops on `nameexpr.compat`.

python -m peers            # in tests/: all three, with the tests that do not pass
python -m peers numpy      # one of them
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from peers.exceptions import EXPECTED

SUITES = {
    "numpy": ("numpy/_core/tests/test_einsum.py",),
    "opt_einsum": ("opt_einsum/tests",),
    "einops": ("einops/tests",),
}
LEAST = 0.99
"""The share of the tests of each suite that must pass."""
TESTS = Path(__file__).parent.parent


def run(peer: str) -> bool:
    """Run the suite of a library, print what does not pass, and return whether it is what is expected."""
    spec = find_spec(peer)
    if spec is None or spec.origin is None:
        print(f"{peer}: not installed")
        return False
    root = Path(spec.origin).parent.parent
    paths = [str(root / path) for path in SUITES[peer]]
    path = os.pathsep.join([str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PEER": peer, "PYTHONPATH": path, "EINOPS_TEST_BACKENDS": "numpy,torch,jax"}
    options = ["-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", "-p", "peers.plugin", "-c", os.devnull]
    with tempfile.TemporaryDirectory() as empty:
        command = [sys.executable, "-m", "pytest", *options, "--rootdir", empty, *paths]
        done = subprocess.run(
            command, cwd=empty, env=environment, capture_output=True, text=True, check=False
        )
    failed = re.findall(r"^(?:FAILED|ERROR) \S*?::(\S+)", done.stdout, re.MULTILINE)
    counts = {name: int(count) for count, name in re.findall(r"(\d+) (passed|failed|error)", done.stdout)}
    passed, total = counts.get("passed", 0), sum(counts.values())
    print(f"{peer}: {passed} of {total} tests pass")
    print("\n".join(re.findall(r"^calls: .*", done.stdout, re.MULTILINE)))
    for test in failed:
        print(f"  {test}: {EXPECTED.get(test, 'not expected')}")
    if not total:
        print(done.stdout[-2000:], done.stderr[-2000:])
    return passed >= LEAST * total > 0 and all(test in EXPECTED for test in failed)


if __name__ == "__main__":
    outcomes = [run(peer) for peer in sys.argv[1:] or SUITES]
    sys.exit(not all(outcomes))
