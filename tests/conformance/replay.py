"""What PyTorch 2.12.1 answered to calls of its 215 named-tensor operators, replayed with nameexpr.

A case of torch_recorded.json.gz says which tensors to build, which call to make, and what PyTorch returned,
or that it raised, and what became of every tensor of the call. `problems` makes the call and lists what
differs. Where ours differs on purpose, an entry of `DEVIATIONS` says so, and what is expected instead.

    python -m conformance.replay [row or family ...]

run in tests/ prints the cases that fail (one for each row, all for a row that is named) and the totals of
each family.
"""

from __future__ import annotations

import importlib.util
import operator
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import nameexpr as ne
from conformance.comparing import dtype_name, elements, result_problems, tensor_problems
from conformance.recording import Entry, array_of, brief, decoded, entries, respelled, spelling, told
from nameexpr.errors import NameExprError


class Failure(NamedTuple):
    """A case whose answer is not PyTorch's, and in what respects."""

    entry: Entry
    problems: list[str]


class Deviation(NamedTuple):
    """Cases in which ours differs on purpose: why, which, and what ours does instead.

    `beside` are cases that the recording lacks, with what PyTorch's page says of them.
    """

    reason: str
    applies: Callable[[Entry], bool]
    ours: Callable[[Entry], dict[str, Any]]
    beside: tuple[Entry, ...] = ()


def leaves_its_operand_alone(entry: Entry) -> dict[str, Any]:
    expect, operand = entry["expect"], entry["case"]["tensors"][0]
    before = {**expect["state"][0], "names": decoded(operand["names"], [])}
    return {**expect, "self": False, "state": [before, *expect["state"][1:]]}


def renamed(name: str) -> Entry:
    """A call with a name that PyTorch's rule, "digits, alphabetical characters, underscore", leaves out."""
    operand = {"data": {"$a": "float32", "shape": [2], "data": [1.0, 2.0]}, "names": {"$u": ["N"]}}
    case = {"op": "rename", "family": "names-api", "form": "method", "call": "rename", "check": "value"}
    case |= {"exact": True, "tensors": [operand], "args": [name], "kwargs": {}, "bounds": None}
    return {"case": case, "expect": {"raise": "RuntimeError", "text": "Invalid name"}, "policy": "doc"}


def takes_the_name(entry: Entry) -> dict[str, Any]:
    (operand,) = entry["case"]["tensors"]
    before = {"k": "t", "names": ["N"], "shape": [2], "dtype": "float32", "data": operand["data"]}
    return {"ret": {**before, "names": entry["case"]["args"]}, "state": [before], "self": False}


def of_integers(entry: Entry) -> bool:
    """Return whether the case asks for a mean or a spread of integers or bools, which PyTorch rejects."""
    case = entry["case"]
    kinds = {np.dtype(tensor["data"]["$a"]).kind for tensor in case["tensors"]}
    return case["op"] in SPREADS and "raise" in entry["expect"] and kinds <= set("iub")


SPREADS = {"mean": ("mean",), "std": ("std",), "var": ("var",)}
SPREADS |= {"std_mean": ("std", "mean"), "var_mean": ("var", "mean")}


def as_of_floats(entry: Entry) -> dict[str, Any]:
    """Return what NumPy gives, which computes in float64; the default dtype is float32 in a replay."""
    case = entry["case"]
    (operand,) = case["tensors"]
    array, options = array_of(operand["data"]), decoded(case["kwargs"], [])
    names = decoded(operand["names"], []) or (None,) * array.ndim
    wanted = next(iter(argument for argument in case["args"] if not isinstance(argument, dict)), None)
    listed = range(array.ndim) if wanted is None else wanted if isinstance(wanted, list) else [wanted]
    axis = tuple(names.index(dim) if isinstance(dim, str) else dim for dim in listed)
    axis = axis if array.ndim else ()
    keepdims, ddof = options.get("keepdim", False), options.get("correction", options.get("unbiased", True))
    kept = tuple(name for at, name in enumerate(names) if keepdims or at not in axis)
    items = []
    for verb in SPREADS[case["op"]]:
        spread = {} if verb == "mean" else {"ddof": int(ddof)}
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = np.asarray(getattr(np, verb)(array, axis, keepdims=keepdims, **spread), np.float32)
        flat = {"$a": "float32", "shape": list(data.shape), "data": data.ravel().tolist()}
        items.append({"k": "t", "names": kept, "shape": data.shape, "dtype": "float32", "data": flat})
    ret = items[0] if len(items) == 1 else {"k": "seq", "vi": False, "items": items}
    state = {"k": "t", "names": names, "shape": array.shape, "dtype": array.dtype.name}
    return {"ret": ret, "state": [{**state, "data": operand["data"]}], "self": False}


def contracts_other_names(entry: Entry) -> bool:
    """Return whether the case is `x @ y` of two dims with different names."""
    case = entry["case"]
    if (case["op"], case["form"]) != ("matmul", "operator"):
        return False
    left, right = ([None, *(decoded(each["names"], []) or [None])] for each in case["tensors"][:2])
    met = {left[-1], right[-1 if len(right) == 2 else -2]}
    return None not in met and len(met) > 1


DEVIATIONS = {
    "@ of dims with different names": Deviation(
        "PyTorch sums whatever the names; here the methods do, and the operator checks names as + does",
        contracts_other_names,
        lambda _: {"raise": "RuntimeError", "text": "the contracted dims have different names"},
    ),
    "mean, std and var of integers": Deviation(
        "PyTorch refuses; ours are float64, or the default float dtype, as np.mean and `: mean` give them",
        of_integers,
        as_of_floats,
    ),
    "names beyond ASCII": Deviation(
        "PyTorch takes ASCII letters alone; ours are identifiers of any script, and primes, as labels are",
        lambda entry: entry["case"]["op"] == "rename" and entry["case"]["args"] in (["é"], ["seq'"]),
        takes_the_name,
        (renamed("é"), renamed("seq'")),
    ),
    "flatten of one dim": Deviation(
        "PyTorch returns self with the new name; ours returns a view and leaves its operand alone",
        lambda entry: entry["case"]["op"] == "flatten" and entry["expect"].get("self") is True,
        leaves_its_operand_alone,
    ),
}
if importlib.util.find_spec("ml_dtypes") is None:
    DEVIATIONS["bfloat16 without ml_dtypes"] = Deviation(
        "NumPy has no bfloat16: without ml_dtypes the method says so",
        lambda entry: entry["case"]["op"] == "bfloat16",
        lambda _: {"raise": "NameExprError", "text": "ml_dtypes is not installed"},
    )


class Library(NamedTuple):
    """A library to replay with: how its tensors are made, how calls are spelt, and what differs."""

    tensor: Callable[[Any, Any], Any]
    respelt: Callable[[dict[str, Any]], dict[str, Any]]
    deviations: dict[str, Deviation]


NUMPY = Library(lambda array, names: ne.tensor(array, names=names), lambda case: case, DEVIATIONS)


@cache
def failures(op: str) -> tuple[Failure, ...]:
    """Return the cases of one operator that fail; each is replayed once per process."""
    return replayed(entry for entry in entries() if entry["case"]["op"] == op)


@cache
def respelled_failures(op: str) -> tuple[Failure, ...]:
    """Return the calls of one operator that fail when its function stands for its method or the reverse."""
    others = (respelled(entry) for entry in entries() if entry["case"]["op"] == op)
    return replayed(entry for entry in others if entry is not None)


def replayed(chosen: Iterable[Entry], library: Library = NUMPY) -> tuple[Failure, ...]:
    with float32_by_default():
        found = [Failure(entry, problems(expecting_ours(entry, library), library)) for entry in chosen]
    return tuple(failure for failure in found if failure.problems)


def expecting_ours(entry: Entry, library: Library = NUMPY) -> Entry:
    for deviation in library.deviations.values():
        if deviation.applies(entry):
            return {**entry, "expect": deviation.ours(entry)}
    return entry


@contextmanager
def float32_by_default() -> Iterator[None]:
    if not hasattr(ne, "set_default_dtype"):
        yield
        return
    ne.set_default_dtype(ne.float32)
    try:
        yield
    finally:
        ne.set_default_dtype(ne.float64)


def called(case: dict[str, Any], tensors: list[ne.NamedTensor]) -> Any:
    arguments, options = decoded(case["args"], tensors), decoded(case["kwargs"], tensors)
    match case["form"]:
        case "attr":
            return getattr(tensors[0], case["call"])
        case "setnames":
            tensors[0].names = arguments[0]
            return tensors[0].names
        case "operator":
            return getattr(operator, case["call"])(*arguments, **options)
        case "func":
            return getattr(ne, case["call"])(*arguments, **options)
        case "method":
            return getattr(tensors[0], case["call"])(*arguments, **options)
    raise AssertionError(case["form"])


def problems(entry: Entry, library: Library = NUMPY) -> list[str]:
    """Make the call of a case; return what is not as expected, nothing if all is. A warning is an error."""
    case, expect = library.respelt(entry["case"]), entry["expect"]
    tensors = [library.tensor(array_of(t["data"]), decoded(t["names"], [])) for t in case["tensors"]]
    before = [snapshot(tensor) for tensor in tensors]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = called(case, tensors)
    except NameExprError as refusal:
        if "raise" not in expect:
            return [f"refused: {first_line(refusal)}"]
        return list(state_problems(tensors, before, "after the error"))
    except Exception as crash:  # noqa: BLE001  whatever else comes out of a call is a failure of the case
        return [f"crashed: {type(crash).__name__}: {first_line(crash)}"]
    if "raise" in expect:
        return [f"did not raise, gave {brief(result)}; PyTorch: {expect['text'][:150]}"]
    return list(answer_problems(case, expect, result, tensors, before))


def answer_problems(
    case: dict[str, Any],
    expect: dict[str, Any],
    result: Any,
    tensors: list[ne.NamedTensor],
    before: list[dict[str, Any]],
) -> Iterator[str]:
    source = array_of(before[0]["data"]) if case["check"] == "index" else None
    yield from result_problems(case, result, expect["ret"], source)
    is_self = bool(tensors) and result is tensors[0]
    if is_self != expect["self"]:
        yield "the result is the tensor itself" if is_self else "the result is not the tensor itself"
    match case["kwargs"].get("out"):
        case {"$t": number} if result is not tensors[number]:
            yield "the result is not out="
    yield from state_problems(tensors, expect["state"], "afterwards")


def snapshot(tensor: ne.NamedTensor) -> dict[str, Any]:
    array, dtype = elements(tensor), dtype_name(tensor.dtype)
    data = {"$a": dtype, "shape": array.shape, "data": array.ravel().tolist()}
    return {"k": "t", "names": tensor.names, "shape": array.shape, "dtype": dtype, "data": data}


def state_problems(
    tensors: list[ne.NamedTensor], states: Iterable[dict[str, Any]], when: str
) -> Iterator[str]:
    for at, (tensor, wanted) in enumerate(zip(tensors, states, strict=True)):
        for problem in tensor_problems(tensor, wanted, is_exact=True):
            yield f"tensor {at} {when}: {problem}"


def first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:150]


def described(failure: Failure) -> str:
    """Return a failing case: the call, its tensors, what differs, and what was expected."""
    case, expect = failure.entry["case"], expecting_ours(failure.entry)["expect"]
    tensors = [ne.tensor(array_of(t["data"]), names=decoded(t["names"], [])) for t in case["tensors"]]
    wanted = f"an error: {expect['text'][:150]}" if "raise" in expect else told(expect["ret"])
    lines = [spelling(case), *(f"  t{at} = {brief(tensor)}" for at, tensor in enumerate(tensors))]
    lines += [f"  - {problem}" for problem in failure.problems]
    return "\n".join([*lines, f"  expected {wanted} ({failure.entry['policy']})"])


def totals(ops: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Return of each family how many cases of these operators agree, and how many there are."""
    ops = set(ops)
    mine = Counter(entry["case"]["family"] for entry in entries() if entry["case"]["op"] in ops)
    wrong = Counter(failure.entry["case"]["family"] for op in ops for failure in failures(op))
    return {family: (count - wrong[family], count) for family, count in mine.most_common()}


def summary(counts: dict[str, tuple[int, int]]) -> str:
    good, total = (sum(pair[at] for pair in counts.values()) for at in (0, 1))
    parts = [f"{family} {right}/{count}" for family, (right, count) in counts.items()]
    return f"PyTorch's answers replayed: {', '.join(parts)}; all {good}/{total}"


def main(wanted: list[str]) -> int:
    ops = {entry["case"]["op"]: entry["case"]["family"] for entry in entries()}
    unknown = set(wanted) - set(ops) - set(ops.values())
    assert not unknown, f"neither a row nor a family: {sorted(unknown)}"
    chosen = [op for op, family in ops.items() if not wanted or op in wanted or family in wanted]
    for op in chosen:
        report(op, all_of_it=op in wanted)
    print(summary(totals(chosen)))
    return int(any(failures(op) or respelled_failures(op) for op in chosen))


def report(op: str, *, all_of_it: bool) -> None:
    """Print the failing cases of an operator, or the first; those respelled only where all others agree."""
    found, how = failures(op) or respelled_failures(op), "" if failures(op) else ", respelled,"
    if found:
        print(f"{op}: {len(found)} cases{how} fail")
    for failure in found if all_of_it else found[:1]:
        print("  " + described(failure).replace("\n", "\n  "))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
