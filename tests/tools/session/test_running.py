"""Texts and the tensors they are about: which operands are meant, and what comes out."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.session.lines import read_text
from nameexpr.session.running import TextValue, plan_of, prepare, value_of
from nameexpr.terminal.faults import LineError

X = np.arange(6.0).reshape(2, 3)
W = np.array([1.0, 2.0, 4.0])
TENSORS = {"x": ne.tensor(X, names="N C"), "w": ne.tensor(W, names="C"), "v": ne.tensor(W * 2, names="K")}


def run(text: str, tensors: object = None, **options: object) -> TextValue:
    return value_of(prepare(read_text(text), TENSORS if tensors is None else tensors, **options))  # type: ignore[arg-type]


def test_operands_are_those_behind_the_bar() -> None:
    np.testing.assert_array_equal(run("N C, C -> N | x, w").value.data, X @ W)
    assert run("N C, C -> N | x, w").value.names == ("N",)
    np.testing.assert_array_equal(run("N C, -> N C | x, 2.5").value.data, X * 2.5)
    np.testing.assert_array_equal(run("N (a b) -> N a b | x, a=3").value.data, X[..., None])


def test_a_term_means_the_one_tensor_with_those_names() -> None:
    ready = prepare(read_text("C, N C -> N"), TENSORS)
    assert [name for name, _ in ready.operands] == ["w", "x"] and ready.chosen
    np.testing.assert_array_equal(value_of(ready).value.data, X @ W)


def test_names_in_another_order_are_not_meant() -> None:
    with pytest.raises(LineError, match="which tensor is 'C N'"):
        run("C N -> N : sum")


def test_two_tensors_that_fit_are_asked_about() -> None:
    both = {**TENSORS, "u": TENSORS["w"]}
    with pytest.raises(LineError, match="'C' may be w or u") as fault:
        run("N C, C -> N", both)
    assert "N C, C -> N | x, w" in fault.value.hint


def test_the_last_result_is_meant_only_if_nothing_else_is() -> None:
    run("N C, C -> N", {**TENSORS, "_": TENSORS["w"]})
    last = {"x": TENSORS["x"], "_": TENSORS["w"]}
    np.testing.assert_array_equal(run("N C, C -> N", last).value.data, X @ W)


def test_a_text_without_an_arrow_checks_shapes() -> None:
    assert run("N C, C | x, w").value == {"N": 2, "C": 3}
    with pytest.raises(ne.DimNameError):
        run("N C, C | x, v")
    with pytest.raises(LineError, match="computes nothing"):
        plan_of(prepare(read_text("N C, C | x, w"), TENSORS))


def test_a_formula_keeps_every_statement_that_has_a_name() -> None:
    found = run("a[N] = sum[C](x * w); b = a + 1; b * 2")
    assert set(found.named) == {"a", "b"}
    np.testing.assert_array_equal(found.named["a"].data, X @ W)
    np.testing.assert_array_equal(found.named["b"].data, X @ W + 1)
    np.testing.assert_array_equal(found.value.data, (X @ W + 1) * 2)
    last = run("a[N] = sum[C](x * w); b = a + 1")
    assert last.value is last.named["b"]


@pytest.mark.parametrize("text", ["x * q", "N C, C -> N | x, q", "N C, C -> N | q, w", "_ + 1", "N -> N | _"])
def test_a_tensor_that_is_not_there_is_marked_where_it_stands(text: str) -> None:
    with pytest.raises(LineError) as fault:
        run(text)
    missing = "_" if "_" in text else "q"
    assert fault.value.span is not None
    assert fault.value.text[fault.value.span.start : fault.value.span.end] == missing


def test_a_near_name_is_proposed() -> None:
    with pytest.raises(LineError) as fault:
        run("scael * x", {**TENSORS, "scale": TENSORS["w"]})
    assert fault.value.hint == "did you mean 'scale'?"


@pytest.mark.parametrize("item", ["h=", "=2", "h=2.5", "h=x", "h=9999999999999999999"])
def test_a_size_behind_the_bar_is_a_whole_number(item: str) -> None:
    with pytest.raises(LineError, match="is not a size"):
        run(f"N (h d) -> N h d | x, {item}")


def test_arrays_without_names_give_arrays() -> None:
    result = run("N C, C -> N | x, w", {"x": X, "w": W}).value
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, X @ W)


def test_options_are_heeded() -> None:
    assert run("N C, C -> N | x, w", dtype="complex128").value.dtype == complex
    for text in ("x * w", "a = x * w; b = a + 1", "a = x * w; a * 2"):
        found = run(text, dtype="complex128")
        assert {value.dtype for value in (found.value, *found.named.values())} == {np.dtype(complex)}
    with pytest.raises(ne.LimitError):
        run("y = x * w + 1", memory_limit=8)
