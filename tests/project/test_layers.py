"""Which part of the package knows which: layers, no circles, no name twice, nothing too large.

An import counts wherever it stands: at the top of a module, inside a function, for types only.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from project.sources import NUMPY_FREE, PACKAGE, imports_of, modules, part_of, tree_of

LAYERS = (
    ("carets", "forks", "records", "tracebacks", "version", "whole_files"),
    ("errors",),
    ("dims", "ops"),
    ("rules",),
    ("syntax",),
    ("pictures",),
    ("compiler",),
    ("backends",),
    ("tensors",),
    ("typing",),
    ("runtime",),
    ("compat", "lint", "terminal", "torch"),
    ("session",),
    ("lsp",),
    ("cli", "mypy"),
    ("repl",),
    ("notebook",),
    ("__main__",),
)
"""From the bottom up: a module imports its own part and what is below, never a neighbour or what is above."""
FILE_LINES, FUNCTION_LINES = 300, 50
"""The most of each; a function's docstring does not count."""


def test_every_part_of_the_package_has_its_layer() -> None:
    parts = {part_of(path) for path in modules().values()} - {"__init__"}
    assert parts == {part for layer in LAYERS for part in layer}


def test_imports_go_one_way() -> None:
    heights = {part: height for height, layer in enumerate(LAYERS) for part in layer}
    wrong = []
    for path in modules().values():
        here = part_of(path)
        for module in imports_of(path):
            if here == "__init__" or not module.startswith("nameexpr."):
                continue
            there = module.split(".")[1]
            if there != here and heights[there] >= heights[here]:
                wrong.append(f"{path.relative_to(PACKAGE)} imports {module}")
    assert not wrong, "\n".join(wrong)


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert not circles(arrows())


def test_no_folders_import_each_other_in_a_circle() -> None:
    folders = {name.rpartition(".")[0] for name in arrows()}
    found = {circle for folder in folders for circle in circles(arrows_inside(folder))}
    assert not {circle for circle in found if not folders.isdisjoint(circle.split())}


@cache
def arrows() -> dict[str, set[str]]:
    """Return which modules each module imports, all without `nameexpr.` in front."""
    names = {name: name.removeprefix("nameexpr.") for name in modules() if name != "nameexpr"}
    return {
        short: {names[module] for module in imports_of(modules()[name]) - {name} if module in names}
        for name, short in names.items()
    }


def arrows_inside(folder: str) -> dict[str, set[str]]:
    """Return which of the modules and folders that lie in a folder import which others of them."""
    depth = len(folder.split(".")) + 1 if folder else 1

    def inside(name: str) -> str:
        """Return what lies in the folder and holds a module; nothing where none does."""
        parts = name.split(".")
        return ".".join(parts[:depth]) if len(parts) >= depth and name.startswith(folder) else ""

    found = defaultdict(set)
    for importing, imported in arrows().items():
        found[inside(importing)] |= {inside(name) for name in imported} - {inside(importing), ""}
    found.pop("", None)
    return found


def circles(graph: Mapping[str, set[str]]) -> set[str]:
    """Return the circles of a graph, each as the nodes that are reached from each other."""
    reached = {node: reached_from(node, graph) for node in graph}
    mutual = ([other for other in reached[node] if node in reached[other]] for node in graph)
    return {" ".join(sorted(circle)) for circle in mutual if circle}


def reached_from(node: str, graph: Mapping[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = [node]
    while waiting:
        new = graph.get(waiting.pop(), set()) - reached
        reached |= new
        waiting += new
    return reached


def test_a_circle_is_found_and_what_hangs_on_it_is_not_part_of_it() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"f"}, "f": {"e"}}
    assert circles(graph) == {"b c", "e f"}


def test_no_two_classes_have_one_name() -> None:
    classes = Counter(
        node.name
        for path in modules().values()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef)
    )
    assert not {name for name, count in classes.items() if count > 1}


def test_no_file_is_too_long() -> None:
    long = {
        name.removeprefix("nameexpr.")
        for name, path in modules().items()
        if len(path.read_text(encoding="utf-8").splitlines()) > FILE_LINES
    }
    assert not long


def test_no_function_is_too_long() -> None:
    assert not [
        f"{name}.{node.name} has {lines_of(node)} lines"
        for name, path in modules().items()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef) and lines_of(node) > FUNCTION_LINES
    ]


def lines_of(function: ast.FunctionDef) -> int:
    """Return how many lines a function takes without its docstring."""
    first = function.body[0]
    docstring = (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(function) else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


def test_only_the_upper_layers_import_numpy() -> None:
    below = [path for path in modules().values() if part_of(path) in NUMPY_FREE]
    assert not [path for path in below if any(name.partition(".")[0] == "numpy" for name in imports_of(path))]


def test_no_string_below_numpy_spells_np() -> None:
    spelling = {
        name.removeprefix("nameexpr.")
        for name, path in modules().items()
        if part_of(path) in NUMPY_FREE and any(re.search(r"\bnp\.", text) for text in strings_of(path))
    }
    assert not spelling


def strings_of(path: Path) -> Iterator[str]:
    """Yield every string of a module that is not a docstring."""
    tree = tree_of(path)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value
