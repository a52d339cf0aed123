"""What is shipped, what imports what, and what an import loads."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import nameexpr

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "nameexpr"
LAYERS = (
    ("carets", "forks", "version", "whole_files"),
    ("errors",),
    ("dims", "ops"),
    ("rules",),
    ("syntax", "backends"),
    ("pictures",),
    ("compiler",),
    ("tensors",),
    ("runtime",),
    ("lint", "terminal"),
    ("session",),
    ("cli", "mypy"),
    ("repl",),
    ("notebook",),
    ("__main__",),
)
"""From the bottom up: a module imports its own part and what is below, never a neighbour or what is above."""

USE = """
import numpy as np
import nameexpr as ne
from nameexpr.syntax.parser.grammar import _CHECKOUT, _PACKAGED, grammar_text

assert not _CHECKOUT.exists() and _PACKAGED.exists(), "the grammar in the wheel is the one that is read"
assert "expression :" in grammar_text()
result = ne.einsum("batch chan, chan out -> batch out", np.ones((2, 3)), np.ones((3, 4)))
print(result.tolist(), ne.__file__)
"""


def run_python(source: str, *arguments: str, cwd: Path, path: Path = ROOT) -> str:
    """Return what a fresh interpreter prints that finds the package in `path` first."""
    env = {**os.environ, "PYTHONPATH": str(path), "PYTHONUTF8": "1"}
    command = [sys.executable, "-W", "error", "-c", source, *arguments]
    result = subprocess.run(
        command, check=False, cwd=cwd, env=env, capture_output=True, encoding="utf-8", timeout=120
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


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
    assert told == homes | {"__version__": ("nameexpr.version", "__version__")}
    assert all(getattr(nameexpr, name) is not None for name in told)


def the_file(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def test_the_wheel_holds_the_package_and_nothing_else(built: Path) -> None:
    with zipfile.ZipFile(the_file(built, "*.whl")) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = [path for path in PACKAGE.rglob("*.py*") if "__pycache__" not in path.parts]
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
        "tests/test_packaging.py",
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
    own = ("bfloat16", "mypy", "notebook", "repl")
    optional = {entry.split(">")[0].strip().casefold() for extra in own for entry in extras[extra]}
    modules = (name for path in PACKAGE.rglob("*.py") for name in imports_of(path))
    imported = {name.partition(".")[0].casefold() for name in modules}
    assert imported - set(sys.stdlib_module_names) - {"nameexpr"} == listed | optional


def imports_of(path: Path) -> Iterator[str]:
    """Yield every module that a file imports, at its top or inside a function, for types only or not."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield node.module or ""


def layer_of(part: str) -> int:
    return next(height for height, parts in enumerate(LAYERS) if part in parts)


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_every_part_of_the_package_has_its_layer() -> None:
    parts = {part_of(path) for path in PACKAGE.rglob("*.py")} - {"__init__"}
    assert parts == {part for layer in LAYERS for part in layer}


def test_imports_go_one_way() -> None:
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        here = part_of(path)
        if here == "__init__":
            continue
        for module in imports_of(path):
            if not module.startswith("nameexpr."):
                continue
            there = module.split(".")[1]
            if there != here and layer_of(there) >= layer_of(here):
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert not wrong, "\n".join(wrong)


def test_only_the_upper_layers_mention_numpy() -> None:
    below = [path for path in PACKAGE.rglob("*.py") if part_of(path) in NUMPY_FREE]
    assert [
        path for path in below if any(name.partition(".")[0] == "numpy" for name in imports_of(path))
    ] == []


NUMPY_FREE = {
    "carets",
    "forks",
    "version",
    "errors",
    "dims",
    "rules",
    "syntax",
    "pictures",
    "compiler",
    "lint",
}

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


def test_a_first_call_of_a_plain_text_needs_numpy_only(tmp_path: Path) -> None:
    source = "import nameexpr; nameexpr.einsum({text!r}, [[1]], [[2]])"
    plain, greek = source.format(text="a b, b c -> a c"), source.format(text="α b, b c -> α c")
    assert {"lark", "opt_einsum", "numpy"} & loaded_by(plain, tmp_path) == {"numpy"}
    assert {"lark", "opt_einsum", "numpy"} & loaded_by(greek, tmp_path) == {"lark", "numpy"}


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
from nameexpr.compiler.pipeline import compile_expression, read, type_expression

tree = read("N (h d), h d K, K -> N K : mean")
operands = [Operand((5, 6), ("N", "features")), Operand((2, 3, 4)), Operand((4,))]
typed = type_expression(tree, operands, {})
dtypes = choose_dtypes(("float32",) * 3, "float32", is_summed=True, reducer=typed.reducer, is_asked=False)
compiled = compile_expression(tree, typed, dtypes, [None] * 3)
print(compiled.graph.sizes, compiled.result_shape, len(compiled.program.instructions) > 0)
assert "numpy" not in sys.modules
"""


def test_texts_are_checked_planned_and_lowered_without_numpy(tmp_path: Path) -> None:
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(PACKAGE.rglob("*.py"))
        if part_of(path) in NUMPY_FREE
    ]
    printed = run_python(WITHOUT_NUMPY, *modules, cwd=tmp_path)
    assert printed == "{'N': 5, 'h': 2, 'd': 3, 'K': 4} (5, 4) True\n"
