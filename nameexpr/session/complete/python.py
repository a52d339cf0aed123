"""What may come next in Python behind `!`: tensors, and the public names of `np` and `ne`, looked up only in
modules that are loaded already.
"""

from __future__ import annotations

import re
import sys
from types import ModuleType

from nameexpr.session.complete.known import Choice, Known, tensors

_DOTTED = re.compile(r"(?<![\w.])((?:[^\W\d]\w*\.)*)([^\W\d]\w*)?$")
_MODULES = {"np": "numpy", "ne": "nameexpr"}
_REACH = 128


def python_choices(code: str, known: Known) -> tuple[str, list[Choice]]:
    """Return the word at the end of some Python and what it may become.

    Examples
    --------
    >>> import numpy
    >>> word, choices = python_choices("np.linalg.nor", Known())
    >>> word, Choice("norm", "of np.linalg") in choices
    ('nor', True)
    """
    found = _DOTTED.search(code[-_REACH:])
    if found is None:
        return "", []
    path, word = found[1].rstrip("."), found[2] or ""
    if not path:
        modules = [Choice(name, f"module {module}") for name, module in _MODULES.items()]
        return word, [*tensors(known), *modules]
    return word, _attributes(path, word)


def _attributes(path: str, word: str) -> list[Choice]:
    first, *rest = path.split(".")
    module = sys.modules.get(_MODULES.get(first, ""))
    for part in rest:
        inner = vars(module).get(part) if module is not None else None
        module = inner if isinstance(inner, ModuleType) else None
    if module is None:
        return []
    names = getattr(module, "__all__", None) if not word.startswith("_") else None
    listed = dir(module) if names is None else names
    return [Choice(name, f"of {path}") for name in sorted(listed) if word[:1] == "_" or name[0] != "_"]
