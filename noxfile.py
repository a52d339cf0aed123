"""What is run by hand, with nox: the tests on every Python, and before a release what takes hours.

nox -s tests                              # Python 3.11, 3.12 and 3.13
nox -s peers                              # the tests of NumPy, opt_einsum and einops on nameexpr.compat
nox -s hardening                          # everything of docs/reliability.md, some hours; figures are printed
nox -s hardening -- programs --scale 0.1  # one row, at a tenth of its size
"""

import os
from pathlib import Path

import nox

nox.options.sessions = ["tests"]
PYTHONS = ["3.11", "3.12", "3.13"]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All tests, those of the documentation among them."""
    session.install("-e", ".[test]")
    session.run("pytest", *session.posargs)


@nox.session(python="3.11")
def hardening(session: nox.Session) -> None:
    """The rows of docs/reliability.md; with `--record` their figures are written there."""
    session.install("-e", ".[test,hardening]")
    environment = {
        "OPENBLAS_NUM_THREADS": "1",
        "HARDENING_COVERAGE": str(Path(session.create_tmp()).resolve()),
        "HARDENING_PYTHONS": os.pathsep.join(_other_pythons(session)),
    }
    session.chdir("tests")
    session.run("python", "-m", "hardening", *session.posargs, env=environment)


@nox.session(python="3.11")
def peers(session: nox.Session) -> None:
    """The test suites of NumPy, opt_einsum and einops on `nameexpr.compat` (docs/drop-in.md)."""
    session.install("-e", ".[test]", "einops")
    session.chdir("tests")
    session.run("python", "-m", "peers", *session.posargs, env={"OPENBLAS_NUM_THREADS": "1"})


def _other_pythons(session: nox.Session) -> list[str]:
    """Return the interpreters of other versions whose tests were run here: they have the package."""
    home = Path(session.virtualenv.location).parent  # type: ignore[attr-defined]
    found = [home / f"tests-{version.replace('.', '-')}" / "bin" / "python" for version in PYTHONS[1:]]
    return [str(python) for python in found if python.exists()]
