"""How a result is compared with PyTorch's: names, shape, dtype and values, as strictly as the case allows.

Each function yields one short text for each thing that differs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import nameexpr as ne
from conformance.recording import array_of, brief, decoded

TOLERANCES = {"float32": (1e-5, 1e-6), "float64": (1e-10, 1e-12)}  # others are conversions: exact


def result_problems(
    case: dict[str, Any], result: Any, wanted: dict[str, Any], source: np.ndarray[Any, Any] | None
) -> Iterator[str]:
    """Compare a result as its case says: `check`, and `exact` for the dtype."""
    match case["check"], wanted["k"]:
        case "positive", "n":
            if not (type(result) is int and result > 0):
                yield f"{brief(result)}, not a positive int"
        case ("type", "s"):
            kind = "Generator" if case["op"] == "manual_seed" else "str"
            if type(result).__name__ != kind or result == "":
                yield f"{brief(result)}, not a {kind}"
        case ("str", _):
            if type(result) is not str:
                yield f"{brief(result)}, not a str"
        case ("index", "seq"):
            assert source is not None
            yield from index_problems(case, result, wanted, source)
        case (_, kind):
            yield from value_problems(result, wanted, is_exact=case["exact"])
            if case["check"] == "rand" and isinstance(result, ne.NamedTensor):
                yield from bounds_problems(elements(result), *decoded(case["bounds"], []))
            assert kind == "t" or case["check"] == "value", case


def value_problems(result: Any, wanted: dict[str, Any], *, is_exact: bool) -> Iterator[str]:
    match wanted["k"]:
        case "t":
            yield from tensor_problems(result, wanted, is_exact=is_exact)
        case "seq":
            yield from sequence_problems(result, wanted, is_exact=is_exact)
        case "n":
            number = wanted["v"]
            if type(result) is not type(number) or not np.isclose(result, number, 1e-6, 0, equal_nan=True):
                yield f"{brief(result)}, not {number!r}"
        case "s":
            if str(result) != wanted["v"]:
                yield f"{brief(result)}, not {wanted['v']!r}"
        case "none":
            if result is not None:
                yield f"{brief(result)}, not None"
        case kind:
            raise AssertionError(kind)


def sequence_problems(result: Any, wanted: dict[str, Any], *, is_exact: bool) -> Iterator[str]:
    items = wanted["items"]
    if not isinstance(result, tuple) or len(result) != len(items):
        yield f"{brief(result)}, not a tuple of {len(items)}"
        return
    if wanted["vi"] and not is_values_and_indices(result):
        yield "the tuple has no .values and .indices"
    for at, (item, expected) in enumerate(zip(result, items, strict=True)):
        yield from (f"item {at}: {problem}" for problem in value_problems(item, expected, is_exact=is_exact))


def is_values_and_indices(result: Any) -> bool:
    return getattr(result, "values", None) is result[0] and getattr(result, "indices", None) is result[1]


def index_problems(
    case: dict[str, Any], result: Any, wanted: dict[str, Any], source: np.ndarray[Any, Any]
) -> Iterator[str]:
    """Compare values; of the indices only names, shape and kind, and that the values stand where they say."""
    values, indices = wanted["items"]
    bare = {**indices, "data": None}
    found = list(sequence_problems(result, {**wanted, "items": [values, bare]}, is_exact=case["exact"]))
    yield from found
    if found:
        return
    source, dim = np.atleast_1d(source), case["bounds"]
    got, at = (elements(item) for item in result)
    if got.ndim < source.ndim:
        got, at = np.expand_dims(got, dim), np.expand_dims(at, dim)
    if at.size and not (at.min() >= 0 and at.max() < source.shape[dim]):
        yield f"indices {brief(at)} go outside a dim of size {source.shape[dim]}"
    elif not np.array_equal(np.take_along_axis(source, at, dim), got, equal_nan=source.dtype.kind == "f"):
        yield "the indices do not point at the values"
    elif case["op"] == "topk" and (np.diff(np.sort(at, dim), axis=dim) == 0).any():
        yield "an index stands twice along the dim"


def tensor_problems(got: Any, wanted: dict[str, Any], *, is_exact: bool) -> Iterator[str]:
    if not isinstance(got, ne.NamedTensor):
        yield f"a {type(got).__name__}, not a NamedTensor"
        return
    name, shape = dtype_name(got.dtype), tuple(wanted["shape"])
    is_same_kind = kind_of(name) == kind_of(wanted["dtype"])
    if got.names != tuple(wanted["names"]):
        yield f"names {got.names}, not {tuple(wanted['names'])}"
    if got.shape != shape:
        yield f"shape {got.shape}, not {shape}"
    if not is_same_kind or (is_exact and name != wanted["dtype"]):
        yield f"dtype {name}, not {wanted['dtype']}"
    if is_same_kind and got.shape == shape and wanted.get("data") is not None:
        yield from array_problems(elements(got), array_of(wanted["data"]), wanted["dtype"])


def dtype_name(dtype: Any) -> str:
    """Return the name of a dtype of NumPy or of PyTorch."""
    return getattr(dtype, "name", None) or str(dtype).rpartition(".")[2]


def elements(x: ne.NamedTensor) -> np.ndarray[Any, Any]:
    """Return the elements of a tensor of any library as an array; bfloat16 of PyTorch as float32."""
    is_unknown = x._kernels is not None and dtype_name(x.dtype) == "bfloat16"
    return x.float().numpy() if is_unknown else x.numpy()


def kind_of(dtype: str) -> str:
    return "f" if dtype == "bfloat16" else np.dtype(dtype).kind


def array_problems(got: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], dtype: str) -> Iterator[str]:
    if kind_of(dtype) == "f":
        got, wanted = got.astype(np.float64), wanted.astype(np.float64)
        is_same = np.isclose(got, wanted, *TOLERANCES.get(dtype, (0, 0)), equal_nan=True)
    else:
        is_same = np.asarray(got == wanted)
    if not is_same.all():
        wrong = np.argwhere(~is_same)
        at = tuple(wrong[0].tolist())
        yield f"at {at} {got[at]!s}, not {wanted[at]!s} ({len(wrong)} of {is_same.size} values differ)"


def bounds_problems(array: np.ndarray[Any, Any], low: float, high: float, is_integral: bool) -> Iterator[str]:
    if not ((low <= array) & (array <= high)).all():
        yield f"values {brief(array)} outside {low} to {high}"
    elif is_integral and (array != np.trunc(array)).any():
        yield f"values {brief(array)} are not integral"
