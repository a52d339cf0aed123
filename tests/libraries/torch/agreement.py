"""Whether PyTorch and NumPy give the same answers to a random text, as far as their dtypes allow."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch

import nameexpr as ne
from nameexpr.errors import NameExprError
from nameexpr.runtime.einsum import find_entry
from nameexpr.runtime.evaluate import find_formula
from nameexpr.runtime.options import read_options

STORED = {"uint16": "int32", "uint32": "int64", "uint64": "int64"}
"""Dtypes that PyTorch only stores, and what stands for them."""


def plain(operand: Any) -> Any:
    """Return an operand in a dtype that PyTorch computes with."""
    if not isinstance(operand, np.ndarray | np.generic):
        return operand
    wanted = STORED.get(operand.dtype.name, operand.dtype)
    return np.asarray(operand) if operand.dtype == wanted else np.array(operand, wanted)


def with_dims_dtype(operand: Any, operands: list[Any]) -> Any:
    """Return an array without dims as a number: for PyTorch, it is one in promotion."""
    return operand.item() if isinstance(operand, np.ndarray) and not operand.ndim else operand


def as_tensor(operand: Any) -> Any:
    """Return an array as a tensor of its layout, as far as PyTorch has that; a number as it is."""
    if not isinstance(operand, np.ndarray):
        return operand
    strides = [step // operand.itemsize for step in operand.strides]
    if min(strides, default=0) < 0 or not operand.size:
        return torch.from_numpy(operand.copy())
    base = np.zeros(1 + sum(s * (n - 1) for s, n in zip(strides, operand.shape, strict=True)), operand.dtype)
    np.lib.stride_tricks.as_strided(base, operand.shape, operand.strides)[...] = operand
    return torch.from_numpy(base).as_strided(operand.shape, strides)


def run(case: Any, function: Any, operands: Any) -> Any:
    """Return the results of a case as a tuple, or the code of the error."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = case(function, operands)
    except NameExprError as wrong:
        return wrong.code
    return result if isinstance(result, tuple) else (result,)


def dtypes_within(entry: Any) -> list[np.dtype[Any]]:
    """Return the dtypes of floats that NumPy computed in: narrow ones for functions of small integers."""
    program = entry.compile(*entry.latest).program
    bodies = [one.recurrence.body for one in program.instructions if one.recurrence is not None]
    names = {note.dtype for body in (program, *bodies) for note in body.notes}
    return [np.dtype(name) for name in names & {"float16", "float32", "complex64"}]


def differ(expected: np.ndarray[Any, Any], actual: torch.Tensor, inputs: list[Any]) -> str:
    """Return in what way a result differs from NumPy's; nothing if it does not."""
    if not isinstance(actual, torch.Tensor):
        return f"{type(actual)} is no tensor"
    found = (
        actual.resolve_conj().to(torch.float32).numpy() if actual.dtype is torch.bfloat16 else actual.numpy()
    )
    if found.shape != expected.shape:
        return f"shape {found.shape} is not {expected.shape}"
    dtypes = [found.dtype, expected.dtype, *[one.dtype for one in inputs]]
    kinds = [dtype for dtype in dtypes if dtype.kind in "fc"]
    if not kinds:
        return "" if np.array_equal(found, expected) else f"{found} is not {expected}"
    eps = max(np.finfo(dtype).eps for dtype in kinds)
    with np.errstate(all="ignore"):
        wide = expected.astype(np.complex128 if expected.dtype.kind == "c" else np.float64)
        scale = np.nanmax(np.abs(np.where(np.isfinite(wide), wide, 0)), initial=1.0)
        is_close = np.isclose(found, wide, rtol=200 * eps, atol=200 * eps * scale, equal_nan=True)
    if is_close.all():
        return ""
    return f"{found[~is_close][:5]} is not {expected[~is_close][:5]} ({found.dtype}, {expected.dtype})"


def compare(case: Any, operands: Any, inputs: list[Any], entry: Any) -> str:
    """Return in what way the answers differ; "lacks" and a code where only PyTorch refuses."""
    one, other = run(case, *operands[0]), run(case, *operands[1])
    if isinstance(one, str):
        return "refused"
    if isinstance(other, str):
        return f"lacks {other}"
    inputs = [*inputs, *[np.ones(1, dtype) for dtype in dtypes_within(entry)]]
    found = [differ(expected, actual, inputs) for expected, actual in zip(one, other, strict=True)]
    return "; ".join(filter(None, found))


def compare_expression(case: Any) -> str:
    """Return in what way the answers to an expression differ."""
    arrays = [plain(one) for one in case.operands]
    arrays = [with_dims_dtype(one, arrays) for one in arrays]
    tensors = [as_tensor(one) for one in arrays]
    options: dict[str, Any] = {"sizes": case.sizes, "reduce": case.reduce, "dtype": case.dtype}
    given = {word: value for word, value in options.items() if value not in (None, {})}

    def call(function: Any, operands: Any) -> Any:
        return function(case.text, *operands, **given, **case.keywords)

    inputs = [one for one in arrays if isinstance(one, np.ndarray)]
    entry = find_entry(
        case.text, read_options(case.sizes, case.keywords, case.dtype, None, case.reduce).or_none
    )
    return compare(call, ((ne.einsum, arrays), (ne.einsum, tensors)), inputs, entry)


def compare_formula(case: Any) -> str:
    """Return in what way the answers to a formula differ."""
    arrays = {name: plain(one) for name, one in case.operands.items()}
    arrays = {name: with_dims_dtype(one, list(arrays.values())) for name, one in arrays.items()}
    tensors = {name: as_tensor(one) for name, one in arrays.items()}
    options = {"outputs": case.outputs, "sizes": case.sizes}
    given = {word: value for word, value in options.items() if value}

    def call(function: Any, operands: Any) -> Any:
        return function(case.text, operands=operands, **given)

    inputs = [one for one in arrays.values() if isinstance(one, np.ndarray)]
    entry = find_formula(case.text, given)
    return compare(call, ((ne.evaluate, arrays), (ne.evaluate, tensors)), inputs, entry)
