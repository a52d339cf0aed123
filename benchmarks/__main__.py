"""The entry of ``python -m benchmarks``: one BLAS thread, then the command."""

from __future__ import annotations

import os
import sys


def run() -> int:
    """Run the command on one BLAS thread; return its exit code.

    NumPy and numexpr read the number of threads when they are imported, so that the command is imported after
    it is set. On a busy machine, a second thread would measure the other processes.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
        os.environ[name] = "1"
    from benchmarks.command import main

    try:
        return main()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(run())
