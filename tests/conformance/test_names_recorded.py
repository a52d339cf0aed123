"""What PyTorch 2.12.1 answered to calls of the verbs about names, replayed.

names_recorded.json holds the cases of the recording that concern names, has_names, rename, rename_,
refine_names, align_to, align_as, flatten, unflatten, size and tensor. An error of PyTorch's must be one of
ours, whatever its words.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.errors import NameExprError

ENTRIES = json.loads((Path(__file__).parent / "names_recorded.json").read_text())["cases"]
OPS = [
    "names",
    "has_names",
    "rename",
    "rename_",
    "refine_names",
    "align_to",
    "align_as",
    "flatten",
    "unflatten",
]
OPS += ["tensor", "size"]


def identity(entry: dict[str, Any]) -> str:
    case = entry["case"]
    return f"{case['op']}-{ENTRIES.index(entry)}"


def array_of(value: dict[str, Any]) -> np.ndarray[Any, Any]:
    return np.array(value["data"], dtype=value["$a"]).reshape(value["shape"])


def decoded(value: Any, tensors: list[ne.NamedTensor]) -> Any:
    match value:
        case {"$a": _}:
            return array_of(value)
        case {"$t": number}:
            return tensors[number]
        case {"$e": _}:
            return ...
        case {"$u": items}:
            return tuple(decoded(item, tensors) for item in items)
        case {"$o": pairs}:
            return {key: decoded(size, tensors) for key, size in pairs}
        case list():
            return [decoded(item, tensors) for item in value]
        case dict():
            assert not any(key.startswith("$") for key in value), value
            return {key: decoded(item, tensors) for key, item in value.items()}
    return value


def called(case: dict[str, Any], tensors: list[ne.NamedTensor]) -> Any:
    arguments, options = decoded(case["args"], tensors), decoded(case["kwargs"], tensors)
    match case["form"]:
        case "attr":
            return getattr(tensors[0], case["call"])
        case "setnames":
            tensors[0].names = arguments[0]
            return tensors[0].names
        case "func" if case["call"] == "flatten":
            return arguments[0].flatten(*arguments[1:], **options)
        case "func":
            return getattr(ne, case["call"])(*arguments, **options)
    return getattr(tensors[0], case["call"])(*arguments, **options)


def assert_same(result: Any, expected: dict[str, Any], *, is_exact: bool) -> None:
    match expected["k"]:
        case "t":
            assert result.names == tuple(expected["names"])
            assert result.shape == tuple(expected["shape"])
            dtype = np.dtype(expected["dtype"])
            assert result.dtype == dtype if is_exact else result.dtype.kind == dtype.kind
            np.testing.assert_allclose(result.numpy(), array_of(expected["data"]), rtol=1e-6)
        case "seq":
            assert len(result) == len(expected["items"])
            for item, wanted in zip(result, expected["items"], strict=True):
                assert_same(item, wanted, is_exact=is_exact)
        case "n" | "s":
            assert result == expected["v"]
        case "none":
            assert result is None
        case other:
            raise AssertionError(other)


def renames_its_operand(entry: dict[str, Any]) -> bool:
    """PyTorch's flatten of a single dim returns self, with the new name; ours leaves its operand alone."""
    return entry["case"]["op"] == "flatten" and bool(entry["expect"].get("self"))


@pytest.mark.parametrize("entry", ENTRIES, ids=identity)
def test_the_answer_is_pytorchs(entry: dict[str, Any]) -> None:
    case, expect = entry["case"], entry["expect"]
    tensors = [ne.tensor(array_of(t["data"]), names=decoded(t["names"], [])) for t in case["tensors"]]
    before = [tensor.names for tensor in tensors]
    if "raise" in expect:
        with pytest.raises(NameExprError):
            called(case, tensors)
        return
    result = called(case, tensors)
    # A float made of Python numbers is float64 until set_default_dtype says otherwise.
    is_exact = case["exact"] and bool(tensors)
    assert_same(result, expect["ret"], is_exact=is_exact)
    if renames_its_operand(entry):
        assert [tensor.names for tensor in tensors] == before
        return
    assert (bool(tensors) and result is tensors[0]) == expect["self"]
    for tensor, wanted in zip(tensors, expect["state"], strict=True):
        assert_same(tensor, wanted, is_exact=True)


def test_every_verb_is_replayed() -> None:
    assert Counter(entry["case"]["op"] for entry in ENTRIES) == dict.fromkeys(OPS, 12)
    assert sum(map(renames_its_operand, ENTRIES)) == 5
