"""What the package withstands, measured: long runs, one module a row of docs/reliability.md.

`python -m hardening` from `tests/` (or `nox -s hardening`) runs them all at their full size, prints the
figures, and fails if a promise is broken. Every row's module has `measure(scale)`, where 1.0 is the full
size, and returns `Figures`; the tests run each at a small size, so that the measures stay true themselves.
"""
