"""Operands that nearly fit a text, guessed from its tokens by nothing of the package.

Most texts of a fuzzer are wrong; operands that fit the others lead them to the ends of the compiler.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod

import numpy as np

from nameexpr.tensors import NamedTensor, wrap

CELLS = 4096
"""Elements of the largest operand."""
_TOKEN = re.compile(r"[^\W\d]\w*'*|\d+|\.\.\.|[()\[\],]")
_VIEW = re.compile(r"([^\W\d]\w*)\s*\[([^\[\]]*)\](?!\s*(?:\(|=[^=]))")
_NAMES = re.compile(r"[^\W\d]\w*")
_LABEL = re.compile(r"[^\W\d]\w*+'*+(?!\.|\s*=)")
_COMMENT = re.compile(r"#[^\n]*")
_ALIAS = re.compile(r"[^\W\d]\w*'*\s*=\s*")
_ASSIGNED = re.compile(r"(?:^|[;\n])\s*([^\W\d]\w*)\s*(?:\[[^\]]*\])?\s*=(?!=)")
_MOST_DIMS = 20
_OPERANDS = ("x", "w", "v")
_FUNCTIONS = ("size", "index")


def size_of(label: str) -> int:
    """Return the size of a label: 1, 2 or 3, always the same."""
    return (2, 3, 2, 1)[(len(label) + ord(label[0])) % 4]


def dims_of(term: str) -> list[tuple[str | None, int]]:
    """Return name and size of each dim of a term, as far as they can be guessed.

    >>> dims_of("N (a b) ... 2")
    [('N', 1), (None, 6), (None, 2), (None, 2)]
    """
    dims: list[tuple[str | None, int]] = []
    group: list[int] | None = None
    for token in _TOKEN.findall(_ALIAS.sub("", term)):
        if token == "(":
            group = []
        elif token == ")":
            dims.append((None, prod(group or ())))
            group = None
        elif token == "...":
            dims.append((None, 2))
        else:
            size = int(token[:2]) if token.isdecimal() else size_of(token) if token not in ",[]" else 1
            if group is None:
                dims.append((None if token.isdecimal() or token == "_" else token, size))
            else:
                group.append(size)
    return dims[:_MOST_DIMS]


def terms_of(text: str) -> list[str]:
    """Return the terms on the left of an expression."""
    return _COMMENT.sub("", text).partition("->")[0].partition(":")[0].split(",")[:8]


def shapes_for(text: str) -> list[tuple[int, ...]]:
    """Return a shape for each term of an expression."""
    return [tuple(size for _, size in dims_of(term)) for term in terms_of(text)]


@lru_cache(maxsize=512)
def array_of(shape: tuple[int, ...], kind: int = 0) -> np.ndarray:  # type: ignore[type-arg]
    """Return an array of a shape, small ones only; what would be larger is a scalar."""
    dtype = (np.float64, np.int64, np.float32, np.complex64, np.bool_)[kind % 5]
    cells = prod(shape)
    return np.arange(cells).astype(dtype).reshape(shape) if cells <= CELLS else np.zeros((), dtype)


def sizes_for(text: str) -> dict[str, int]:
    """Return a size for each label of an expression."""
    labels = _LABEL.findall(_COMMENT.sub("", text).partition(":")[0])
    return {label: size_of(label) for label in labels[:12] if label != "_"}


def arrays_for(text: str, kind: int = 0) -> list[np.ndarray]:  # type: ignore[type-arg]
    """Return an array for each term of an expression."""
    return [array_of(shape, kind) for shape in shapes_for(text)]


def tensors_for(text: str, kind: int = 0) -> list[NamedTensor]:
    """Return a tensor with the names of its term for each term of an expression."""
    return [_tensor(dims_of(term), kind) for term in terms_of(text)]


def views_for(text: str, kind: int = 0) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
    """Return an array for each operand that a formula seems to have."""
    bare = _COMMENT.sub("", text)
    found = {name: dims_of(term) for name, term in reversed(_VIEW.findall(bare))}
    others = {*_FUNCTIONS, *_ASSIGNED.findall(bare)}
    return {
        name: array_of(tuple(size for _, size in found.get(name, ())), kind)
        for name in dict.fromkeys(_NAMES.findall(bare)[:30])
        if name not in others and (name in found or name in _OPERANDS)
    }


def _tensor(dims: list[tuple[str | None, int]], kind: int) -> NamedTensor:
    names = [name if name and name.isidentifier() and name.isascii() else None for name, _ in dims]
    once = [None if name in names[:place] else name for place, name in enumerate(names)]
    array = array_of(tuple(size for _, size in dims), kind)
    return wrap(array, tuple(once[: array.ndim]))
