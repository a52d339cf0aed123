"""Copies of nameexpr from several checkouts in one process, so that their times can be interleaved."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks.gradients.base import Arrays, GradientWorkload
from benchmarks.gradients.peers import Run

PACKAGE = "nameexpr"


class Tree(NamedTuple):
    """A copy of nameexpr, and the modules that it has loaded; without a path the one that is imported."""

    name: str
    path: Path | None
    modules: dict[str, ModuleType]

    @contextmanager
    def active(self) -> Iterator[Any]:
        """Yield the package, while imports find the modules of this copy."""
        if self.path is None:
            yield importlib.import_module(PACKAGE)
            return
        outer = _taken()
        sys.modules.update(self.modules)
        sys.path.insert(0, str(self.path))
        try:
            yield importlib.import_module(PACKAGE)
        finally:
            sys.path.remove(str(self.path))
            self.modules.update(_taken())
            sys.modules.update(outer)


def loaded(name: str, path: Path | None = None) -> Tree:
    """Return the copy of nameexpr in a checkout, or the one that is imported."""
    tree = Tree(name, path and path.resolve(), {})
    with tree.active() as ne:
        found = Path(ne.__file__).parents[1]
        if tree.path not in (None, found):
            raise SystemExit(f"{path} has no nameexpr of its own: {found} was imported")
    return tree


def _taken() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name.partition(".")[0] == PACKAGE]
    return {name: sys.modules.pop(name) for name in names}


def prepared(tree: Tree, workload: GradientWorkload, operands: Arrays) -> Run:
    """Return a call of the workload's value and gradients, which has been compiled."""
    with tree.active() as ne:
        function = function_of(ne, workload)
        function(**operands)
    return lambda: function(**operands)


def function_of(ne: Any, workload: GradientWorkload) -> Any:
    """Return the function of a workload before its first call."""
    if workload.wrt:
        return ne.value_and_grad(workload.text, workload.wrt)
    return ne.compile(workload.text, outputs=workload.outputs or None)
