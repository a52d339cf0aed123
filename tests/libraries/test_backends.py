"""`ne.backends()` tells what is installed; nothing is imported before an operand of a library is seen."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.backends import listing
from nameexpr.backends.dispatch import SUPPORTED

ROOT = Path(__file__).resolve().parents[2]
QUIET = """
import sys
import nameexpr as ne
assert "numpy" not in sys.modules
print(ne.backends())
import numpy as np
x = np.ones((2, 3))
ne.einsum("a b, b -> a", x, x[0])
ne.evaluate("y[A] = softmax[A](sum[B](x[A B]))", x=x)
ne.tensor(x, names="A B").sum("A").softmax("B")
ne.compile("a b -> a : max").plan(x)
ne.check("a b", x)
found = {name.partition(".")[0] for name in sys.modules}
assert found.isdisjoint({"torch", "jax", "jaxlib", "dask", "distributed", "array_api_strict"}), found
"""


def test_nothing_is_imported_before_an_operand_is_seen() -> None:
    run = subprocess.run([sys.executable, "-c", QUIET], capture_output=True, text=True, check=False, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[1].startswith("numpy ")


def test_libraries_are_listed_with_what_is_installed() -> None:
    found = ne.backends()
    assert found["numpy"].is_imported and found["numpy"].version == np.__version__
    for name in ("torch", "jax", "dask"):
        one = found[name]
        assert one.is_installed == (find_spec(name) is not None)
        assert one.is_imported == (name in sys.modules)
        line = next(line for line in repr(found).splitlines() if line.startswith(name))
        assert ("pip install" in line) != one.is_installed


def test_every_library_that_computes_is_listed() -> None:
    names = {"array_api" if name == listing.STANDARD else name for name in ne.backends()}
    assert names >= SUPPORTED | {"numpy"}


def test_oldest_releases_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(one for extra in extras for one in extra)]
    for name, oldest in listing.OLDEST.items():
        extra = "[array]" if name == "dask" else ""
        assert f"{name}{extra}>={oldest}" in wanted, name


def test_a_library_that_is_not_installed_shows_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "_version", lambda name: None)
    one = ne.backends()["torch"]
    assert (one.version, one.is_installed) == (None, False)
    assert "pip install 'nameexpr[torch]'" in repr(ne.backends())
