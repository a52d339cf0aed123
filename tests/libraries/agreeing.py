"""Random programs on other libraries: the same operands, and the comparison with NumPy's results.

`outcomes` runs the programs of some seeds on NumPy and on a library, and returns for each seed "equal", the
code of the error with which the library refuses it, or what differs ("coarse" for NumPy's narrow floats).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import nameexpr as ne
from oracle.generate import expressions, formulas
from oracle.reference.expressions import Named

Convert = Callable[[Any], Any]


def plain(operand: Any, missing: dict[str, str]) -> Any:
    """An operand without names, and of a dtype that the library has."""
    array = operand.array if isinstance(operand, Named) else operand
    if not isinstance(array, np.ndarray | np.generic):
        return array
    return array.astype(missing.get(array.dtype.name, array.dtype))


def outcomes(
    kind: str, seeds: Sequence[int], to: Convert, back: Convert, missing: dict[str, str]
) -> Iterator[tuple[int, str]]:
    """Yield the outcome for each seed that has arrays, and is valid without names and custom reducers."""
    for seed in seeds:
        case: Any = (expressions if kind == "expression" else formulas).seeded_case(seed)
        operands = case.operands
        if kind == "expression":
            if callable(case.reduce):
                continue
            changed: Any = tuple([plain(one, missing) for one in operands])
            given, dtype = list(changed), missing.get(case.dtype, case.dtype)
            case = replace(case, operands=changed, dtype=dtype)
            moved: Any = replace(case, operands=tuple([_moved(one, to) for one in changed]))
        else:
            changed = {name: plain(one, missing) for name, one in operands.items()}
            given, case = list(changed.values()), replace(case, operands=changed)
            moved = replace(case, operands={name: _moved(one, to) for name, one in changed.items()})
        if not any(isinstance(one, np.ndarray) for one in given):
            continue
        found = _outcome(case, moved, ne.einsum if kind == "expression" else ne.evaluate, back)
        if found:
            yield seed, found


def _moved(operand: Any, to: Convert) -> Any:
    return to(np.array(operand, order="C")) if isinstance(operand, np.ndarray) else operand


def _outcome(case: Any, moved: Any, function: Any, back: Convert) -> str:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = case.run(function)
        except ne.NameExprError:
            return ""  # it relies on names
        try:
            results = moved.run(function)
        except ne.NameExprError as wrong:
            return ", ".join(one.code for one in wrong.diagnostics)
        several = results if isinstance(results, tuple) else (results,)
        wanted = expected if isinstance(expected, tuple) else (expected,)
        assert not any(isinstance(one, np.ndarray) for one in several), "the result is an array of NumPy"
        differences = [
            difference(back(one), np.asarray(own), case) for one, own in zip(several, wanted, strict=True)
        ]
        return next(filter(None, differences), "equal")


def difference(found: Any, expected: Any, case: Any) -> str:
    """What differs between two arrays; nothing if they agree.

    NumPy computes functions of bools and small integers in float16 or float32, and promotes integers with
    float32 to float64; libraries do neither. "coarse" are floats that are equal in the fewest of these bits.
    """
    if found.shape != expected.shape:
        return f"shape {found.shape}, not {expected.shape}"
    is_float = found.dtype.kind == expected.dtype.kind and found.dtype.kind in "fc"
    if found.dtype == expected.dtype:
        bounds = case if isinstance(case, expressions.Case) else None
        if bounds is None and is_float:
            bounds = expressions.Case("", (), cells=64, scale=_scale(expected))
        if expressions.same(found, expected, bounds):
            return ""
    elif not is_float:
        return f"dtype {found.dtype}, not {expected.dtype}"
    bound = 16 * float(np.finfo(np.float16).eps)
    close = np.isclose(found, expected, rtol=bound, atol=bound * _scale(expected), equal_nan=True)
    return "coarse" if is_float and np.all(close) else "value"


def _scale(array: Any) -> float:
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max()) if finite.size else 1.0
