"""Matrix products on generated tensors: names by the slow rule, values by loops."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne
from oracle.operators import (
    LETTERS,
    Array,
    Expected,
    Refused,
    checked_written,
    contracted_names,
    distinct,
    every_name,
    unify_names,
    values,
)

Tensor = ne.NamedTensor
DTYPES = [np.dtype(kind) for kind in (float, np.int64, bool, np.float32, np.int8)]
RANKS = {"mm": (2, 2), "mv": (2, 1), "bmm": (3, 3), "dot": (1, 1)}


def looped(left: Array, right: Array) -> Array:
    """Rows times columns, one number at a time, for every batch."""
    if not left.ndim or not right.ndim:
        raise Refused("nothing to contract")
    a = left[None] if left.ndim == 1 else left
    b = right[:, None] if right.ndim == 1 else right
    if a.shape[-1] != b.shape[-2]:
        raise Refused("the contracted sizes differ")
    try:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError as differ:
        raise Refused("the batch sizes differ") from differ
    a = np.broadcast_to(a, (*batch, *a.shape[-2:]))
    b = np.broadcast_to(b, (*batch, *b.shape[-2:]))
    result = np.zeros((*batch, a.shape[-2], b.shape[-1]), left.dtype)
    for *outer, row, column in np.ndindex(result.shape):
        pairs = zip(a[(*outer, row)].tolist(), b[(*outer, slice(None), column)].tolist(), strict=True)
        result[(*outer, row, column)] = sum(x * y for x, y in pairs)
    result = result[..., 0] if right.ndim == 1 else result
    return result[..., 0, :] if left.ndim == 1 and right.ndim > 1 else result[0] if left.ndim == 1 else result


def product(left: Expected, right: Expected, verb: str = "matmul") -> Expected:
    """The product of two tensors by the pages, rejected where numbers of dims are not those of the verb."""
    ranks = (left.array.ndim, right.array.ndim)
    if verb != "matmul" and ranks != RANKS[verb]:
        raise Refused("other numbers of dims")
    if verb == "bmm" and left.array.shape[0] != right.array.shape[0]:
        raise Refused("bmm does not broadcast")
    if left.array.dtype != right.array.dtype:
        raise Refused("no promotion")
    return Expected(contracted_names(left.names, right.names), looped(left.array, right.array))


def operator_product(left: Expected, right: Expected) -> Expected:
    """Return what `@` gives: the product, if the names of the dims that meet match."""
    if left.names and right.names:
        met = {left.names[-1], right.names[-1 if len(right.names) == 1 else -2]} - {None}
        if len(met) > 1:
            raise Refused("the contracted dims have different names")
    return product(left, right)


@st.composite
def operands(draw: st.DrawFn, *ranks: int) -> tuple[Expected, Expected]:
    """Two tensors whose sizes mostly go together, of these numbers of dims or any."""
    wanted = ranks or (draw(st.integers(0, 4)), draw(st.integers(0, 4)))
    names = [draw(st.permutations([*LETTERS, "N", "M"])) for _ in wanted]
    names[1] = [draw(st.sampled_from((a, b, b))) for a, b in zip(*names, strict=True)]
    sizes = draw(st.lists(st.sampled_from((1, 2, 2, 3, 0)), min_size=4, max_size=4))
    dtype = draw(st.sampled_from(DTYPES))
    made = []
    for order, (rank, letters) in enumerate(zip(wanted, names, strict=True)):
        shape = [
            sizes[-place - 3] if place < 2 else draw(st.sampled_from((sizes[0], sizes[0], 1)))
            for place in range(rank)
        ]
        if rank > 1 and order:
            shape[-2:] = [sizes[2], 3]
        elif rank:
            shape[-1] = sizes[2]
        kept = tuple(name if draw(st.integers(0, 3)) else None for name in letters[:rank])
        kept = kept if len(set(kept) - {None}) == len([name for name in kept if name]) else (None,) * rank
        kind = dtype if draw(st.integers(0, 9)) else DTYPES[0]
        made.append(Expected(kept, values(draw(st.integers(0, 99)), shape, kind)))
    return made[0], made[1]


def tensor(expected: Expected) -> Tensor:
    return ne.from_numpy(expected.array.copy(), names=expected.names)


def assert_answer(call: Callable[[], Any], compute: Callable[[], Expected], what: str) -> None:
    try:
        expected = compute()
    except Refused as why:
        with pytest.raises(ne.NameExprError):
            pytest.fail(f"{what} gave {call()!r}, and {why}")
        return
    result = call()
    assert result.names == expected.names, what
    assert result.dtype == expected.array.dtype, what
    assert result.shape == expected.array.shape, what
    np.testing.assert_allclose(result.numpy(), expected.array, rtol=1e-6, err_msg=what)


@pytest.mark.slow
@settings(max_examples=400)
@given(operands())
def test_matmul(pair: tuple[Expected, Expected]) -> None:
    left, right = pair
    x, y = tensor(left), tensor(right)
    for call in (x.matmul, lambda other: ne.matmul(x, other)):
        assert_answer(lambda c=call: c(y), lambda: product(left, right), f"matmul of {pair}")
    assert_answer(lambda: x @ y, lambda: operator_product(left, right), f"@ of {pair}")
    unnamed = Expected((None,) * right.array.ndim, right.array)
    assert_answer(lambda: x @ right.array, lambda: product(left, unnamed), f"matmul with an array {pair}")
    for verb in RANKS:
        assert_answer(
            lambda v=verb: getattr(x, v)(y), lambda v=verb: product(left, right, v), f"{verb} of {pair}"
        )


def test_every_pair_of_names() -> None:
    for names, other_names in itertools.product(every_name(3, least=1), repeat=2):
        left = Expected(names, np.ones([1] * len(names)))
        right = Expected(other_names, np.ones([1] * len(other_names)))
        x, y = tensor(left), tensor(right)
        compute = lambda a=left, b=right: product(a, b)  # noqa: E731
        assert_answer(lambda x=x, y=y: x.matmul(y), compute, f"{names}.matmul({other_names})")
        compute = lambda a=left, b=right: operator_product(a, b)  # noqa: E731
        assert_answer(lambda x=x, y=y: x @ y, compute, f"{names} @ {other_names}")


@settings(max_examples=60)
@given(st.sampled_from(list(RANKS)), st.data())
def test_the_products_of_fixed_ranks(verb: str, data: st.DataObject) -> None:
    left, right = data.draw(operands(*RANKS[verb]))
    x, y = tensor(left), tensor(right)
    for call in (getattr(x, verb), lambda other: getattr(ne, verb)(x, other)):
        assert_answer(lambda c=call: c(y), lambda: product(left, right, verb), f"{verb} of {left} {right}")


@settings(max_examples=150)
@given(st.data())
def test_out_of_products(data: st.DataObject) -> None:
    left, right = data.draw(operands(2, 2).filter(lambda pair: pair[0].array.dtype == pair[1].array.dtype))
    try:
        expected = product(left, right)
    except Refused:
        return
    kinds = [expected.names, (None, None), ("Z", None), expected.names[::-1]]
    for names in kinds:
        for dtype in (expected.array.dtype, np.dtype(bool), np.dtype(float)):
            out = ne.from_numpy(np.zeros(expected.array.shape, dtype), names=names)
            call = lambda out=out: tensor(left).mm(tensor(right), out=out)  # noqa: E731
            assert_answer(
                call, lambda out=out: checked_written(out, expected, is_out=True), f"{names} {dtype}"
            )


def fused(bias: Expected, left: Expected, right: Expected, verb: str, beta: Any, alpha: Any) -> Expected:
    """The sum of a bias and a product: the names of the product, unified with those of the bias."""
    inner = product(left, right, {"addmm": "mm", "addmv": "mv"}[verb])
    if bias.array.dtype != inner.array.dtype:
        raise Refused("no promotion")
    names = unify_names(inner.names, bias.names)
    try:
        widened = np.broadcast_to(bias.array, inner.array.shape)
    except ValueError as larger:
        raise Refused("the bias is larger") from larger
    return Expected(names, beta * widened + alpha * inner.array)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.sampled_from(["addmm", "addmv"]), st.data())
def test_the_fused_additions(verb: str, data: st.DataObject) -> None:
    left, right = data.draw(
        operands(2, 2 if verb == "addmm" else 1).filter(lambda p: p[0].array.dtype == float)
    )
    try:
        inner = product(left, right)
    except Refused:
        inner = left
    start = data.draw(st.integers(0, inner.array.ndim))
    names = tuple(data.draw(st.sampled_from((name, name, None, "Z"))) for name in inner.names[start:])
    shape = [data.draw(st.sampled_from((size, size, size, 1, 4))) for size in inner.array.shape[start:]]
    try:
        bias = Expected(distinct(names), values(7, shape))
    except Refused:
        return
    beta, alpha = data.draw(st.sampled_from([(1, 1), (0.5, 2), (2, 0)]))
    options = {"beta": beta, "alpha": alpha}
    x, y, start_value = tensor(left), tensor(right), tensor(bias)

    def wanted() -> Expected:
        return fused(bias, left, right, verb, beta, alpha)

    what = f"{verb} {bias} {left} {right} {options}"
    assert_answer(lambda: getattr(start_value, verb)(x, y, **options), wanted, what)
    assert_answer(lambda: getattr(ne, verb)(start_value, x, y, **options), wanted, what)
    call = lambda: getattr(start_value, verb + "_")(x, y, **options)  # noqa: E731
    assert_answer(call, lambda: checked_written(tensor(bias), wanted(), is_out=False), what + " in place")


def test_a_beta_of_0_ignores_what_the_bias_holds() -> None:
    bias = ne.tensor([[float("nan")]], names="A D")
    x, y = ne.tensor([[1.0, 2.0]], names="A B"), ne.tensor([[3.0], [4.0]], names="C D")
    assert bias.addmm(x, y, beta=0).item() == 11.0
    assert bias.addmm_(x, y, beta=0) is bias and bias.item() == 11.0


@settings(max_examples=150)
@given(operands(), st.data())
def test_tensordot(pair: tuple[Expected, Expected], data: st.DataObject) -> None:
    left, right = pair
    most = min(left.array.ndim, right.array.ndim)
    count = data.draw(st.integers(0, most))
    a = data.draw(st.permutations(range(left.array.ndim)))[:count]
    b = data.draw(st.permutations(range(right.array.ndim)))[:count]
    spell = lambda dims, names: [names[at] if names[at] and at % 2 else at for at in dims]  # noqa: E731
    dims = (spell(a, left.names), spell(b, right.names))

    def wanted(a: Any = a, b: Any = b) -> Expected:
        if [left.array.shape[at] for at in a] != [right.array.shape[at] for at in b]:
            raise Refused("sizes differ")
        names = [name for at, name in enumerate(left.names) if at not in a]
        names += [name for at, name in enumerate(right.names) if at not in b]
        letters = {at: chr(110 + place) for place, at in enumerate(b)}
        first = "".join(letters[b[a.index(at)]] if at in a else chr(97 + at) for at in range(left.array.ndim))
        second = "".join(letters.get(at, chr(104 + at)) for at in range(right.array.ndim))
        out = "".join(letter for letter in first + second if letter < "n")
        if left.array.dtype == right.array.dtype == bool:
            raise Refused("skipped")
        array = np.asarray(np.einsum(f"{first},{second}->{out}", left.array, right.array))
        return Expected(distinct(tuple(names)), array)

    if bool in (left.array.dtype, right.array.dtype):
        return
    a, b = list(a), list(b)
    assert_answer(
        lambda: ne.tensordot(tensor(left), tensor(right), dims), lambda: wanted(a, b), f"{pair} {dims}"
    )
    last, first_ones = list(range(left.array.ndim - count, left.array.ndim)), list(range(count))
    call = lambda: ne.tensordot(tensor(left), tensor(right), count)  # noqa: E731
    assert_answer(call, lambda: wanted(last, first_ones), f"{pair} {count}")


@pytest.mark.parametrize(
    "call",
    [
        lambda x: operator.matmul(x, 2),
        lambda x: x.matmul("a"),
        lambda x: x.mm(x, out=np.zeros((2, 2))),
        lambda x: ne.tensordot(x, x, 3),
        lambda x: ne.tensordot(x, x, (["N"], ["N", "C"])),
        lambda x: ne.tensordot(x, x, (["Q"], ["N"])),
        lambda x: x.addmm(x, x.t(), beta="a"),
        lambda x: x.long().addmm(x.long(), x.long().rename("A", "B"), alpha=0.5),
    ],
)
def test_bad_calls_are_errors_of_ours(call: Callable[[Tensor], Any]) -> None:
    with pytest.raises(ne.NameExprError):
        call(ne.tensor([[1.0, 2.0], [3.0, 4.0]], names="N C"))
