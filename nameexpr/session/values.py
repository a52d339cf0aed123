"""Values of a session as text: tensors with a preview, contraction trees as lines, everything else by its
repr.

>>> import nameexpr as ne
>>> print(described(ne.ones(2, 3, names="N C")))
N=2, C=3  float64
>>> print(described(ne.tensor(2.5)))
a number  float64
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nameexpr.carets import visible
from nameexpr.pictures.data import Flow, Node
from nameexpr.pictures.words import bytes_text, flops_text
from nameexpr.runtime.check import Sizes
from nameexpr.tensors import NamedTensor, as_tensor

WHOLE = 60
"""The number of elements from which the middle of a tensor is left out."""
EDGE = 3
LINE = 75
"""The number of columns of a line of an array, as in NumPy."""
PAGE = 2
"""The number of dims of a page: of a large tensor with more dims only the first page is shown."""
LONGEST = 4000
"""The number of characters of a value that are shown."""
LONGEST_TREE = 200
"""The number of lines after which a tree is truncated."""
NUMBERS = (bool, int, float, complex)


def is_tensor_like(value: object) -> bool:
    """Return whether a Python value becomes a tensor of the session: numeric arrays and numbers do."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "biufc"
    return isinstance(value, NamedTensor) or type(value) in NUMBERS


def as_named(value: Any, names: object = None) -> NamedTensor:
    """Convert a value to a tensor without a copy (NameExprError if it is not an array, or has other dims)."""
    if isinstance(value, NamedTensor) and names is None:
        return value
    return as_tensor(value.data if isinstance(value, NamedTensor) else value, names=names)


def as_dtype(text: str) -> np.dtype[Any] | None:
    """Parse a dtype; None if NumPy does not have it."""
    try:
        return np.dtype(text)
    except (TypeError, ValueError, SyntaxError):
        return None


def dims_text(names: tuple[str | None, ...] | None, shape: tuple[int, ...]) -> str:
    """Format names and sizes on one line.

    >>> dims_text(("N", None), (2, 3)), dims_text(None, ())
    ('N=2, 3', 'a number')
    """
    if not shape:
        return "a number"
    pairs = zip(names or (None,) * len(shape), shape, strict=True)
    return ", ".join(f"{visible(name)}={size}" if name else str(size) for name, size in pairs)


def described(tensor: NamedTensor) -> str:
    """Format names, sizes and dtype of a tensor on one line."""
    return f"{dims_text(tensor.names, tensor.shape)}  {tensor.dtype}"


def shown(value: object, precision: int = 4, width: int | None = None) -> str:
    r"""Format a value as printable text of bounded length; lines of arrays have at most `width` columns.

    For a named tuple of tensors, such as that of `x.max("N")`, each tensor is printed after its name.

    >>> print(shown(np.ones(3) / 3), shown("a\x1b[31m"), shown(Sizes({"N": 2}, {"batch": (2, 3)})))
    array([0.3333, 0.3333, 0.3333]) 'a\x1b[31m' N=2, batch...=(2, 3)
    """
    if isinstance(value, Sizes):
        packs = [f"{name.removesuffix('...')}...={shape}" for name, shape in value.packs.items()]
        sizes = [f"{label}={size}" for label, size in value.items()]
        return visible(", ".join([*sizes, *packs])) or "the shapes fit"
    if isinstance(value, tuple) and all(isinstance(tensor, NamedTensor) for tensor in value):
        names = getattr(value, "_fields", ())
        if names:
            parts = zip(names, value, strict=True)
            return "\n".join(f"{visible(name)}:\n{shown(part, precision, width)}" for name, part in parts)
    line = min(LINE, width or LINE)
    with np.printoptions(threshold=WHOLE, edgeitems=EDGE, precision=precision, linewidth=line):
        is_deep = isinstance(value, NamedTensor) and value.ndim > PAGE and value.numel() > WHOLE
        text = _first_page(value) if is_deep else repr(value)
    return visible(text if len(text) <= LONGEST else text[:LONGEST] + "…")


def _first_page(tensor: Any) -> str:
    """Format the first page of a tensor of many dims, under a line that names it."""
    outer = tensor.ndim - PAGE
    indices = ", ".join(f"{name or dim}: 0" for dim, name in enumerate(tensor.names[:outer]))
    return f"{described(tensor)}, the first page, {indices}\n{np.array2string(tensor.data[(0,) * outer])}"


def tree_text(flow: Flow, names: Sequence[str] = ()) -> str:
    """Format a contraction tree, the result on top; `names` are those of the operands in the session.

    >>> operands = Node("operand", "x", "N C"), Node("operand", "w", "C")
    >>> nodes = (*operands, Node("step", "dot", "N", (0, 1), 12, 16))
    >>> print(tree_text(Flow("N C, C -> N", "contraction tree", nodes, (2,))))
    dot  N  12 flops  16 B
    ├── x  N C
    └── w  C
    """
    operands = [number for number, node in enumerate(flow.nodes) if node.kind == "operand"]
    titles = dict(zip(operands, names, strict=True)) if len(names) == len(operands) else {}
    lines: list[str] = []
    seen: set[int] = set()
    waiting = [(output, "", "") for output in flow.outputs]
    while waiting:
        number, head, below = waiting.pop()
        node = flow.nodes[number]
        is_repeated = number in seen and node.sources
        seen.add(number)
        note = "  (as above)" if is_repeated else ""
        lines.append((head + _node_text(node, titles.get(number, node.title)) + note).rstrip())
        if not is_repeated:
            last = len(node.sources) - 1
            for index in range(last, -1, -1):
                branch, rest = ("└── ", "    ") if index == last else ("├── ", "│   ")
                waiting.append((node.sources[index], below + branch, below + rest))
    if len(lines) > LONGEST_TREE:
        lines[LONGEST_TREE:] = [f"... and {len(lines) - LONGEST_TREE:,} more lines"]
    return "\n".join(lines)


def _node_text(node: Node, title: str) -> str:
    parts = [title, node.dims]
    if node.kind != "operand":
        parts.append("" if node.flops is None else flops_text(node.flops))
        parts.append(bytes_text(node.bytes) if node.bytes else "")
    return visible("  ".join(part for part in parts if part).replace("\n", " "))
