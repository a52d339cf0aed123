"""PyTorch as a library that texts run on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any

import torch
from torch.nn import Parameter

from nameexpr.backends.dispatch import not_numbers, number_type
from nameexpr.backends.library import Library
from nameexpr.backends.numpy.codegen.function import resolve_function
from nameexpr.backends.numpy.codegen.statements import Assign, Statement, method
from nameexpr.backends.portable.code import statements_of
from nameexpr.backends.portable.target import PORTABLE
from nameexpr.backends.portable.values import known_values
from nameexpr.backends.torch.calls import CALLS, SEVERAL
from nameexpr.backends.torch.kinds import name_of
from nameexpr.backends.torch.passes import explicit, needs_device
from nameexpr.backends.torch.promotion import ARITHMETIC, promoted
from nameexpr.compiler.ir.dtypes import WEAK, WeakDtype, scalar
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Program
from nameexpr.records import replace

TARGET = replace(PORTABLE, native=frozenset({"mean", "vecdot"}))
MODULES = ("functions", "places")
"""The modules of this package that generated code calls."""


def product_dtype(operands: Sequence[Any]) -> str | None:
    """Return the name of the dtype of a product of operands, which depends on their numbers of dims."""
    dtypes = [_marked(one) for one in operands]
    if len(dtypes) == 1 and not isinstance(dtypes[0], WeakDtype):
        return name_of(operands[0].dtype)
    try:
        return promoted(tuple(dtypes))
    except TypeError:
        return None


def _marked(operand: Any) -> str:
    number = number_type(operand)
    if number is not None:
        return WEAK[number]
    if isinstance(operand.dtype, type):
        return WEAK[operand.dtype]
    name = name_of(operand.dtype)
    return name if operand.shape else scalar(name)


def statements(program: Program, _: Sequence[tuple[int, ...]], dtypes: Sequence[str]) -> list[Statement]:
    """Return the statements of a program for operands of these dtypes."""
    program = explicit(program, dtypes)
    known = known_values(program, shapes_of(program), dtypes)
    made = statements_of(program, known, CALLS, "torch", SEVERAL)
    if not needs_device(program):
        return made
    arrays = [number for number, dtype in enumerate(dtypes) if not isinstance(dtype, WeakDtype)]
    return [Assign("device", f"a{arrays[0]}.device" if arrays else "None"), *made]


def guard(name: str, array: Any, suffix: str, constants: dict[str, Any], has_shapes: bool) -> str:
    """Return the condition that a tensor is of the same class, dtype and shape (or number of dims).

    Meta tensors have functions of their own, since PyTorch multiplies them by others without an error, and
    so have layouts. Of integers floats are made in the default dtype.
    """
    constants |= {f"T{suffix}": type(array), f"d{suffix}": array.dtype, f"s{suffix}": array.shape}
    shape = f"{name}.shape == s{suffix}" if has_shapes else f"{name}.ndim == {array.ndim}"
    parts = [f"type({name}) is T{suffix} and {name}.dtype is d{suffix} and {shape}"]
    parts.append(f"{name}.is_meta is {array.is_meta} and {name}.layout is strided")
    constants["strided"] = torch.strided
    if not (array.dtype.is_floating_point or array.dtype.is_complex):
        constants |= {"default_dtype": torch.get_default_dtype, "default": torch.get_default_dtype()}
        parts.append("default_dtype() is default")
    return " and ".join(parts)


def kind_of(array: Any) -> Any:
    """Return what a function depends on other than class, dtype and shape."""
    return array.is_meta, torch.get_default_dtype()


def is_kept(array: Any) -> bool:
    """Return whether an array has values, unlike the tensors that PyTorch traces functions with."""
    return not type(array).__module__.startswith("torch._subclasses")


@cache
def resolve(module: str, name: str) -> Any:
    """Return the function for a name in generated code."""
    if module == "torch":
        return attrgetter(name)(torch)
    if module in MODULES:
        return getattr(import_module(f"nameexpr.backends.torch.{module}"), name)
    return resolve_function(module, name)


def from_number(value: Any, dtype: str, like: torch.Tensor) -> torch.Tensor:
    """Return a number as a tensor without dims; `torch.full` also takes numbers that are traced."""
    return torch.full((), value, dtype=getattr(torch, dtype), device=like.device)


def size_hint(size: Any) -> int:
    """Return a likely value of a symbolic size."""
    from torch.fx.experimental.symbolic_shapes import optimization_hint

    return int(optimization_hint(size, 64))


def as_array(value: Any, like: Any) -> Any:
    """Return an operand as a tensor (NE511 for one that is not dense, NE503 for what is not of numbers that
    PyTorch has).
    """
    if not isinstance(value, torch.Tensor):
        try:
            return torch.as_tensor(value, device=like.device)
        except (TypeError, ValueError, RuntimeError, OverflowError) as reason:
            raise not_numbers(value, "torch.as_tensor(x)") from reason
    if value.layout is not torch.strided or value.is_nested or value.is_quantized:
        from nameexpr.backends.torch.tensors import strided  # imported here, as it is for errors alone

        strided(value)
    return value


def as_numpy(array: torch.Tensor) -> Any:
    """Return a tensor as an array of NumPy, for an error that shows an element."""
    array = array.detach().cpu().resolve_conj().resolve_neg()
    return (array.float() if array.dtype is torch.bfloat16 else array).numpy()


def copied(array: torch.Tensor) -> torch.Tensor:
    """Return a copy of a tensor, which autograd can use; one that needs gradients as it is, which may be a
    parameter.
    """
    if array.requires_grad:
        return array
    with ordinary():
        return as_array(array, array).clone()


def ordinary() -> AbstractContextManager[Any]:
    """Return a context manager in which tensors are made that can be used outside of inference mode."""
    return torch.inference_mode(mode=False)


def copy_into(out: torch.Tensor, result: torch.Tensor) -> None:
    """Write a result into a tensor, whose memory the result may be a view of."""
    shares = out.untyped_storage().data_ptr() == result.untyped_storage().data_ptr()
    out.copy_(result.clone() if shares else result)


def out_fault(out: torch.Tensor, result: torch.Tensor) -> tuple[str, str] | None:
    """Return why a result cannot be written into a tensor, and a hint; None if it can."""
    if torch.is_grad_enabled() and (out.requires_grad or result.requires_grad):
        return "would cut the result off from its gradients", "use the result, or call it in torch.no_grad()"
    overlaps = [step == 0 and size > 1 for size, step in zip(out.shape, out.stride(), strict=True)]
    if any(overlaps):
        return (
            "has elements that share memory, as expand makes",
            "pass one whose elements do not overlap",
        )
    return None


def fault(wrong: Exception) -> str | None:
    """Return the reason for an error of PyTorch; None for other exceptions."""
    kinds = RuntimeError | ValueError | TypeError | IndexError | ArithmeticError
    lines = str(wrong).splitlines()
    return (lines[0][:160] if lines else type(wrong).__name__) if isinstance(wrong, kinds) else None


LIBRARY = Library(
    name="torch",
    target=TARGET,
    arithmetic=ARITHMETIC,
    dtype_name=name_of,
    product_dtype=product_dtype,
    statements=statements,
    resolve=resolve,
    guard=guard,
    from_number=from_number,
    as_array=as_array,
    finish=lambda function, text: function,
    fault=fault,
    imports={
        "torch": "import torch",
        **{module: f"from nameexpr.backends.torch import {module}" for module in MODULES},
    },
    explicit=explicit,
    as_numpy=as_numpy,
    is_foldable=lambda value: not (getattr(value, "requires_grad", False) or isinstance(value, Parameter)),
    now=ordinary,
    copied=copied,
    copy_into=copy_into,
    out_fault=out_fault,
    kind_of=kind_of,
    is_kept=is_kept,
    checks_devices=False,
    view_of=lambda name: method(name, "view_as", name),
    size_hint=size_hint,
)


def library_for(operands: Sequence[Any]) -> Library:
    """Return the library for some operands."""
    return LIBRARY
