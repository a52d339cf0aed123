"""What gives views gives NumPy's, on generated tensors: the right part, the right names, the same memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne
from oracle.operators import Array, Names, named_shapes, values

Tensor = ne.NamedTensor
View = tuple[str, Tensor, Array, Names]


@st.composite
def tensors(draw: st.DrawFn) -> Tensor:
    names, shape = draw(named_shapes().filter(lambda dims: dims[0]))
    return ne.from_numpy(values(draw(st.integers(0, 99)), shape), names=names)


def moved(x: Tensor, order: list[int]) -> tuple[Array, Names]:
    return x.numpy().transpose(order), tuple(x.names[at] for at in order)


def renamings(x: Tensor) -> Iterator[View]:
    array, names = x.numpy(), x.names
    fresh = tuple(f"n{at}" for at in range(x.ndim))
    yield "rename", x.rename(*fresh), array, fresh
    yield "rename None", x.rename(None), array, (None,) * x.ndim
    refined = tuple(name or new for name, new in zip(names, fresh, strict=True))
    yield "refine_names", x.refine_names(*refined), array, refined
    yield "detach", x.detach(), array, names
    yield "unsqueeze", x.unsqueeze(1, "new"), array[:, None], (names[0], "new", *names[1:])
    aligned = x.refine_names(*refined).align_to(..., "new", refined[0])
    back = [*range(1, x.ndim), 0]
    wanted = array.transpose(back)[..., None, :]
    yield "align_to", aligned, wanted, (*refined[1:], "new", refined[0])
    other = ne.empty([1] * (x.ndim + 1), names=[*refined[::-1], "new"])
    yield "align_as", x.refine_names(*refined).align_as(other), array.T[..., None], (*refined[::-1], "new")


def permutations(x: Tensor, at: int, other: int) -> Iterator[View]:
    dim, partner = (x.names[at] or at), (x.names[other] or other - x.ndim)
    order = list(range(x.ndim))
    order[at], order[other] = other, at
    yield "transpose", x.transpose(dim, partner), *moved(x, order)
    yield "swapaxes", x.swapaxes(partner, dim), *moved(x, order)
    reverse = list(range(x.ndim))[::-1]
    yield "permute", x.permute([x.names[place] or place for place in reverse]), *moved(x, reverse)
    yield "T", x.T, *moved(x, reverse)
    rest = [place for place in range(x.ndim) if place != at]
    yield "movedim", x.movedim(dim, other), *moved(x, [*rest[:other], at, *rest[other:]])


def parts(x: Tensor, at: int) -> Iterator[View]:
    array, names = x.numpy(), x.names
    dim, size, whole = (names[at] or at - x.ndim), x.shape[at], (slice(None),) * at
    without = (*names[:at], *names[at + 1 :])
    for index in range(-size, size):
        yield f"select {index}", x.select(dim, index), array[(*whole, index, ...)], without
    for number, one in enumerate(x.unbind(dim)):
        yield f"unbind {number}", one, array[(*whole, number, ...)], without
    for start in range(size + 1):
        for length in range(size - start + 1):
            wanted = array[(*whole, slice(start, start + length))]
            yield "narrow", x.narrow(dim, start, length), wanted, names
    for step in (1, 2, 3):
        pieces = x.split(step, dim)
        assert len(pieces) == max(1, -(-size // step))
        for number, one in enumerate(pieces):
            yield f"split {step}", one, array[(*whole, slice(number * step, number * step + step))], names
    sections = x.split([size // 2, 0, size - size // 2], dim)
    for one, cut in zip(sections, ((0, size // 2), (size // 2, size // 2), (size // 2, size)), strict=True):
        yield "split sections", one, array[(*whole, slice(*cut))], names
    yield "flip", x.flip(dim), np.flip(array, at), names
    is_one = size == 1
    yield "squeeze", x.squeeze(dim), array.squeeze(at) if is_one else array, without if is_one else names


def chunks(x: Tensor, at: int) -> Iterator[View]:
    size, whole = x.shape[at], (slice(None),) * at
    for count in (1, 2, 3, 5):
        pieces = x.chunk(count, x.names[at] or at)
        step = -(-size // count)
        assert len(pieces) == (-(-size // step) if size else count)
        for number, one in enumerate(pieces):
            wanted = x.numpy()[(*whole, slice(number * step, number * step + step))]
            yield f"chunk {count}", one, wanted, x.names


def read_only(x: Tensor, at: int, other: int) -> Iterator[View]:
    array, names = x.numpy(), x.names
    yield "expand", x.expand(3, *[-1] * x.ndim), np.broadcast_to(array, (3, *x.shape)), (None, *names)
    if x.shape[at] == 1:
        sizes = [4 if place == at else -1 for place in range(x.ndim)]
        wide = tuple(4 if place == at else size for place, size in enumerate(x.shape))
        yield "expand a dim", x.expand(sizes), np.broadcast_to(array, wide), names
    if at != other:
        rest = (*(name for place, name in enumerate(names) if place not in (at, other)), None)
        for offset in (-1, 0, 1):
            line = np.diagonal(array, offset, at, other)
            yield "diagonal", x.diagonal(offset, names[at] or at, names[other] or other), line, rest


def assert_view(x: Tensor, view: View) -> None:
    what, result, wanted, names = view
    assert type(result) is Tensor and result.names == names, what
    assert result.shape == wanted.shape, what
    np.testing.assert_array_equal(result.numpy(), wanted, err_msg=what)
    assert np.shares_memory(result.numpy(), x.numpy()) == bool(wanted.size), what


@settings(max_examples=60)
@given(tensors(), st.data())
def test_views_share_memory(x: Tensor, data: st.DataObject) -> None:
    at, other = (data.draw(st.integers(0, x.ndim - 1)) for _ in range(2))
    for view in [*renamings(x), *permutations(x, at, other), *parts(x, at), *chunks(x, at)]:
        assert_view(x, view)
        view[1].fill_(7)
        np.testing.assert_array_equal(view[2], np.full(view[2].shape, 7.0))
        x.copy_(values(3, x.shape))
    for view in read_only(x, at, other):
        assert_view(x, view)


@settings(max_examples=30)
@given(tensors(), st.data())
def test_functions_are_the_methods(x: Tensor, data: st.DataObject) -> None:
    at, other = (data.draw(st.integers(0, x.ndim - 1)) for _ in range(2))
    size = x.shape[at]
    calls: dict[str, tuple[Any, ...]] = {
        **{"transpose": (at, other), "movedim": (at, other), "flip": (at,), "squeeze": (at,)},
        **{"narrow": (at, 0, size), "unsqueeze": (0, "new"), "permute": (tuple(range(x.ndim))[::-1],)},
        **{"select": (at, 0), "roll": (1, at), "flatten": (at, at)},
    }
    for verb, arguments in calls.items():
        if verb == "select" and not size:
            continue
        assert getattr(ne, verb)(x, *arguments).equal(getattr(x, verb)(*arguments)), verb
    for verb, arguments in (("split", (2, at)), ("chunk", (2, at)), ("unbind", (at,))):
        pieces = getattr(ne, verb)(x, *arguments)
        assert [a.equal(b) for a, b in zip(pieces, getattr(x, verb)(*arguments), strict=True)] == [
            True
        ] * len(pieces)


def test_what_copies_shares_no_memory() -> None:
    x = ne.tensor([[1.0, 2.0]], names="N C")
    assert x.contiguous() is x or x.contiguous().names == x.names
    for copy in (x.clone(), x.roll(1, "C"), x.index_select("C", [0, 1]), x.positive(), ne.tensor(x)):
        assert copy.names == x.names and not np.shares_memory(copy.numpy(), x.numpy())


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.select("Q", 0),
        lambda x: x.select("N", 2),
        lambda x: x.select("N", -3),
        lambda x: x.select("N", 0.0),
        lambda x: x.select(None, 0),
        lambda x: x.select("N", True),
        lambda x: x.narrow("N", 0, 3),
        lambda x: x.narrow("N", 3, 0),
        lambda x: x.narrow("N", 0, -1),
        lambda x: x.split(0, "C"),
        lambda x: x.split(-1, "C"),
        lambda x: x.split([1, 1], "C"),
        lambda x: x.split([4, -1], "C"),
        lambda x: x.split(1, "Q"),
        lambda x: x.chunk(0, "C"),
        lambda x: x.chunk("2", "C"),
        lambda x: x.unbind("Q"),
        lambda x: x.sum().unbind(),
        lambda x: x.transpose("N", "Q"),
        lambda x: x.transpose(0, 2),
        lambda x: x.permute("N"),
        lambda x: x.permute("N", "N"),
        lambda x: x.permute(None),
        lambda x: x.movedim("N", 2),
        lambda x: x.unsqueeze(4),
        lambda x: x.unsqueeze(0, "N"),
        lambda x: x.unsqueeze("N"),
        lambda x: x.expand(2),
        lambda x: x.expand(2, 4),
        lambda x: x.expand(-1, 2, 3),
        lambda x: x.expand(-2, 3),
        lambda x: x.diagonal(0, "N", "N"),
        lambda x: x.diagonal(0, "N", "Q"),
        lambda x: x.diagonal("a"),
        lambda x: x.unsqueeze(0).t(),
        lambda x: x.squeeze("Q"),
        lambda x: x.resize_(3, 2),
        lambda x: x.resize_as_(ne.zeros(2, 3)),
    ],
)
def test_bad_calls_are_errors_of_ours_and_change_nothing(call: Callable[[Tensor], Any]) -> None:
    x = ne.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], names="N C")
    with pytest.raises(ne.NameExprError):
        call(x)
    assert x.names == ("N", "C") and x.shape == (2, 3)


def test_an_unnamed_tensor_can_be_resized() -> None:
    x = ne.tensor([[1, 2, 3], [4, 5, 6]])
    assert x.resize_(3, 2) is x and x.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert (
        x.resize_as_(ne.zeros(6, names="N")) is x and x.names == ("N",) and x.tolist() == [1, 2, 3, 4, 5, 6]
    )
    assert x.resize_(6) is x and x.resize_as_(ne.zeros(6, names="N")) is x
    with pytest.raises(ne.NameExprError):
        x.resize_as_(ne.zeros(6, names="C"))


CASTS = {
    **{"bool": np.bool_, "byte": np.uint8, "char": np.int8, "short": np.int16, "int": np.int32},
    **{"long": np.int64, "half": np.float16, "float": np.float32, "double": np.float64},
}


@settings(max_examples=60)
@given(tensors(), st.sampled_from([*CASTS.values()]))
def test_casts_keep_names_and_return_the_tensor_itself_where_nothing_changes(x: Tensor, dtype: Any) -> None:
    x = ne.from_numpy(np.abs(x.numpy()).astype(dtype), names=x.names)
    for verb, wanted in CASTS.items():
        array = x.numpy().astype(wanted)
        like = ne.zeros(1, names="other", dtype=wanted)
        for cast in (getattr(x, verb)(), x.to(wanted), x.to(like), x.type_as(like), x.type(wanted)):
            assert cast.names == x.names and cast.dtype == wanted, verb
            np.testing.assert_array_equal(cast.numpy(), array, err_msg=verb)
            assert (cast is x) == (wanted == x.dtype), verb
        assert x.to(wanted, copy=True) is not x
    assert x.cpu() is x and x.detach().names == x.names
    with pytest.raises(ne.NameExprError):
        x.cuda()


def test_contiguous_copies_what_lies_in_another_order_and_nothing_else() -> None:
    x = ne.tensor([[1.0, 2.0], [3.0, 4.0]], names="N C")
    assert x.contiguous() is x
    turned = x.t()
    straight = turned.contiguous()
    assert straight.is_contiguous() and not turned.is_contiguous()
    assert straight.names == ("C", "N") and straight.equal(turned)
    assert not np.shares_memory(straight.numpy(), x.numpy())


def test_a_number_without_dims_is_transposed_along_its_only_place_and_no_other() -> None:
    x = ne.tensor(2.0)
    for places in ((0, -1), (-1, 0), (0, 0)):
        assert x.transpose(*places).item() == 2.0 and x.transpose(*places).names == ()
    for places in ((0, 1), (True, 0), ("N", 0), (None, -1), (0.0, 0)):
        with pytest.raises(ne.NameExprError):
            x.transpose(*places)


@pytest.mark.parametrize("index", [np.int64(1), (np.int64(1),), (1, None), (None, np.int8(1), None)])
def test_an_index_without_arrays_gives_a_view_whatever_kind_of_integer_it_holds(index: object) -> None:
    x = ne.tensor([1.0, 2.0], names="N")
    x[index].fill_(9.0)
    assert x.tolist() == [1.0, 9.0]


def test_arrays_around_an_ellipsis_that_stands_for_no_dim_are_an_index() -> None:
    x = np.arange(6.0).reshape(2, 3)
    for index in (([0, 1], ..., [2, 0]), (np.array([0, 1]), ..., np.array([2, 0])), (0, ..., [2, 0])):
        got = ne.tensor(x, names="N C")[index]
        assert got.tolist() == x[index].tolist()
        assert not np.shares_memory(got.numpy(), x)
