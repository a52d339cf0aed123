#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.10.16"]
# ///
"""What contributors run: the steps of .ci/run one by one, and what takes too long for it.

nox                                       # style, types, texts, docs, packages, and the tests on this Python
nox -s tests                              # the tests on Python 3.11, 3.12 and 3.13
nox -s peers                              # the tests of NumPy, opt_einsum and einops on nameexpr.compat
nox -s hardening                          # everything of docs/reliability.md, some hours; figures are printed
nox -s hardening -- programs --scale 0.1  # one row, at a tenth of its size
"""

import os
from pathlib import Path

import nox

nox.needs_version = ">=2025.10.16"
nox.options.default_venv_backend = "uv|virtualenv"
PYTHONS = ["3.11", "3.12", "3.13"]
PROJECT = nox.project.load_toml("pyproject.toml")


def _group(name: str) -> list[str]:
    """Return the requirements of a dependency group."""
    return list(nox.project.dependency_groups(PROJECT, name))


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All tests, those of the documentation among them."""
    session.install("-e", ".[test]")
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session
def style(session: nox.Session) -> None:
    """Layout and lint of code and pages, and their spelling."""
    session.install(*_group("style"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")
    session.run("rumdl", "check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """The types of the package, and of programs as users write them."""
    session.install("-e", ".[test]", *_group("types"))
    session.run("mypy", "nameexpr", "tests/static")
    session.run("basedpyright", "--pythonpath", "python")


@nox.session
def texts(session: nox.Session) -> None:
    """Every expression and formula in the sources and the examples."""
    session.install(".")
    session.run("nameexpr", "check", "nameexpr", "examples", "benchmarks")


@nox.session
def docs(session: nox.Session) -> None:
    """The site, in docs/_build/html; warnings are errors."""
    session.install(".", *_group("docs"))
    session.run("sphinx-build", "-W", "--keep-going", "docs", "docs/_build/html")


@nox.session(default=False)
def links(session: nox.Session) -> None:
    """Links to other sites."""
    session.install(".", *_group("docs"))
    session.run("sphinx-build", "-b", "linkcheck", "docs", "docs/_build/links")


@nox.session(default=False)
def browser(session: nox.Session) -> None:
    """The site in headless Chromium; `-- --chromium PATH` names one that is installed."""
    docs(session)
    session.install("playwright")
    runtime = Path(session.create_tmp()).resolve()
    session.run("npm", "install", "--prefix", str(runtime), "pyodide@314.0.7", external=True)
    site, pyodide = Path("docs/_build/html").resolve(), runtime / "node_modules" / "pyodide"
    session.chdir("tests")
    session.run("python", "-m", "pages.browser", str(site), "--pyodide", str(pyodide), *session.posargs)


@nox.session
def packages(session: nox.Session) -> None:
    """The sdist, and the wheel made from it."""
    session.install("build")
    session.run("python", "-m", "build", *session.posargs)


@nox.session(default=False, python="3.11")
def hardening(session: nox.Session) -> None:
    """The rows of docs/reliability.md; with `--record` their figures are written there."""
    session.install("-e", ".[test]", *_group("hardening"))
    environment = {
        "OPENBLAS_NUM_THREADS": "1",
        "HARDENING_COVERAGE": str(Path(session.create_tmp()).resolve()),
        "HARDENING_PYTHONS": os.pathsep.join(_other_pythons(session)),
    }
    session.chdir("tests")
    session.run("python", "-m", "hardening", *session.posargs, env=environment)


@nox.session(default=False, python="3.11")
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


if __name__ == "__main__":
    nox.main()
