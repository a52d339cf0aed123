"""The entry of ``python -m benchmarks``: one BLAS thread, then the command."""

from __future__ import annotations

import os
import sys


def run() -> int:
    """Run the command on one BLAS thread; return its exit code.

    The number of threads is read when NumPy, or numexpr, loads, so the command is imported after it is set.
    A second thread beside a busy neighbour measures the neighbour.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
        os.environ[name] = "1"
    from benchmarks.command import main

    try:
        return main()
    except BrokenPipeError:  # the reader, `head` for one, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(run())
