"""Operators on generated tensors: names by the rules of the pages, values by NumPy, or both reject.

Every operator is called on every tensor that is drawn, as a method, a function, in place and with `out=`.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne
from nameexpr.tensors.ops import OPS
from oracle.operators import (
    BINARY,
    DTYPES,
    UNARY,
    Expected,
    Refused,
    checked_written,
    every_name,
    named_shapes,
    partners,
    quiet,
    unify_names,
    values,
)

Tensor = ne.NamedTensor
SIGNS = {
    **{"add": "+", "sub": "-", "mul": "*", "div": "/", "floor_divide": "//", "remainder": "%", "pow": "**"},
    **{"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="},
    **{"bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"},
}


def attempt(compute: Callable[[], Expected]) -> Expected | None:
    """Return what is expected, or None for a refusal."""
    try:
        return compute()
    except Refused:
        return None


def assert_answer(call: Callable[[], Any], expected: Expected | None, what: str) -> None:
    """The call gives what is expected, or an error of ours."""
    if expected is None:
        with pytest.raises(ne.NameExprError):
            pytest.fail(f"{what} gave {call()!r}")
    else:
        assert_is(call(), expected, what)


def assert_is(result: Any, expected: Expected, what: str) -> None:
    assert type(result) is Tensor, what
    assert result.names == expected.names, what
    assert result.dtype == expected.array.dtype, what
    assert result.shape == expected.array.shape, what
    np.testing.assert_allclose(result.numpy(), expected.array, rtol=2e-6, atol=1e-12, err_msg=what)


def assert_written(
    target: Tensor, others: tuple[Tensor, ...], write: Callable[[], Any], after: Expected | None, what: str
) -> None:
    """A write returns the tensor and makes it what is expected, or is rejected and changes nothing."""
    everything = (target, *others)
    before = [Expected(one.names, one.numpy().copy()) for one in everything]
    if after is None:
        with pytest.raises(ne.NameExprError):
            pytest.fail(f"{what} gave {write()!r}")
    else:
        assert write() is target, what
        assert_is(target, after, what)
    for one, old in list(zip(everything, before, strict=True))[after is not None :]:
        assert_is(one, old, f"{what}: an operand was changed")


def outs(expected: Expected) -> Iterator[tuple[str, Tensor]]:
    """Tensors to write a result into: those that suit it and those that do not."""
    names, array = expected
    blank = np.zeros(array.shape, array.dtype)
    yield "exact", ne.from_numpy(blank.copy(), names=names)
    yield "unnamed", ne.from_numpy(blank.copy())
    yield "unnamed empty", ne.from_numpy(np.zeros((0,), array.dtype))
    yield "unnamed, another size", ne.from_numpy(np.zeros((2, 3, 2), array.dtype))
    yield "another size", ne.from_numpy(np.zeros((7,), array.dtype), names="A")
    yield "lower kind", ne.from_numpy(np.zeros(array.shape, np.bool_), names=names)
    yield "higher kind", ne.from_numpy(np.zeros(array.shape, np.complex128))
    if names:
        yield "partly named", ne.from_numpy(blank.copy(), names=("Z", *[None] * (len(names) - 1)))
        yield "other names", ne.from_numpy(blank.copy(), names=[f"n{place}" for place in range(len(names))])
        yield "less specific", ne.from_numpy(blank.copy(), names=(None, *names[1:]))
        yield "one more name", ne.from_numpy(blank.copy(), names=(names[0] or "Z", *names[1:]))


def assert_outs(
    call: Callable[..., Any], operands: tuple[Tensor, ...], expected: Expected | None, what: str
) -> None:
    """`out=` follows its rule, whatever it is."""
    if expected is None:
        with pytest.raises(ne.NameExprError):
            call(out=ne.from_numpy(np.zeros(2), names="A"))
        return
    for kind, out in outs(expected):
        after = attempt(lambda out=out: checked_written(out, expected, is_out=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            assert_written(out, operands, lambda out=out: call(out=out), after, f"{what}, out= {kind}")


def made(names: Any, array: Any) -> Tensor:
    return ne.from_numpy(array.copy(), names=names)


@settings(max_examples=60)
@given(named_shapes(), st.sampled_from(DTYPES), st.integers(0, 99))
def test_pointwise_operators_keep_names(dims: Any, dtype: Any, seed: int) -> None:
    names, shape = dims
    array = values(seed, shape, dtype)
    for verb, truth in UNARY.items():
        x = made(names, array)
        what = f"{dtype} {shape} {names}: {verb}"
        expected = attempt(lambda truth=truth: Expected(names, quiet(truth, array)))
        assert_answer(getattr(x, verb), expected, what)
        assert_answer(lambda x=x, verb=verb: getattr(ne, verb)(x), expected, what)
        if hasattr(x, verb + "_"):
            after = attempt(lambda x=x, e=expected: checked_written(x, refusing(e), is_out=False))
            assert_written(x, (), getattr(x, verb + "_"), after, what + "_")


@settings(max_examples=20)
@given(named_shapes(), st.sampled_from(DTYPES), st.integers(0, 99))
def test_out_of_pointwise_operators(dims: Any, dtype: Any, seed: int) -> None:
    names, shape = dims
    array = values(seed, shape, dtype)
    for verb, truth in UNARY.items():
        x = made(names, array)
        expected = attempt(lambda truth=truth: Expected(names, quiet(truth, array)))
        assert_outs(getattr(x, verb), (x,), expected, f"{dtype} {shape} {names}: {verb}")


def refusing(expected: Expected | None) -> Expected:
    if expected is None:
        raise Refused
    return expected


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Expected, Expected]:
    """Two operands, which mostly go together."""
    names, shape = draw(named_shapes())
    other_names, other_shape = draw(partners(names, shape))
    seed, both = draw(st.integers(0, 99)), st.sampled_from(DTYPES)
    operands = [
        Expected(names, values(seed, shape, draw(both))),
        Expected(other_names, values(seed + 1, other_shape, draw(both))),
    ]
    if draw(st.booleans()):
        operands.reverse()
    return operands[0], operands[1]


def paired(verb: str, left: Expected, right: Expected) -> Expected:
    """Two operands combined: sizes are 1 or equal, names unify."""
    names = unify_names(left.names, right.names)
    return Expected(names, quiet(BINARY[verb], left.array, right.array))


@settings(max_examples=120)
@given(pairs())
def test_operators_on_two_tensors_unify_names(pair: tuple[Expected, Expected]) -> None:
    left, right = pair
    for verb in BINARY:
        x, y = made(*left), made(*right)
        what = f"{left.array.dtype}{left.array.shape}{left.names} {verb} "
        what += f"{right.array.dtype}{right.array.shape}{right.names}"
        expected = attempt(lambda verb=verb: paired(verb, left, right))
        assert_answer(lambda x=x, y=y, verb=verb: getattr(x, verb)(y), expected, what)
        assert_answer(lambda x=x, y=y, verb=verb: getattr(ne, verb)(x, y), expected, what)
        if verb in SIGNS:
            source = f"x {SIGNS[verb]} y"
            assert_answer(lambda x=x, y=y, source=source: eval(source, {"x": x, "y": y}), expected, what)
        if verb + "_" in OPS:
            after = attempt(lambda x=x, e=expected: checked_written(x, refusing(e), is_out=False))
            assert_written(
                x, (y,), lambda x=x, y=y, v=verb: getattr(x, v + "_")(y), after, what + " in place"
            )


def test_every_pair_of_names() -> None:
    for names, other_names in itertools.product(every_name(3), repeat=2):
        x, y = ne.ones([1] * len(names), names=names), ne.ones([1] * len(other_names), names=other_names)
        one = np.ones([1] * max(x.ndim, y.ndim))
        expected = attempt(lambda a=names, b=other_names, one=one: Expected(unify_names(a, b), one))
        assert_answer(lambda x=x, y=y: x * y, expected, f"{names} * {other_names}")
        after = attempt(lambda x=x, e=expected: checked_written(x, refusing(e), is_out=False))
        assert_written(x, (y,), lambda x=x, y=y: x.mul_(y), after, f"{names} *= {other_names}")


@settings(max_examples=40)
@given(pairs())
def test_out_of_operators_on_two_tensors(pair: tuple[Expected, Expected]) -> None:
    left, right = pair
    for verb in BINARY:
        x, y = made(*left), made(*right)
        expected = attempt(lambda verb=verb: paired(verb, left, right))
        assert_outs(
            lambda out, x=x, y=y, v=verb: getattr(x, v)(y, out=out), (x, y), expected, f"{pair} {verb}"
        )


@settings(max_examples=60)
@given(named_shapes(), st.sampled_from(DTYPES), st.sampled_from((2, 0.5, True, -1)), st.integers(0, 99))
def test_numbers_are_weak_operands_on_either_side(dims: Any, dtype: Any, number: Any, seed: int) -> None:
    names, shape = dims
    array = values(seed, shape, dtype)
    x = made(names, array)
    for verb, truth in BINARY.items():
        right = attempt(lambda truth=truth: Expected(names, quiet(truth, array, number)))
        left = attempt(lambda truth=truth: Expected(names, quiet(truth, number, array)))
        what = f"{dtype} {shape} {verb} {number}"
        assert_answer(lambda verb=verb: getattr(x, verb)(number), right, what)
        assert_answer(lambda verb=verb: getattr(ne, verb)(number, x), left, what + " reflected")
        if verb in SIGNS:
            source = f"number {SIGNS[verb]} x"
            assert_answer(
                lambda s=source: eval(s, {"x": x, "number": number}), left, what + " reflected sign"
            )


@settings(max_examples=60)
@given(pairs())
def test_an_array_is_a_tensor_without_names(pair: tuple[Expected, Expected]) -> None:
    left, right = pair
    unnamed = Expected((None,) * right.array.ndim, right.array)
    x = made(*left)
    for verb in ("add", "mul", "eq", "maximum", "div"):
        expected = attempt(lambda verb=verb: paired(verb, left, unnamed))
        assert_answer(lambda verb=verb: getattr(x, verb)(right.array), expected, verb)


@given(pairs())
def test_the_signs_that_write_in_place_are_the_twins(pair: tuple[Expected, Expected]) -> None:
    left, right = pair
    for verb, sign in SIGNS.items():
        if verb + "_" not in OPS:
            continue
        x, y = made(*left), made(*right)
        scope = {"x": x, "y": y}
        after = attempt(lambda x=x, v=verb: checked_written(x, paired(v, left, right), is_out=False))

        def write(source: str = f"x {sign}= y", scope: Any = scope) -> Any:
            exec(source, scope)
            return scope["x"]

        assert_written(x, (y,), write, after, f"{pair} {sign}=")


def test_an_out_of_another_size_is_replaced_with_a_warning() -> None:
    x, out = ne.tensor([1.0, 2.0], names="N"), ne.zeros(3)
    with pytest.warns(UserWarning, match=r"\(3,\).*\(2,\)"):
        assert x.abs(out=out) is out
    assert out.names == ("N",) and out.tolist() == [1.0, 2.0]
    empty = ne.zeros(0)
    assert x.abs(out=empty).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("out", [np.zeros(2), [0, 0], "out", 3])
def test_out_is_a_named_tensor(out: Any) -> None:
    with pytest.raises(ne.NameExprError, match="NE660"):
        ne.tensor([1.0, 2.0]).add(1, out=out)


def test_a_read_only_array_is_not_written_to() -> None:
    x = ne.tensor([1.0]).expand(3)
    for write in (x.abs_, x.zero_, lambda: x.add_(1), lambda: ne.tensor([1.0, 2.0, 3.0]).abs(out=x)):
        with pytest.raises(ne.NameExprError, match="NE576"):
            write()
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_every_pointwise_operator_of_the_table_is_compared_here() -> None:
    others = {"round", "where"}
    unary = {name for name, op in OPS.items() if op.rule == "keeps" and op.twin_of == ""}
    assert set(UNARY) <= unary
    assert {name for name, op in OPS.items() if op.rule == "unifies"} - others == set(BINARY)
    twins = {op.twin_of for op in OPS.values() if op.twin_of}
    elsewhere = {"addmm", "addmv", "masked_fill", "index_fill", "cumsum", "cumprod", "clamp"}
    assert twins - elsewhere <= set(UNARY) | set(BINARY)
