"""Methods and expressions agree: names, sizes, dtypes and values, on generated tensors, or both reject.

Every operator that an expression can say is compared with that expression. Dims without names are written as
groups of one label, which fit any dim and leave it without a name. What only moves dims by their names is in
test_two_clients.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import nameexpr as ne
from oracle.operators import Names, named_shapes, partners, values

Tensor = ne.NamedTensor


def item(name: str | None, label: str) -> str:
    """A dim as an item of a term: called `name`, or without a name."""
    return f"({label})" if name is None else f"{name}={label}"


def term(names: Names, labels: Sequence[str]) -> str:
    """A term for dims with these names and labels."""
    return " ".join(item(name, label) for name, label in zip(names, labels, strict=True))


def labels_of(names: Names, letter: str = "i") -> list[str]:
    return [f"{letter}{place}" for place in range(len(names))]


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or None where it is rejected."""
    try:
        return call()
    except ne.NameExprError:
        return None


def assert_agree(method: Callable[[], Any], expression: Callable[[], Any], what: str) -> None:
    """Both give the same tensor, or neither gives one."""
    one, other = outcome(method), outcome(expression)
    if one is None or other is None:
        assert one is other, f"{what}: {one} and {other}"
        return
    assert one.names == other.names, what
    assert one.dtype == other.dtype, what
    assert one.shape == other.shape, what
    np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9, atol=1e-12, err_msg=what)


@st.composite
def tensors(draw: st.DrawFn, least: int = 0, dtypes: Sequence[Any] = (float, np.int64)) -> Tensor:
    names, shape = draw(named_shapes().filter(lambda dims: len(dims[0]) >= least))
    array = values(draw(st.integers(0, 99)), shape, draw(st.sampled_from(dtypes)))
    return ne.from_numpy(array, names=names)


REDUCERS: dict[str, tuple[Callable[..., Any], Any]] = {
    "sum": (Tensor.sum, np.sum),
    "prod": (Tensor.prod, np.prod),
    "mean": (Tensor.mean, np.mean),
    "max": (Tensor.amax, np.max),
    "min": (Tensor.amin, np.min),
    "any": (Tensor.any, np.any),
    "all": (Tensor.all, np.all),
    "var": (lambda x, dim, keepdim: x.var(dim, keepdim=keepdim, correction=0), np.var),
    "std": (lambda x, dim, keepdim: x.std(dim, keepdim=keepdim, correction=0), np.std),
    "norm": (lambda x, dim, keepdim: x.norm(2, dim, keepdim), None),
    "logsumexp": (Tensor.logsumexp, None),
    "count_nonzero": (Tensor.count_nonzero, None),
}


@pytest.mark.slow
@settings(max_examples=150)
@given(tensors(1, (float, np.int64, bool, np.float32)), st.data())
def test_reductions(x: Tensor, data: st.DataObject) -> None:
    dims = data.draw(st.lists(st.integers(0, x.ndim - 1), min_size=1, unique=True))
    keepdim = data.draw(st.booleans())
    labels = labels_of(x.names)
    left = term(x.names, labels)
    kept = [at for at in range(x.ndim) if keepdim or at not in dims]
    right = " ".join(item(x.names[at], "1" if at in dims else labels[at]) for at in kept)
    for verb, (method, function) in REDUCERS.items():
        call = lambda method=method: method(x, dims, keepdim)  # noqa: E731
        what = f"{left} -> {right} : {verb} of {x.dtype} {x.shape}"
        expression = f"{left} -> {right}"
        assert_agree(call, lambda e=expression, v=verb: ne.einsum(f"{e} : {v}", x), what)
        assert_agree(call, lambda e=expression, v=verb: ne.einsum(e, x, reduce=v), what)
        if function is not None and x.numpy().size and x.dtype == np.float64:
            assert_agree(call, lambda e=expression, f=function: ne.einsum(e, x, reduce=f), what)


@pytest.mark.slow
@settings(max_examples=80)
@given(tensors(1), st.data())
def test_positions_and_the_median_along_one_dim(x: Tensor, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, x.ndim - 1))
    labels = labels_of(x.names)
    left = term(x.names, labels)
    right = term(x.names[:at] + x.names[at + 1 :], labels[:at] + labels[at + 1 :])
    for verb in ("argmax", "argmin"):
        method = getattr(x, verb)
        assert_agree(lambda m=method: m(at), lambda v=verb: ne.einsum(f"{left} -> {right} : {v}", x), verb)
        assert_agree(method, lambda v=verb: ne.einsum(f"{left} -> : {v}", x), verb)
    if x.shape[at] % 2:  # of an even number the method takes the lower one, the expression the mean
        expression = lambda: ne.einsum(f"{left} -> {right} : median", x)  # noqa: E731
        assert_agree(lambda: x.median(at).values.double(), lambda: expression().double(), "median")


@settings(max_examples=80)
@given(tensors(1), st.data())
def test_dims_that_change_places(x: Tensor, data: st.DataObject) -> None:
    labels = labels_of(x.names)
    order = data.draw(st.permutations(range(x.ndim)))
    a, b = order[0], order[-1]

    def said(places: Sequence[int]) -> Tensor:
        right = term(tuple(x.names[at] for at in places), [labels[at] for at in places])
        moved: Tensor = ne.einsum(f"{term(x.names, labels)} -> {right}", x)
        assert not x.numel() or np.shares_memory(moved.numpy(), x.numpy())
        return moved

    swapped = list(range(x.ndim))
    swapped[a], swapped[b] = b, a
    moved = [at for at in range(x.ndim) if at != a]
    moved.insert(b, a)
    assert_agree(lambda: x.permute(*order), lambda: said(order), "permute")
    assert_agree(lambda: x.transpose(a, b - x.ndim), lambda: said(swapped), "transpose")
    assert_agree(lambda: x.movedim(a, b), lambda: said(moved), "movedim")
    assert_agree(lambda: x.T, lambda: said(range(x.ndim)[::-1]), "T")
    if None not in x.names:
        assert_agree(lambda: x.align_to(*(x.names[at] for at in order)), lambda: said(order), "align_to")
    if x.ndim > 1:
        assert_agree(lambda: x.mT, lambda: said([*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]), "mT")


@settings(max_examples=80)
@given(tensors(), st.data())
def test_dims_of_size_1_and_repeats(x: Tensor, data: st.DataObject) -> None:
    labels = labels_of(x.names)
    left = term(x.names, labels)
    at = data.draw(st.integers(0, x.ndim))
    name = data.draw(st.sampled_from([None, "new"]))
    items = left.split()
    more = " ".join([*items[:at], item(name, "(1)"), *items[at:]])
    wide = x.unsqueeze(at, name)
    assert_agree(lambda: wide, lambda: ne.einsum(f"{left} -> {more}", x), f"{left} -> {more}")
    assert_agree(lambda: wide.squeeze(at), lambda: ne.einsum(f"{more} -> {left}", wide), f"{more} -> {left}")
    sizes = [-1] * wide.ndim
    sizes[at] = data.draw(st.integers(0, 3))
    repeated = " ".join([*items[:at], item(name, "k"), *items[at:]])
    assert_agree(
        lambda: wide.expand(sizes),
        lambda: ne.einsum(f"{more} -> {repeated}", wide, k=sizes[at]),
        f"expand {more} -> {repeated}",
    )
    in_front = f"({sizes[at]}) {left}"
    assert_agree(
        lambda: x.expand(sizes[at], *[-1] * x.ndim), lambda: ne.einsum(f"{left} -> {in_front}", x), in_front
    )


@settings(max_examples=80)
@given(tensors(2), st.data())
def test_diagonals_and_traces(x: Tensor, data: st.DataObject) -> None:
    a, b = data.draw(st.permutations(range(x.ndim)))[:2]
    size = min(x.shape[a], x.shape[b])
    x = x.narrow(a, 0, size).narrow(b, 0, size)
    labels = labels_of(x.names)
    labels[b] = labels[a]
    rest = [at for at in range(x.ndim) if at not in (a, b)]
    right = term(tuple(x.names[at] for at in rest), [labels[at] for at in rest])
    left = term(x.names, labels)
    assert_agree(lambda: x.diagonal(0, a, b), lambda: ne.einsum(f"{left} -> {right} ({labels[a]})", x), left)
    if x.dtype.kind == "f" or x.dtype == np.int64:
        assert_agree(lambda: x.diagonal(0, a, b).sum(-1), lambda: ne.einsum(f"{left} -> {right}", x), "trace")


@pytest.mark.slow
@settings(max_examples=200)
@given(st.data())
def test_products_that_broadcast_from_the_right(data: st.DataObject) -> None:
    names, shape = data.draw(named_shapes())
    x = ne.from_numpy(values(1, shape), names=names)
    other_names, other_shape = data.draw(partners(names, shape))
    y = ne.from_numpy(values(2, other_shape), names=other_names)
    assert_agree(lambda: x * y, lambda: ne.einsum("..., ... -> ...", x, y), f"{x.names} * {y.names}")


@settings(max_examples=100)
@given(st.data())
def test_products_by_name(data: st.DataObject) -> None:
    sizes = dict(zip("ABCD", data.draw(st.lists(st.integers(0, 3), min_size=4, max_size=4)), strict=True))
    factors = []
    for place in range(2):
        names = data.draw(st.lists(st.sampled_from("ABCD"), max_size=4, unique=True))
        factors.append(ne.from_numpy(values(place, [sizes[name] for name in names]), names=names))
    x, y = factors
    every = data.draw(st.permutations(sorted({*x.names, *y.names})))
    text = f"{' '.join(x.names)}, {' '.join(y.names)} -> "
    product = lambda: x.align_to(*every) * y.align_to(*every)  # noqa: E731
    assert_agree(product, lambda: ne.einsum(text + " ".join(every), x, y), text)
    assert_agree(product, lambda: ne.einsum("-> " + " ".join(every), x, y), "-> " + " ".join(every))
    common = [name for name in every if name in x.names and name in y.names]
    rest = [name for name in every if name not in common]
    if common:
        summed = lambda: product().sum(common).align_to(*rest)  # noqa: E731
        assert_agree(summed, lambda: ne.einsum(text + " ".join(rest), x, y), text)
        left_out = [*(n for n in x.names if n not in common), *(n for n in y.names if n not in common)]
        dotted = lambda: ne.tensordot(x, y, (common, common)).align_to(*left_out)  # noqa: E731
        assert_agree(dotted, lambda: ne.einsum(text + " ".join(left_out), x, y), "tensordot")


@st.composite
def factors_of_products(draw: st.DrawFn, left: int, right: int) -> tuple[Tensor, Tensor]:
    """Two tensors for a matrix product; batch dims have the same names from the right, or none."""
    pool = draw(st.permutations(["A", "B", "C", "D", "E", "F", "G", "k'"]))
    i, j, k = draw(st.lists(st.integers(0, 3), min_size=3, max_size=3))
    batch = [draw(st.integers(1, 3)) for _ in range(2)]
    made = []
    for rank, core, inner in ((left, [i, j], pool[:2]), (right, [j, k], pool[2:4])):
        core, inner = (core, inner) if rank > 1 else ([j], inner[:1])
        outer = max(0, rank - 2)
        names = [draw(st.sampled_from((name, None))) for name in pool[4 : 4 + outer]][::-1]
        shape = [draw(st.sampled_from((size, size, 1))) for size in batch[:outer]][::-1]
        dims = [*names, *(draw(st.sampled_from((name, name, None))) for name in inner)]
        made.append(ne.from_numpy(values(rank, [*shape, *core]), names=dims))
    return made[0], made[1]


def product_text(x: Tensor, y: Tensor) -> str:
    """The expression of a matrix product, batch dims under `...`."""
    left = ["i", "j"] if x.ndim > 1 else ["j"]
    right = ["j", "k"] if y.ndim > 1 else ["j"]
    terms = [
        " ".join(["..."] * (one.ndim > 2) + [term(one.names[-len(labels) :], labels)])
        for one, labels in ((x, left), (y, right))
    ]
    result = ["..."] * (max(x.ndim, y.ndim) > 2)
    result += [item(name, "i") for name in x.names[-2:-1]]
    result += [item(name, "k") for name in y.names[-1:] if y.ndim > 1]
    return f"{', '.join(terms)} -> {' '.join(result)}"


@settings(max_examples=150)
@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_matrix_products(left: int, right: int, data: st.DataObject) -> None:
    x, y = data.draw(factors_of_products(left, right))
    text = product_text(x, y)
    expression = lambda: ne.einsum(text, x, y)  # noqa: E731
    assert_agree(lambda: x.matmul(y), expression, text)
    verb = {(2, 2): "mm", (2, 1): "mv", (1, 1): "dot", (3, 3): "bmm"}.get((left, right))
    if verb and (verb != "bmm" or x.shape[0] == y.shape[0]):
        assert_agree(lambda: getattr(x, verb)(y), expression, f"{verb}: {text}")
    if left == right == 2:
        assert_agree(lambda: ne.tensordot(x, y, 1), expression, f"tensordot: {text}")
        zero = ne.zeros(x.shape[0], y.shape[1])
        assert_agree(lambda: zero.addmm(x, y), expression, f"addmm: {text}")


@settings(max_examples=40)
@given(tensors(1, (float,)), tensors(1, (float,)))
def test_outer_products(x: Tensor, y: Tensor) -> None:
    assume(x.ndim + y.ndim <= 6)
    y = y.rename(*[None if name is None else name.strip("'") + "2" for name in y.names])
    left, right = term(x.names, labels_of(x.names)), term(y.names, labels_of(y.names, "j"))
    text = f"{left}, {right} -> {left} {right}"
    assert_agree(lambda: ne.tensordot(x, y, 0), lambda: ne.einsum(text, x, y), text)


@pytest.mark.parametrize("verb", ["max", "min", "argmax", "argmin"])
def test_both_refuse_what_no_elements_have(verb: str) -> None:
    x = ne.zeros(0, 2, names="N C")
    for refused in (lambda: getattr(x, verb)("N"), lambda: ne.einsum(f"N C -> C : {verb}", x)):
        with pytest.raises(ne.NameExprError):
            refused()
