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
    """Run the suite of a library, print what does not pass, and return whether it is what is expected.

    Tests that fail with the library itself, too, are not counted.
    """
    spec = find_spec(peer)
    if spec is None or spec.origin is None:
        print(f"{peer}: not installed")
        return False
    root = Path(spec.origin).parent.parent
    output = tested(peer, [str(root / path) for path in SUITES[peer]], "-p", "peers.plugin")
    found = failures(output)
    failed = [name for name in found if not fails_itself(peer, name, root)]
    passed = sum(int(count) for count in re.findall(r"(\d+) passed", output))
    total = passed + len(failed)
    print(f"{peer}: {passed} of {total} tests pass")
    print(*re.findall(r"^calls: .*", output, re.MULTILINE), sep="\n")
    for test in found:
        why = (
            EXPECTED.get(test, "not expected") if test in failed else "not counted: fails in the library, too"
        )
        print(f"  {test}: {why}")
    if not passed:
        print(output[-2000:])
    return passed >= LEAST * total > 0 and all(test in EXPECTED for test in failed)


def tested(peer: str, tests: list[str], *options: str) -> str:
    """Return what pytest prints for some tests."""
    path = os.pathsep.join([str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PEER": peer, "PYTHONPATH": path, "EINOPS_TEST_BACKENDS": "numpy,torch,jax"}
    environment["PATH"] = programs  # a test of einops runs "python"
    options = ("-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", "-c", os.devnull, *options)
    with tempfile.TemporaryDirectory() as empty:
        command = [sys.executable, "-m", "pytest", *options, "--rootdir", empty, *tests]
        done = subprocess.run(
            command, cwd=empty, env=environment, capture_output=True, text=True, check=False
        )
    return done.stdout + done.stderr


def failures(output: str) -> list[str]:
    """Return the names of the tests that fail, from what pytest prints."""
    return re.findall(r"^(?:FAILED|ERROR) \S*?::(.+?)(?: - .*)?$", output, re.MULTILINE)


def fails_itself(peer: str, test: str, root: Path) -> bool:
    """Return whether a test fails with the library's own functions."""
    name = test.partition("[")[0].rpartition("::")[2]
    return test in failures(tested(peer, [str(root / path) for path in SUITES[peer]], "-k", name))


if __name__ == "__main__":
    outcomes = [run(peer) for peer in sys.argv[1:] or SUITES]
    sys.exit(not all(outcomes))
