"""What is shipped, and what an import loads."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import nameexpr
from project.sources import NUMPY_FREE, PACKAGE, ROOT, imports_of, modules, part_of, run_python

USE = """
import numpy as np
import nameexpr as ne
from nameexpr.syntax.grammar import grammar_text, tables_path

assert tables_path().parents[1].name == "nameexpr", "the grammar in the wheel is the one that is read"
assert "expression :" in grammar_text()
result = ne.einsum("batch chan, chan out -> batch out", np.ones((2, 3)), np.ones((3, 4)))
print(result.tolist(), ne.__file__)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the sdist, and the wheel built from it; no network is needed."""
    target = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), str(ROOT)]
    result = subprocess.run(
        command, check=False, cwd=target, capture_output=True, encoding="utf-8", timeout=300
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return target


def test_type_checkers_are_told_of_every_public_name_and_its_home() -> None:
    told = {}
    for node in ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8")).body:
        assert isinstance(node, ast.ImportFrom)
        told |= {alias.asname: (node.module, alias.name) for alias in node.names}
    homes = {name: (home, name) for home, names in nameexpr._HOMES.items() for name in names.split()}
    homes |= {name: ("nameexpr", name) for name in nameexpr._PACKAGES}
    homes |= {"backends": ("nameexpr.backends.listing", "backends")}  # the package itself can be called
    assert told == homes | {"__version__": ("nameexpr.version", "__version__")}
    assert all(getattr(nameexpr, name) is not None for name in told)


def the_file(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def test_the_wheel_holds_the_package_and_nothing_else(built: Path) -> None:
    with zipfile.ZipFile(the_file(built, "*.whl")) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = [path for path in PACKAGE.rglob("*.py*") if "__pycache__" not in path.parts]
    files += PACKAGE.glob("backends/numpy/profiles/*.json")
    modules = {path.relative_to(ROOT).as_posix() for path in files}
    grammars = {f"nameexpr/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "grammar").glob("*.*")}
    assert held == modules | grammars | {"nameexpr/py.typed", "nameexpr/docs/errors.md"}


def test_the_wheel_names_its_script_and_its_licence(built: Path) -> None:
    with zipfile.ZipFile(the_file(built, "*.whl")) as wheel:
        info = f"nameexpr-{nameexpr.__version__}.dist-info"
        assert "nameexpr = nameexpr.cli.main:main" in wheel.read(f"{info}/entry_points.txt").decode()
        assert wheel.read(f"{info}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
        metadata = wheel.read(f"{info}/METADATA").decode()
    assert f"\nVersion: {nameexpr.__version__}\n" in metadata
    assert "\nLicense-Expression: BSD-3-Clause\n" in metadata


def test_the_sdist_holds_the_grammar_the_tests_and_the_data(built: Path) -> None:
    with tarfile.open(the_file(built, "*.tar.gz")) as sdist:
        held = {name.partition("/")[2] for name in sdist.getnames()}
    wanted = [
        "grammar/nameexpr.lark",
        "grammar/formula.lark",
        "nameexpr/py.typed",
        "tests/project/test_packaging.py",
        "examples/data/photos.npy",
    ]
    wanted += ["LICENSE", "README.md", "CHANGELOG.md", "docs/language.md", "benchmarks/__main__.py"]
    assert not set(wanted) - held
    assert not [name for name in held if "__pycache__" in name or name.startswith(("dist", ".venv"))]


def test_the_wheel_works_away_from_the_checkout(built: Path, tmp_path: Path) -> None:
    place = tmp_path / "site"
    with zipfile.ZipFile(the_file(built, "*.whl")) as wheel:
        wheel.extractall(place)
    printed = run_python(USE, cwd=tmp_path, path=place)
    assert printed.startswith("[[3.0, 3.0, 3.0, 3.0], [3.0, 3.0, 3.0, 3.0]]")
    assert printed.rstrip().endswith(str(place / "nameexpr" / "__init__.py"))


def test_every_dependency_is_one_that_the_package_imports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = {entry.split(">")[0].strip() for entry in project["dependencies"]}
    extras = project["optional-dependencies"]
    own = ("bfloat16", "completion", "dask", "jax", "lsp", "mypy", "notebook", "repl", "torch")
    optional = {re.split(r"[>\[ ]", entry)[0].casefold() for extra in own for entry in extras[extra]}
    imported = {name.partition(".")[0].casefold() for path in modules().values() for name in imports_of(path)}
    only_for_types = {"typing_extensions", "xarray"}  # for checkers of types
    optional -= {"distributed"}  # its client is used if the caller has imported it
    assert imported - set(sys.stdlib_module_names) - {"nameexpr"} - only_for_types == listed | optional


LOADED = """
import json, sys
exec(sys.argv[1])
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def loaded_by(source: str, cwd: Path) -> set[str]:
    """Return the top-level modules that are loaded after running a source in a fresh interpreter."""
    return set(json.loads(run_python(LOADED, source, cwd=cwd).splitlines()[-1]))


@pytest.mark.parametrize(
    "source", ["import nameexpr", "import nameexpr; nameexpr.einsum; nameexpr.NamedTensor"]
)
def test_importing_the_package_loads_neither_lark_nor_opt_einsum(source: str, tmp_path: Path) -> None:
    assert not {"lark", "opt_einsum"} & loaded_by(source, tmp_path)


def test_a_first_call_needs_numpy_only(tmp_path: Path) -> None:
    source = "import nameexpr; nameexpr.einsum({text!r}, [[1]], [[2]])"
    plain, greek = source.format(text="a b, b c -> a c"), source.format(text="α b, b c -> α c")
    assert {"lark", "opt_einsum", "numpy"} & loaded_by(plain, tmp_path) == {"numpy"}
    assert {"lark", "opt_einsum", "numpy"} & loaded_by(greek, tmp_path) == {"numpy"}


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
def test_the_command_line_says_its_version_without_numpy(arguments: list[str], tmp_path: Path) -> None:
    source = f"from nameexpr.cli.main import main; main({arguments!r})"
    assert not {"numpy", "lark", "opt_einsum"} & loaded_by(source, tmp_path)


WITHOUT_NUMPY = """
import importlib, sys

class NoNumPy:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "numpy":
            raise ModuleNotFoundError("No module named 'numpy'", name="numpy")

sys.meta_path.insert(0, NoNumPy())
for name in sys.argv[1:]:
    importlib.import_module(name)

from nameexpr.compiler.ir.dtypes import choose_dtypes
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.backends.numpy.target import TARGET
from nameexpr.compiler.compilation import Options
from nameexpr.compiler.pipeline import compile_expression, read
from nameexpr.compiler.analysis.infer import type_expression

tree = read("N (h d), h d K, K -> N K : mean")
operands = [Operand((5, 6), ("N", "features")), Operand((2, 3, 4)), Operand((4,))]
typed = type_expression(tree, operands, {})
dtypes = choose_dtypes(("float32",) * 3, "float32", typed.reducer, drops=True)
compiled = compile_expression(tree, typed, dtypes, [None] * 3, Options(TARGET))
print(compiled.graph.sizes, compiled.result_shape, len(compiled.program.instructions) > 0)
assert "numpy" not in sys.modules
"""


def test_texts_are_checked_planned_and_lowered_without_numpy(tmp_path: Path) -> None:
    below = [name for name, path in modules().items() if part_of(path) in NUMPY_FREE]
    printed = run_python(WITHOUT_NUMPY, *below, cwd=tmp_path)
    assert printed == "{'N': 5, 'h': 2, 'd': 3, 'K': 4} (5, 4) True\n"
