"""One instruction as a call of PyTorch, in terms of the shapes and the names of its sources."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.backends.numpy.codegen.statements import Callee, Value, literal, method
from nameexpr.backends.portable.code import Calls
from nameexpr.compiler.ir.program import Instruction

Shape = tuple[int, ...]
NAMES = {
    "absolute": "abs",
    "arctan2": "atan2",
    "conjugate": "conj_physical",
    "equal": "eq",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "not_equal": "ne",
    "power": "pow",
}
"""Kernels that PyTorch calls by another name."""


def torch(name: str) -> Callee:
    """Return a PyTorch function."""
    return Callee("torch", name)


def _dtype(dtype: str) -> Callee:
    return torch(dtype)


def _product(_: Instruction, shapes: Sequence[Shape], x: str, y: str) -> Value:
    names = {(2, 2): "mm", (2, 1): "mv", (1, 1): "dot", (3, 3): "bmm"}
    left, right = shapes
    name = names.get((len(left), len(right)), "matmul")
    is_batch = name != "bmm" or left[0] == right[0]
    return torch(name if is_batch else "matmul")(x, y)


def _transpose(instruction: Instruction, _: Sequence[Shape], x: str) -> Value:
    return method(x, "t") if instruction.axes == (1, 0) else method(x, "permute", str(instruction.axes))


def _sum(instruction: Instruction, _: Sequence[Shape], x: str) -> Value:
    return torch("sum")(
        x, str(instruction.axes), dtype=_dtype(instruction.dtype) if instruction.dtype else None
    )


def _pointwise(instruction: Instruction, _: Sequence[Shape], *sources: str) -> Value:
    names = iter(sources)
    given = [next(names) if number is None else literal(number) for number in instruction.constants]
    return torch(NAMES.get(instruction.function, instruction.function))(*given)


CALLS: Calls = {
    "cast": lambda instruction, _, x: method(x, "to", _dtype(instruction.dtype)),
    "copy": lambda _, __, x: method(x, "clone"),
    "divide": lambda instruction, _, x: torch("true_divide")(x, str(instruction.constants[0])),
    "dot": _product,
    "matmul": _product,
    "multiply": lambda _, __, x, y: torch("mul")(x, y),
    "pointwise": _pointwise,
    "reshape": lambda instruction, _, x: method(x, "reshape", str(instruction.shape)),
    "sum": _sum,
    "transpose": _transpose,
    "vecdot": lambda _, __, x, y: torch("linalg.vecdot")(x, y),
}
"""The code of each instruction, from the instruction, the shapes of its sources, and their names."""
