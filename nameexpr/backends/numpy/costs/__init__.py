"""The costs of NumPy calls in nanoseconds: `calls` for choosing strategies, `program` for reporting times.

The constants were fitted to about 20,000 timed calls (500 random pairs of operands, every strategy of each,
in float64 and float32) on one thread of an AMD EPYC with OpenBLAS' Haswell kernels and NumPy's AVX-512 loops.
Only their ratios matter for a choice; on another processor, `tune=True` measures instead
(docs/performance.md).
"""
