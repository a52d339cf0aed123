"""Small changes to the code that decides (mutants), each against the tests that run the changed line.

cosmic-ray makes the changes; which tests run a line is known from `branches`. A mutant that no test notices
has survived. One that changes annotations only, which never run, is none.
"""

from __future__ import annotations

import ast
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from hardening.branches import DATA, ROOT, recorded
from hardening.figures import Figures, counted

MUTANTS = 400
LEAST = 0.85
SEED = 1
SECONDS = 300
"""For the tests of one mutant; one that makes them run longer is killed, as a loop without end is."""
FIRST_TESTS, MOST_TESTS = 40, 600
"""Tests that are run first, those that run the fewest lines; and in all."""
BROAD = (
    "cases/test_cases.py",
    "properties/test_broken_expressions.py",
    "properties/test_expressions.py",
    "pages/test_docs.py",
    "properties/test_formulas.py",
    "properties/test_broken_formulas.py",
)
"""Tests that run nearly every line, and so come late in the order of the others."""
FIGURE = re.compile(r"[A-Z_, ]+ = ")
"""A threshold: measured, not derived, and tested by the benchmark. Changing one is not a mutant."""
PROCESSES = 2
AREAS = (
    "compiler/analysis/**/*.py", "compiler/ir/graph.py", "compiler/lowering/*.py", "compiler/passes/*.py",
    "compiler/planning/**/*.py", "compiler/schedule/**/*.py", "dims.py", "rules/*.py", "tensors/core.py",
)  # fmt: skip
"""Checker, sizes, planner, lowering and name rules."""


class Mutant(NamedTuple):
    """One change: a file, the line, what it becomes, and the whole changed source."""

    path: str
    line: int
    before: str
    after: str
    source: str


def measure(scale: float) -> Figures:
    """Run the tests against a random sample of all mutants."""
    count = counted(MUTANTS, scale)
    sample = sampled(count, random.Random(SEED))
    with tempfile.TemporaryDirectory() as folder:
        data = recorded(
            Path(os.environ.get(DATA) or folder), [] if scale >= 0.01 else ["tests/unit/test_dims.py"]
        )
        tests = TestsOfLines(data)
        survivors = [mutant for mutant, is_killed in tried(sample, tests, Path(folder)) if not is_killed]
    killed = count - len(survivors)
    summary = f"{killed} of {count} mutants killed ({100 * killed / count:.0f} %), seed {SEED}"
    listed = [f"{one.path}:{one.line} {one.before.strip()!r} -> {one.after.strip()!r}" for one in survivors]
    print("\n".join(listed), file=sys.stderr)
    return Figures(summary, tuple(listed) if killed < LEAST * count else ())


def sampled(count: int, rng: random.Random) -> list[Mutant]:
    """Return so many mutants, drawn evenly from all places in the files of the areas that can change.

    What a place becomes is drawn, too: else most mutants would be one of the eleven operators that any `+`
    can become.
    """
    from cosmic_ray.ast import get_ast

    kinds = _kinds()
    places = []
    for path in sorted(path for area in AREAS for path in (ROOT / "nameexpr").glob(area)):
        nodes = list(_nodes(get_ast(path.read_text(encoding="utf-8"))))
        for kind, operators in kinds.items():
            total = sum(len(list(operators[0].mutation_positions(node))) for node in nodes)
            places += [(path, kind, number) for number in range(total)]
    rng.shuffle(places)
    found: list[Mutant] = []
    while places and len(found) < count:
        path, kind, number = places.pop()
        mutant = _mutant(path, rng.choice(kinds[kind]), number)
        if mutant is not None:
            found.append(mutant)
    return found


def _kinds() -> dict[str, list[Any]]:
    """Return the ways to change a piece of code, by what they change: all that a `+` can become are one."""
    from cosmic_ray.plugins import get_operator, operator_names

    kinds: dict[str, list[Any]] = {}
    for name in sorted(operator_names()):
        operator = get_operator(name)
        if not operator.arguments():
            kinds.setdefault(name.rpartition("_")[0] or name, []).append(operator())
    return kinds


def _nodes(tree: object) -> Iterator[object]:
    yield tree
    for child in getattr(tree, "children", ()):
        yield from _nodes(child)


def _mutant(path: Path, operator: Any, number: int) -> Mutant | None:
    """Return one change, or None if what runs stays the same."""
    from cosmic_ray.mutating import mutate_code

    source = path.read_text(encoding="utf-8")
    changed = mutate_code(source, operator, number)
    if changed is None or _what_runs(changed) == _what_runs(source):
        return None
    lines = list(zip(source.splitlines(), changed.splitlines(), strict=False))
    line = next(at for at, (left, right) in enumerate(lines) if left != right)
    if FIGURE.match(lines[line][0]):
        return None
    return Mutant(str(path.relative_to(ROOT)), line + 1, *lines[line], changed)


def _what_runs(source: str) -> str:
    """Return the syntax tree of a source without annotations and docstrings."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    return ast.dump(tree)


QUERY = "SELECT context, count(*) FROM arc JOIN context ON context.id = arc.context_id GROUP BY context"


class TestsOfLines:
    """Which tests run which lines, the most specific ones first."""

    __test__ = False

    def __init__(self, data: Path) -> None:
        from coverage import CoverageData

        self.data = CoverageData(str(data))
        self.data.read()
        self.breadth: dict[str, int] = {}
        with sqlite3.connect(data) as rows:
            for context, arcs in rows.execute(QUERY):
                self.breadth[_node(context)] = arcs

    def of(self, mutant: Mutant) -> list[str]:
        """Return the tests that run the line of a mutant, those first that run the fewest lines."""
        by_line = self.data.contexts_by_lineno(mutant.path)
        contexts = {context for context in by_line.get(mutant.line, []) if context}
        if not contexts:  # a line that runs on import: whatever runs anything of this file
            contexts = {context for line in by_line.values() for context in line if context}
        return sorted({_node(context) for context in contexts}, key=lambda one: (self.breadth[one], one))


def _node(context: str) -> str:
    return context.partition("|")[0]


def tried(sample: Sequence[Mutant], tests: TestsOfLines, folder: Path) -> list[tuple[Mutant, bool]]:
    """Return for each mutant whether a test notices it; the mutants live in copies of the sources."""
    copies: SimpleQueue[Path] = SimpleQueue()
    for number in range(PROCESSES):
        copy = folder / f"copy{number}"
        shutil.copytree(
            ROOT, copy, ignore=shutil.ignore_patterns(".git", ".*venv*", "__pycache__", ".*_cache", "dist")
        )
        copies.put(copy)

    def attempt(mutant: Mutant) -> tuple[Mutant, bool]:
        copy = copies.get()
        file = copy / mutant.path
        original = file.read_text(encoding="utf-8")
        try:
            file.write_text(mutant.source, encoding="utf-8")
            chosen = tests.of(mutant)[:MOST_TESTS]
            broad = [f"tests/{file}" for file in BROAD]
            stages = (chosen[:FIRST_TESTS], broad, chosen[FIRST_TESTS:])
            is_killed = any(_fails(copy, stage) for stage in stages)
            print(
                f"{'killed' if is_killed else 'SURVIVED'} {mutant[:4]}",
                file=sys.stderr,
                flush=True,
            )
            return mutant, is_killed
        finally:
            file.write_text(original, encoding="utf-8")
            copies.put(copy)

    with ThreadPoolExecutor(PROCESSES) as pool:
        return list(pool.map(attempt, sample))


def _fails(copy: Path, tests: Sequence[str]) -> bool:
    """Whether one of these tests fails in this copy of the sources."""
    if not tests:
        return False
    environment = {
        **os.environ,
        "PYTHONPATH": str(copy),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        run = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    return run.returncode != 0
