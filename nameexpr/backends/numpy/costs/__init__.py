"""What NumPy calls cost, in nanoseconds: `calls` to choose among strategies by, `program` to tell.

The constants were fitted to some 20,000 timed calls (500 random pairs of operands, every way of each, in
float64 and float32) on one thread of an AMD EPYC with OpenBLAS' Haswell kernels and NumPy's AVX-512 loops.
Only their ratios count for a choice; on another processor, `tune=True` measures instead
(docs/performance.md).
"""
