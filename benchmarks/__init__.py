"""nameexpr against NumPy by hand and against its peers: ``python -m benchmarks``.

Only ratios count: everything runs in one process on one BLAS thread, interleaved, and is divided by the time
of *hand*, the best handwritten NumPy for that workload. This module imports nothing, so that ``__main__`` can
fix the number of threads before NumPy loads.
"""
