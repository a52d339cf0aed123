"""The replay notices: each kind of wrong answer is given to it, and it must say what is wrong.

Every case here calls a function put into the module for the test, with t0 = float32 [1, 2] ('N',).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import nameexpr as ne
from conformance.recording import array_of, decoded, entries, respelled, spelling
from conformance.replay import problems
from nameexpr.errors import Diagnostic, error

Tensor = ne.NamedTensor
Answer = Callable[[Tensor], Any]


def recorded(data: list[Any], dtype: str = "float32", names: tuple[str | None, ...] = ("N",)) -> Any:
    shape = [len(data)]
    array = {"$a": dtype, "shape": shape, "data": data}
    return {"k": "t", "names": list(names), "shape": shape, "dtype": dtype, "data": array}


def entry(ret: Any, *, check: str = "value", exact: bool = False, **others: Any) -> dict[str, Any]:
    operand = {"data": {"$a": "float32", "shape": [2], "data": [1.0, 2.0]}, "names": {"$u": ["N"]}}
    case = {"op": "faked", "family": "keeps", "form": "func", "call": "faked", "check": check, "exact": exact}
    case |= {"tensors": [operand], "args": [{"$t": 0}], "kwargs": {}, "bounds": None, **others}
    expect = {"ret": ret, "state": [recorded([1.0, 2.0])], "self": False}
    return {"case": case, "expect": expect, "policy": "torch"}


def raising(entry: dict[str, Any]) -> dict[str, Any]:
    return {**entry, "expect": {"raise": "RuntimeError", "text": "no"}}


def made(*numbers: Any, names: Any = "N", dtype: str = "float32") -> Tensor:
    return ne.tensor(np.array(numbers, dtype), names=names)


def refuse(_: Tensor) -> Any:
    raise error(Diagnostic("NE653", "this one is ours"))


def crash(_: Tensor) -> Any:
    return 1 // 0


def change(x: Tensor) -> Any:
    x.numpy()[1] = 7
    return made(3, 4)


def rename(x: Tensor) -> Any:
    x.names = ("C",)
    return made(3, 4)


def change_and_refuse(x: Tensor) -> Any:
    change(x)
    return refuse(x)


def warn(_: Tensor) -> Any:
    warnings.warn("beware", UserWarning, stacklevel=1)
    return made(3, 4)


def divide(_: Tensor) -> Any:
    np.zeros(1) / np.zeros(1)
    return made(3, 4)


class Pair(NamedTuple):
    values: Tensor
    indices: Tensor


def pair(value: float, index: int, dtype: str = "int64") -> Answer:
    return lambda _: Pair(made(value), made(index, dtype=dtype))


PLAIN = entry(recorded([3.0, 4.0]))
EXACT = entry(recorded([3.0, 4.0]), exact=True)
INTS = entry(recorded([3, 4], "int64"))
NOT_A_NUMBER = entry(recorded([float("nan"), float("inf")]))
REFUSED = raising(PLAIN)
MAXIMUM = entry(
    {"k": "seq", "vi": True, "items": [recorded([2.0]), recorded([0], "int64")]}, check="index", bounds=0
)
RANDOM = entry(
    {"k": "t", "names": ["N"], "shape": [2], "dtype": "float32"},
    check="rand",
    bounds={"$u": [0, 5, True]},
)
ITEM = entry({"k": "n", "v": 2.5})
IS_EMPTY = entry({"k": "n", "v": False})
POINTER = entry({"k": "n", "v": 0}, check="positive")
TYPE = entry({"k": "s", "v": 0}, check="type")

RIGHT: list[tuple[Any, Answer]] = [
    (PLAIN, lambda _: made(3, 4)),
    (PLAIN, lambda _: made(3 * (1 + 1e-7), 4, dtype="float64")),
    (EXACT, lambda _: made(3, 4)),
    (INTS, lambda _: made(3, 4, dtype="int32")),
    (NOT_A_NUMBER, lambda _: made(np.nan, np.inf)),
    (REFUSED, refuse),
    (MAXIMUM, pair(2, 1)),
    (RANDOM, lambda _: made(0, 5)),
    (ITEM, lambda _: 2.5),
    (IS_EMPTY, lambda _: False),
    (POINTER, lambda _: 1),
    (TYPE, lambda _: "a type"),
]
WRONG: list[tuple[Any, Answer, str]] = [
    (PLAIN, lambda _: made(3, 4, names="C"), "names ('C',), not ('N',)"),
    (PLAIN, lambda _: made(3, 4, names=None), "names (None,), not ('N',)"),
    (PLAIN, lambda _: made(3, 4, 5), "shape (3,), not (2,)"),
    (PLAIN, lambda _: made(3, 5), "at (1,) 5.0, not 4.0 (1 of 2 values differ)"),
    (PLAIN, lambda _: made(3, 4.001), "at (1,)"),
    (PLAIN, lambda _: made(3, np.nan), "at (1,) nan"),
    (NOT_A_NUMBER, lambda _: made(np.nan, -np.inf), "at (1,) -inf"),
    (INTS, lambda _: made(3, 5, dtype="int64"), "at (1,) 5, not 4"),
    (PLAIN, lambda _: made(3, 4, dtype="int64"), "dtype int64, not float32"),
    (EXACT, lambda _: made(3, 4, dtype="float64"), "dtype float64, not float32"),
    (EXACT, lambda _: made(3, 4, 5, dtype="float64"), "shape (3,), not (2,); dtype float64, not float32"),
    (PLAIN, lambda _: np.array([3.0, 4.0]), "a ndarray, not a NamedTensor"),
    (PLAIN, lambda _: None, "a NoneType, not a NamedTensor"),
    (PLAIN, change, "tensor 0 afterwards: at (1,) 7.0, not 2.0"),
    (PLAIN, rename, "tensor 0 afterwards: names ('C',), not ('N',)"),
    (PLAIN, lambda x: x, "the result is the tensor itself"),
    (PLAIN, refuse, "refused: OptionError[NE653]: this one is ours"),
    (PLAIN, crash, "crashed: ZeroDivisionError"),
    (PLAIN, warn, "crashed: UserWarning: beware"),
    (PLAIN, divide, "crashed: RuntimeWarning"),
    (REFUSED, lambda _: made(3, 4), "did not raise, gave float32[2] ('N',) [3, 4]"),
    (REFUSED, crash, "crashed: ZeroDivisionError"),
    (REFUSED, change_and_refuse, "tensor 0 after the error: at (1,) 7.0, not 2.0"),
    (MAXIMUM, pair(1, 0), "item 0: at (0,) 1.0, not 2.0"),
    (MAXIMUM, pair(2, 0), "the indices do not point at the values"),
    (MAXIMUM, pair(2, -1), "indices [-1] go outside a dim of size 2"),
    (MAXIMUM, pair(2, 1, "float64"), "item 1: dtype float64, not int64"),
    (MAXIMUM, lambda x: tuple(pair(2, 1)(x)), "the tuple has no .values and .indices"),
    (MAXIMUM, lambda x: list(pair(2, 1)(x)), "not a tuple of 2"),
    (RANDOM, lambda _: made(0, 6), "values [0, 6] outside 0 to 5"),
    (RANDOM, lambda _: made(0, np.nan), "outside 0 to 5"),
    (RANDOM, lambda _: made(0, 0.5), "are not integral"),
    (ITEM, lambda _: 2.6, "float 2.6, not 2.5"),
    (ITEM, lambda _: np.float32(2.5), "float32"),
    (IS_EMPTY, lambda _: np.False_, "bool"),
    (IS_EMPTY, lambda _: 0, "int 0, not False"),
    (POINTER, lambda _: 0, "int 0, not a positive int"),
    (TYPE, lambda _: "", "not a str"),
]


def problems_of(case: Any, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(ne, "faked", answer, raising=False)
    return problems(case)


@pytest.mark.parametrize("at", range(len(RIGHT)))
def test_a_right_answer_has_no_problems(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert problems_of(*RIGHT[at], monkeypatch) == []


@pytest.mark.parametrize("at", range(len(WRONG)))
def test_a_wrong_answer_is_told(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case, answer, problem = WRONG[at]
    assert problem in "; ".join(problems_of(case, answer, monkeypatch))


def test_a_call_in_place_must_return_and_change_its_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    case = entry(recorded([1.0, 7.0]))
    case["expect"] |= {"self": True, "state": [recorded([1.0, 7.0])]}

    def write(x: Tensor) -> Tensor:
        change(x)
        return x

    assert problems_of(case, write, monkeypatch) == []
    assert problems_of(case, lambda _: made(1, 7), monkeypatch) == [
        "the result is not the tensor itself",
        "tensor 0 afterwards: at (1,) 2.0, not 7.0 (1 of 2 values differ)",
    ]


def test_a_result_must_be_its_out(monkeypatch: pytest.MonkeyPatch) -> None:
    case = entry(recorded([1.0, 2.0]), kwargs={"out": {"$t": 0}})
    case["expect"] |= {"self": True}
    monkeypatch.setattr(ne, "faked", lambda _, out: made(*out.numpy()), raising=False)
    assert "the result is not out=" in problems(case)


def test_a_doctored_recording_is_noticed() -> None:
    """Real cases that agree, each changed in one respect: a name, a value, the operand, an error for it."""
    plain = next(e for e in entries() if e["case"]["op"] == "rename" and "ret" in e["expect"])
    expect = plain["expect"]
    ret, state = expect["ret"], expect["state"][0]
    values = array_of(ret["data"]) + 1
    data = {**ret["data"], "data": values.ravel().tolist()}
    doctored = [
        {**expect, "ret": {**ret, "names": ["zzz", *ret["names"][1:]]}},
        {**expect, "ret": {**ret, "data": data}},
        {**expect, "ret": {**ret, "dtype": "int64"}},
        {**expect, "state": [{**state, "data": data}]},
        {**expect, "state": [{**state, "names": ["zzz", *state["names"][1:]]}]},
        {"raise": "RuntimeError", "text": "no"},
    ]
    assert problems(plain) == []
    assert [expect for expect in doctored if not problems({**plain, "expect": expect})] == []


def test_values_are_decoded() -> None:
    x = made(1)
    value = {"a": [{"$t": 0}, {"$e": 1}], "b": {"$u": [{"$o": [["k", 2]]}, None]}}
    assert decoded(value, [x]) == {"a": [x, ...], "b": ({"k": 2}, None)}
    array = decoded({"$a": "int8", "shape": [1, 2], "data": [1, 2]}, [])
    assert array.dtype == np.int8 and array.tolist() == [[1, 2]]
    with pytest.raises(AssertionError):
        decoded({"$new": 1}, [])


def test_a_method_is_respelled_as_a_function_and_back() -> None:
    method = {"case": {"op": "add", "form": "method", "call": "add", "args": [{"$t": 1}], "kwargs": {}}}
    function = respelled(method)
    assert function is not None and spelling(function["case"]) == "ne.add(t0, t1)"
    assert respelled(function) == method
    assert respelled({"case": {**method["case"], "op": "add_"}}) is None
