"""PyTorch as a library that texts run on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache, reduce
from operator import attrgetter
from typing import Any

import torch

from nameexpr.backends.library import Library
from nameexpr.backends.portable.code import statements_of
from nameexpr.backends.portable.target import PORTABLE
from nameexpr.backends.torch.calls import CALLS
from nameexpr.compiler.analysis.build.values import Arithmetic
from nameexpr.compiler.ir.dtypes import WEAK, choose_dtypes
from nameexpr.records import replace

TARGET = replace(PORTABLE, native=frozenset({"vecdot"}))


@lru_cache(maxsize=256)
def dtype_name(dtype: Any) -> str:
    """Return the name of a dtype: those of PyTorch are called as NumPy's."""
    return str(dtype).removeprefix("torch.")


def product_dtype(operands: Sequence[Any]) -> str | None:
    """Return the name of the dtype of a product of operands, which depends on their numbers of dims."""
    samples = [_sample(one) if hasattr(one, "shape") else one for one in operands]
    found = samples[0]
    for other in samples[1:]:
        rank = max(_rank(found), _rank(other))
        found = torch.empty((0,) * rank, dtype=torch.result_type(found, other), device="meta")
    return dtype_name(found.dtype)


def _sample(one: Any) -> torch.Tensor:
    return torch.empty((0,) * len(one.shape), dtype=one.dtype, device="meta")


def _rank(value: Any) -> int:
    return value.ndim if isinstance(value, torch.Tensor) else 0


def guard(name: str, array: Any, suffix: str, constants: dict[str, Any], has_shapes: bool) -> str:
    """Return the condition that a tensor is of the same class, dtype and shape (or number of dims)."""
    constants |= {f"T{suffix}": type(array), f"d{suffix}": array.dtype, f"s{suffix}": array.shape}
    shape = f"{name}.shape == s{suffix}" if has_shapes else f"{name}.ndim == {array.ndim}"
    return f"type({name}) is T{suffix} and {name}.dtype is d{suffix} and {shape}"


@cache
def resolve(module: str, name: str) -> Any:
    """Return the function for a name in generated code."""
    return attrgetter(name)({"torch": torch}[module])


def from_number(value: Any, dtype: str, like: torch.Tensor) -> torch.Tensor:
    """Return a number as a tensor without dims; `torch.full` also takes numbers that are traced."""
    return torch.full((), value, dtype=getattr(torch, dtype), device=like.device)


def size_hint(size: Any) -> int:
    """Return a likely value of a symbolic size."""
    from torch.fx.experimental.symbolic_shapes import optimization_hint

    return int(optimization_hint(size, 64))


def fault(wrong: Exception) -> str | None:
    """Return the reason for an error of PyTorch; None for other exceptions."""
    is_ours = isinstance(wrong, RuntimeError | ValueError | TypeError | IndexError)
    return str(wrong).splitlines()[0][:160] if is_ours else None


def _promoted(dtypes: tuple[str, ...]) -> str:
    names = [WEAK_OF.get(dtype, dtype) for dtype in dtypes]
    return dtype_name(reduce(torch.promote_types, [getattr(torch, name) for name in names]))


WEAK_OF = {str(weak): weak.strong for weak in WEAK.values()}


def _undefined(*_: Any) -> Any:
    raise TypeError("formulas are not supported yet")


LIBRARY = Library(
    name="torch",
    target=TARGET,
    arithmetic=Arithmetic(_undefined, _undefined, _undefined, _promoted, choose_dtypes),
    dtype_name=dtype_name,
    product_dtype=product_dtype,
    statements=lambda program, shapes, dtypes: statements_of(program, shapes, CALLS, "torch"),
    resolve=resolve,
    guard=guard,
    from_number=from_number,
    as_array=lambda value, like: value,
    finish=lambda function, text: function,
    fault=fault,
    size_hint=size_hint,
)


def library_for(operands: Sequence[Any]) -> Library:
    """Return the library for some operands."""
    return LIBRARY
