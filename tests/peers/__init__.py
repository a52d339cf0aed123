"""The test suites of NumPy, opt_einsum and einops, run on the functions of `nameexpr.compat`.

In `tests/`, `python -m peers` runs all three, as they are installed, and prints how many tests pass and which
calls were passed on to the library. No part of the suites is in this repository.
"""
