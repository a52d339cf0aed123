"""What the playground of the site computes, without NumPy, is what NumPy computes."""

import json
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest
from playground.page import answer, written

import nameexpr as ne
from oracle.generate import expressions, formulas
from pages import documents

DTYPES = {"b": "bool", "i": "int64", "u": "int64", "f": "float64"}
"""By kind; functions of bools, which NumPy computes in float16, are left out."""
SEEDS = range(60)


def asked(text: str, **given: Any) -> dict[str, Any]:
    """Return the answer to a text."""
    found: dict[str, Any] = json.loads(answer(text, json.dumps(given)))
    return found


def converted(operand: Any) -> np.ndarray[Any, Any] | None:
    """Return an operand in a dtype that JSON can carry; None if there is none, or no element."""
    array = np.asarray(operand.numpy() if isinstance(operand, ne.NamedTensor) else operand)
    is_finite = array.dtype.kind in DTYPES and array.size > 0 and bool(np.isfinite(array).all())
    return array.astype(DTYPES[array.dtype.kind]) if is_finite else None


def printed(value: Any) -> str:
    """Return an array as the playground prints it."""
    array = np.asarray(value)
    return written(array.shape, array.ravel().tolist())


def compared(text: str, operands: dict[str, Any], sizes: dict[str, int], call: Any) -> bool:
    """Compare one text; False if it is none that can be compared."""
    arrays = {name: converted(operand) for name, operand in operands.items()}
    if any(array is None for array in arrays.values()) or any(size < 1 for size in sizes.values()):
        return False
    try:
        with np.errstate(all="ignore"):
            wanted = call(arrays)
    except ne.NameExprError:
        return False
    if isinstance(wanted, tuple) or np.asarray(wanted).dtype.name not in DTYPES.values():
        return False
    given = {name: array.tolist() for name, array in arrays.items() if array is not None}
    found = asked(text, operands=given, sizes=sizes)
    assert "error" not in found, f"{text}\n{found['error']}"
    body = found["result"] if "statements" in found else found["result"].partition("\n")[2]
    assert numbers(body) == pytest.approx(numbers(printed(wanted)), rel=1e-3, abs=1e-3, nan_ok=True), text
    return True


def numbers(text: str) -> list[float]:
    """Return the printed numbers."""
    words = text.partition("\n... ")[0].replace("[", " ").replace("]", " ").replace(",", " ").split()
    return [float({"True": "1", "False": "0"}.get(word, word)) for word in words]


@pytest.mark.parametrize("kind", ["expressions", "formulas"])
def test_values_are_those_of_numpy(kind: str) -> None:
    done = 0
    for seed in SEEDS:
        if kind == "formulas":
            case: Any = formulas.seeded_case(seed)
            operands, call = dict(case.operands), partial(ne.evaluate, case.text, sizes=case.sizes)
            done += compared(case.text, operands, case.sizes, lambda arrays, call=call: call(operands=arrays))
        else:
            case = expressions.seeded_case(seed)
            operands = {f"operand {number}": one for number, one in enumerate(case.operands)}
            call = partial(ne.einsum, case.text)
            done += compared(
                case.text,
                operands,
                case.sizes,
                lambda arrays, call=call, case=case: call(*arrays.values(), sizes=case.sizes),
            )
    assert done >= len(SEEDS) // 4


def test_operands_have_sizes_that_fit() -> None:
    found = asked("y[N] = sum[C](x[N C] * w[C])", sizes={"N": 2, "C": 3})
    x, w = (np.array(json.loads(found["operands"][name])) for name in "xw")
    assert x.shape == (2, 3) and w.shape == (3,)
    assert found["statements"] == ["y: N=2  float64"]
    assert found["result"] == printed(x @ w)


def test_gradients_recurrences_and_positions_are_computed() -> None:
    loss = "loss = sum[C](exp(w[C])) ** 2; h[C D] = grad(grad(loss, w[C]), w[D])"
    w = np.array([0.5, -0.25])
    assert asked(loss, operands={"w": w.tolist()})["result"] == printed(ne.evaluate(loss, w=w))
    state = "h[(1 + T)] = 0, tanh(0.5 * h[_@T] + x[T])"
    x = np.linspace(-1, 1, 6)
    assert asked(state, operands={"x": x.tolist()})["result"] == printed(ne.evaluate(state, x=x))
    rows = "e[T D] = table[v@ids[T] D]"
    table, ids = np.arange(6.0).reshape(3, 2), np.array([2, 0, 2, 1])
    given = {"table": table.tolist(), "ids": ids.tolist()}
    assert asked(rows, operands=given)["result"] == printed(table[ids])


@pytest.mark.parametrize(
    ("text", "given", "part"),
    [
        ("N C, D K -> N K", {}, "RuleError[NE217]"),
        ("y[N = x", {}, "ParseError[NE143]"),
        ("N C -> C N", {"sizes": {"N": 0}}, "whole number from 1"),
        ("N C -> C N", {"operands": {"operand 0": [[1, 2], [3]]}}, "rows of equal length"),
        ("a b -> b", {"operands": {"operand 0": [["x"]]}}, "must be a number"),
        ("x[i] -> x", {}, "Error[NE"),
        ("e[T] = t[v@i[T]]", {"operands": {"t": [1.0, 2.0], "i": [0, 5]}}, "position 5 is outside"),
        (
            "y = sum[i j k](x[i j] * w[j k])",
            {"sizes": {"i": 90, "j": 90, "k": 90}},
            "too much for a playground",
        ),
    ],
)
def test_mistakes_are_explained(text: str, given: dict[str, Any], part: str) -> None:
    assert part in asked(text, **given)["error"]


def test_no_numpy_is_imported() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None; sys.modules['opt_einsum'] = None\n"
        "from playground.page import answer\n"
        "print(answer('g[C] = grad(sum[N C](x[N C] * w[C]) ** 2, w[C])'))\n"
        "print(answer('a b, b -> a : max'), answer('a b,, -> '))"
    )
    paths = [str(documents.ROOT), str(documents.ROOT / "docs")]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {paths}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.count('"result"') == 2 and done.stdout.count('"error"') == 1
