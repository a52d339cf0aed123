"""Answers to the dtype questions of the compiler: PyTorch's own promotion, and the language's rule for sums.

Tensors without dims are weak, as numbers are: they change the dtype of tensors with dims only if they are of
a wider kind. In a sum, bools and integers are widened to 64 bits before they are multiplied; narrow floats
are not, since PyTorch adds them in float32.

Functions are applied to one element, in a thread of its own, which no mode or transformation of the caller
affects, and no trace of it records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Thread
from typing import Any, TypeVar

import torch

from nameexpr.backends.numpy.codegen.statements import text_of
from nameexpr.backends.portable.folding import fold_numbers
from nameexpr.backends.portable.values import ValueSpec
from nameexpr.backends.torch import functions
from nameexpr.backends.torch.calls import CALLS
from nameexpr.backends.torch.kinds import name_of
from nameexpr.compiler.analysis.build.values import Arithmetic
from nameexpr.compiler.ir.axes import CUSTOM
from nameexpr.compiler.ir.dtypes import FLOATING_RESULT, WEAK, Dtypes, ScalarDtype, strong
from nameexpr.compiler.ir.program import Instruction
from nameexpr.ops import ALONG, SUMMING

T = TypeVar("T")
INTEGERS = frozenset({"bool", "uint8", "int8", "int16", "int32", "int64"})
COMPUTED = INTEGERS | {"float16", "bfloat16", "float32", "float64", "complex64", "complex128"}
"""Dtypes that PyTorch computes with; it only stores others."""
_ONE: dict[str, Any] = {dtype: type_(1) for type_, dtype in WEAK.items()}


def apart(function: Callable[[], T]) -> T:
    """Return the result of a function that is called in a thread of its own."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append((function(), None))
        except Exception as fault:  # noqa: BLE001  raised again
            found.append((None, fault))

    thread = Thread(target=run)
    thread.start()
    thread.join()
    result, fault = found[0]
    if fault is not None:
        raise fault
    return result  # type: ignore[no-any-return]


def _sample(dtype: str, cells: int = 1) -> Any:
    """Return a number, or a tensor of ones, that stands for all of a dtype."""
    if dtype in _ONE:
        return _ONE[dtype]
    is_scalar = isinstance(dtype, ScalarDtype)
    name = dtype.strong if isinstance(dtype, ScalarDtype) else dtype
    if name not in COMPUTED:
        raise TypeError(f"PyTorch only stores {name}")
    return torch.ones(() if is_scalar else (cells,), dtype=getattr(torch, name), device="cpu")


def _applied(instruction: Instruction, dtypes: Sequence[str]) -> str:
    """Return the name of the dtype of an instruction's result for samples of some dtypes."""
    names = [f"a{number}" for number in range(len(dtypes))]
    known = [ValueSpec((1,), dtype) for dtype in dtypes]
    code = text_of(CALLS[instruction.primitive](instruction, known, *names))

    def run() -> Any:
        samples = dict(zip(names, map(_sample, dtypes), strict=True))
        return eval(code, {**samples, "torch": torch, "functions": functions})

    return name_of(apart(run).dtype)


def dtype_of(kernel: str, dtypes: tuple[str, ...]) -> str:
    """Return the dtype of a function for these dtypes; TypeError if there is none."""
    return _dtype_of(kernel, dtypes, torch.get_default_dtype())


@lru_cache(maxsize=4096)
def _dtype_of(kernel: str, dtypes: tuple[str, ...], default: torch.dtype) -> str:
    if all(dtype in _ONE for dtype in dtypes):
        return WEAK[type(fold_numbers(kernel, [_ONE[dtype] for dtype in dtypes]))]
    if kernel == "subtract" and [strong(dtype) for dtype in dtypes].count("bool") == 1:
        kernel = "add"  # bools are converted
    if kernel in ALONG:
        return _of_samples(Instruction("along_axes", (0,), axes=(0,), function=kernel), dtypes)
    sources, constants = tuple(range(len(dtypes))), (None,) * len(dtypes)
    return _of_samples(Instruction("pointwise", sources, (1,), function=kernel, constants=constants), dtypes)


def _of_samples(instruction: Instruction, dtypes: Sequence[str]) -> str:
    """Return the dtype of a result; TypeError if PyTorch refuses the samples."""
    try:
        return _applied(instruction, dtypes)
    except (RuntimeError, ValueError) as refused:
        raise TypeError(str(refused)) from refused


def promoted(dtypes: tuple[str, ...]) -> str:
    """Return the dtype of a product of tensors and numbers of these dtypes; TypeError if there is none."""
    return _promoted(dtypes, torch.get_default_dtype())


@lru_cache(maxsize=4096)
def _promoted(dtypes: tuple[str, ...], default: torch.dtype) -> str:
    if len(set(dtypes)) == 1 and dtypes[0] not in _ONE:
        return strong(dtypes[0])
    return name_of(apart(lambda: functions.common_dtype(*[_sample(dtype, 0) for dtype in dtypes])))


def choose(
    operands: tuple[str, ...],
    product: str,
    reducer: str | None,
    *,
    drops: bool = False,
    is_asked: bool = False,
) -> Dtypes:
    """Return the dtypes of an expression, as `nameexpr.compiler.ir.dtypes.choose_dtypes` does for NumPy;
    TypeError for those that PyTorch only stores.
    """
    is_summed = drops if reducer is None else reducer in SUMMING
    if product not in COMPUTED and (drops or len(operands) > 1 or (reducer and reducer != CUSTOM)):
        raise TypeError(f"PyTorch only stores {product}")
    compute = product
    if is_summed and product in INTEGERS:
        compute = name_of(torch.get_default_dtype()) if reducer in FLOATING_RESULT else "int64"
    if product == "float16" and reducer == "mean" and len(operands) > 1:
        return Dtypes(operands, "float32", product)  # the sum of products might exceed float16, not the mean
    return Dtypes(operands, compute, product if is_asked else compute)


def reduced(reducer: str, dtypes: tuple[str, ...]) -> str:
    """Return the dtype of a product of tensors of these dtypes after a reduction."""
    chosen = choose(dtypes, promoted(dtypes), reducer)
    if reducer in {"sum", "mean"}:
        return chosen.result
    return _of_samples(Instruction("reduce", (0,), axes=(-1,), function=reducer), [chosen.compute])


ARITHMETIC = Arithmetic(dtype_of, fold_numbers, reduced, promoted, choose, is_by_rank=True)
"""PyTorch's promotion for the compiler."""
