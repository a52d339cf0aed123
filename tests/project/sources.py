"""What the tests of the project share: the package's modules, their imports, and a fresh interpreter."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "nameexpr"
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
"""What must work where NumPy cannot be imported."""


@cache
def modules() -> dict[str, Path]:
    """Return the file of every module of the package; a folder's `__init__` has the name of the folder."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted(PACKAGE.rglob("*.py"))
    }


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Return every module that a file imports, at its top or inside a function, for types only or not."""
    return frozenset(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module is not None, f"{path} imports relatively"
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in modules() else node.module for name in names)


def part_of(path: Path) -> str:
    """Return the room at the top of the package that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def run_python(source: str, *arguments: str, cwd: Path, path: Path = ROOT) -> str:
    """Return what a fresh interpreter prints that finds the package in `path` first."""
    env = {**os.environ, "PYTHONPATH": str(path), "PYTHONUTF8": "1"}
    command = [sys.executable, "-W", "error", "-c", source, *arguments]
    result = subprocess.run(
        command, check=False, cwd=cwd, env=env, capture_output=True, encoding="utf-8", timeout=120
    )
    assert result.returncode == 0, result.stderr
    return result.stdout
