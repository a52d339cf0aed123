"""What formulas have of expressions: dtype, order, tune, shared code, equal operands, bound ones in order."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import nameexpr as ne
from nameexpr.runtime import cache
from nameexpr.tensors import wrap
from oracle.generate.formulas import Case, seeded_case

RNG = np.random.default_rng(7)
X, W, B = RNG.random((5, 4)), RNG.random((4, 6)), np.arange(6)
LAYER = "y[N K] = sum[C](x[N C] * w[C K]) + b[K]"


def wrapped(value: Any) -> Any:
    return wrap(value.array, value.names) if hasattr(value, "names") else value


def shared(value: Any, first: dict[Any, Any]) -> Any:
    """Return the first value of this kind, if it is an array."""
    if not np.ndim(value):
        return value
    return first.setdefault((np.shape(value), getattr(value, "names", None), str(value.dtype)), value)


def run(case: Case, **options: Any) -> list[np.ndarray]:
    """Return the results of a case on plain arrays."""
    formula = ne.compile(case.text, outputs=case.outputs, sizes=case.sizes or None, **options)
    operands = {name: wrapped(value) for name, value in case.operands.items()}
    with np.errstate(all="ignore"):
        results = formula(operands=operands)
    return list(results) if isinstance(results, tuple) else [results]


@pytest.mark.parametrize("dtype", ["float32", "f8", np.complex64])
def test_a_formula_is_computed_in_the_dtype_that_is_asked_for(dtype: Any) -> None:
    result = ne.evaluate(LAYER, x=X, w=W, b=B, dtype=dtype)
    assert result.dtype == np.dtype(dtype)
    expected = X.astype(dtype) @ W.astype(dtype) + B.astype(dtype)
    assert_allclose(result, expected, rtol=1e-5)
    assert_array_equal(ne.compile(LAYER, dtype=dtype)(x=X, w=W, b=B), result)


def test_operands_are_converted_first_and_results_last() -> None:
    big = np.array([2.0**24, 1.0, -(2.0**24)])
    assert ne.evaluate("sum[i](x[i])", x=big, dtype="float32").dtype == np.float32
    assert_array_equal(ne.evaluate("x[i] / 2", x=np.arange(3), dtype="float32"), np.float32([0, 0.5, 1]))
    assert_array_equal(ne.evaluate("x[i] > 1", x=np.arange(3), dtype="int16"), np.int16([0, 0, 1]))
    wrapped = ne.evaluate("sum[i](x[i])", x=np.int8([100, 100]), dtype="int8")
    assert (wrapped.dtype, int(wrapped)) == (np.int8, -56)
    p, y = ne.evaluate(
        "p[i] = x[i] > 1; y[i] = where(p, x, 0)", outputs=("p", "y"), x=np.arange(3), dtype="f4"
    )
    assert p.dtype == y.dtype == np.float32
    assert_array_equal(y, [0, 0, 2])
    assert ne.evaluate("x[i] * 0.5", x=np.ones(2, "f4"), dtype="f4").dtype == np.float32


def test_names_stay_in_another_dtype() -> None:
    tensor = ne.tensor(X, names="N C")
    assert ne.evaluate("x[... C] * 2", x=tensor, dtype="float32").names == ("N", "C")


def test_a_dtype_that_would_lose_something_is_refused() -> None:
    with pytest.raises(ne.OptionError, match="'x', of dtype float64"):
        ne.evaluate("x[i] + 1", x=np.ones(2), dtype="int32")
    with pytest.raises(ne.OptionError, match="'h', of dtype float64"):
        ne.evaluate("h[i] = x[i] / 2", x=np.arange(2), dtype="int32")
    with pytest.raises(ne.OptionError, match="NE610"):
        ne.compile("x[i]", dtype="float32")(x=np.ones(2, "c8"))


def test_row_major_results_are_new_arrays_and_the_same_values() -> None:
    view = ne.evaluate("y[K N] = x[N K]", x=X, order="C")
    assert view.flags.c_contiguous and not np.shares_memory(view, X)
    copy = ne.evaluate("x[i]", x=B, order="C")
    assert not np.shares_memory(copy, B)
    for seed in range(120):
        case = seeded_case(40_000 + seed)
        for plain, ordered in zip(run(case), run(case, order="C"), strict=True):
            assert_array_equal(plain, ordered, err_msg=case.text)
            assert np.asarray(ordered).flags.c_contiguous


def test_tuning_changes_no_value() -> None:
    assert_allclose(ne.evaluate(LAYER, x=X, w=W, b=B, tune=True), X @ W + B)
    bound = ne.compile(LAYER, tune=True).bind(w=W)
    assert_allclose(bound(x=X, b=B), X @ W + B)
    for seed in range(20):
        case = seeded_case(41_000 + seed)
        for plain, tuned in zip(run(case), run(case, tune=True), strict=True):
            assert np.asarray(plain).dtype == np.asarray(tuned).dtype
            assert_allclose(np.asarray(tuned), np.asarray(plain), rtol=1e-2, err_msg=case.text)


@pytest.mark.parametrize("name", ["dtype", "order", "tune"])
def test_an_operand_may_be_called_as_an_option(name: str) -> None:
    assert_array_equal(ne.evaluate(f"{name}[i] * 2", **{name: B}), B * 2)
    assert_array_equal(ne.compile(f"{name}[i] * 2")(**{name: B}), B * 2)
    assert f"{name}[i] * 2" in ne.explain(f"{name}[i] * 2", **{name: (3,)})


def test_formulas_that_differ_in_names_alone_share_their_code() -> None:
    ne.cache_clear()
    assert_allclose(ne.evaluate(LAYER, x=X, w=W, b=B), X @ W + B)
    (one,) = [*cache.templates.young.values()]
    other = "out[a d] = sum[m](p[a m] * q[m d]) + r[d]"
    assert_allclose(ne.evaluate(other, p=2 * X, q=W, r=B), 2 * X @ W + B)
    assert [*cache.templates.young.values()] == [one]
    for different in (
        "y[K N] = sum[C](x[N C] * w[C K]) + b[K]",
        "y[N K] = sum[C](x[N C] * w[C K]) - b[K]",
        "y[N K] = sum[C](x[N C] * w[C K]) * 2 + b[K]",
        "y[N K] = sum[C](x[N C] * w[C K]) * 2.0 + b[K]",
        "h[N K] = sum[C](x[N C] * w[C K]); y[N K] = h + b[K]",
    ):
        count = len(cache.templates)
        ne.evaluate(different, x=X, w=W, b=B)
        assert len(cache.templates) == count + 1, different


def test_shared_code_tells_faults_of_the_text_at_hand() -> None:
    for text, operands in (
        ("a[i] ** b[i]", {"a": B, "b": B - 1}),
        ("c[k] ** d[k]", {"c": B, "d": B - 1}),
    ):
        with pytest.raises(ne.NameExprError, match="NE526") as fault:
            ne.evaluate(text, **operands)
        assert text in str(fault.value)


def test_what_equal_operands_give_is_computed_once() -> None:
    formula = ne.compile("y[N M] = sum[C](exp(x[N C]) * exp(z[M C]))")
    assert_allclose(formula(x=X, z=X), np.exp(X) @ np.exp(X).T)
    assert formula.code.count("np.exp") == 1
    assert formula.plan(x=X, z=X).flops < formula.plan(x=X, z=X.copy()).flops
    assert_allclose(formula(x=X, z=2 * X), np.exp(X) @ np.exp(2 * X).T)
    assert formula.code.count("np.exp") == 2


def test_equal_operands_change_no_value_and_results_stay_apart() -> None:
    for seed in range(200):
        case = seeded_case(42_000 + seed)
        first: dict[Any, Any] = {}
        same = {name: shared(wrapped(value), first) for name, value in case.operands.items()}
        apart = {name: copy.deepcopy(value) for name, value in same.items()}
        formula = ne.compile(case.text, outputs=case.outputs, sizes=case.sizes or None)
        with np.errstate(all="ignore"):
            try:
                pair = (formula(operands=same), formula(operands=apart))
            except ne.NameExprError as refused:  # int(...) of a value that is not finite
                with pytest.raises(type(refused), match="NE526"):
                    formula(operands=apart)
                continue
        for one, two in zip(*(p if isinstance(p, tuple) else (p,) for p in pair), strict=True):
            assert_allclose(one, two, rtol=1e-6, atol=1e-12, err_msg=case.text)
    one, two = ne.evaluate("p[i] = exp(x[i]); q[i] = exp(z[i])", outputs=("p", "q"), x=X[0], z=X[0])
    assert not np.shares_memory(one, two)


def test_numbers_that_are_equal_but_not_alike_are_not_one() -> None:
    result = ne.evaluate("(x[i] * 2) / 3 + (z[i] * 2.0) / 3", x=B, z=B)
    assert_allclose(result, B * 2 / 3 + B * 2.0 / 3)
    zero = np.zeros(2)
    with np.errstate(divide="ignore", invalid="ignore"):
        result = ne.evaluate("1 / maximum(x[i], 0.0) - 1 / minimum(z[i], -0.0)", x=zero, z=zero)
    assert_array_equal(result, [np.inf, np.inf])


def test_a_bound_formula_contracts_its_bound_operands_first() -> None:
    x, a, b = RNG.random((3, 200)), RNG.random((200, 300)), RNG.random((300, 4))
    chain = ne.compile("y[n c] = sum[a b](x[n a] * A[a b] * B[b c]) + 1")
    ends = chain.bind(A=a, B=b)
    assert_allclose(ends(x=x), x @ a @ b + 1)
    assert ends.plan(x=x).flops < chain.plan(x=x, A=a, B=b).flops / 10
    given = ne.compile("y[n c] = sum[a b](x[n a] * A[a b] * B[b c]) + 1", optimize=False).bind(A=a, B=b)
    assert_allclose(given(x=x), x @ a @ b + 1)
    functions = ne.compile("sum[a b](x[n a] * exp(A[a b]) * tanh(B[b c]))").bind(A=a, B=b)
    assert_allclose(functions(x=x), x @ np.exp(a) @ np.tanh(b))
