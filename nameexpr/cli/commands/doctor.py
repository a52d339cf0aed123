"""`nameexpr doctor`: what this installation is made of, and what is wrong with it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

EXAMPLES = """\
examples:
  nameexpr doctor
  nameexpr doctor --json
  OPENBLAS_NUM_THREADS=1 nameexpr doctor         what another setting would do

It says which Python, NumPy and BLAS there are, which kernels and how many threads the BLAS
runs, computes a few expressions and compares them with np.einsum, and times a product, a
copy and a call, in about a second. What can be improved follows as problems and warnings.
Nothing is written, and no network is used.

exit codes: 0 fine, or warnings only; 1 a problem: a package is missing, too old or too new,
the grammar cannot be read, or a result is wrong; 2 the arguments are, 130 interrupted."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add nothing: the doctor looks at everything."""


def run(options: Namespace) -> int:
    """Say how things are. What it is for may be that nothing else can be loaded."""
    from nameexpr.cli.doctor import doctor

    return doctor.run(options)
