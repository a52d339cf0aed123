"""`nameexpr doctor`: describe this installation and find its problems. Nothing is written.

`installation` gathers the facts, with `machine`; `issues` checks them, and `text` formats them. None of them
requires NumPy: that it is missing is worth reporting.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

EXAMPLES = """\
examples:
  nameexpr doctor
  nameexpr doctor --json
  OPENBLAS_NUM_THREADS=1 nameexpr doctor         try another setting

Shows the versions of Python, NumPy and BLAS, the kernels and threads that the BLAS uses, the profile by
which strategies are chosen and how well it predicts a few calls, and whether a few expressions give what
np.einsum gives; then problems and warnings, with what to do about them.
Kernels and threads need threadpoolctl: pip install 'nameexpr[doctor]'. No files are written, and
no network is used.

exit codes: 0 no problems, perhaps warnings, 1 a problem: a package is missing, too old or too new,
or a result is wrong, 2 the arguments are wrong, 130 interrupted."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add nothing: the command has no arguments."""


def run(options: Namespace) -> int:
    """Print the report and return the exit code: 1 if there is a problem, 0 if there are none or only
    warnings.
    """
    import os
    import sys

    from nameexpr.cli.doctor.installation import inspect
    from nameexpr.cli.doctor.issues import find
    from nameexpr.cli.doctor.text import as_data, as_text
    from nameexpr.terminal import screen

    installation = inspect(os.environ)
    issues = find(installation)
    status = int(any(issue.level == "problem" for issue in issues))
    is_coloured = screen.is_colour_wanted(options.color, sys.stdout)
    text = as_text(installation, issues, is_coloured=is_coloured)
    screen.tell(screen.Report(text, as_data(installation, issues, status)), options)
    return status
