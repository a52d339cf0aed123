"""The rule book on dims alone: what names and sizes the verbs give. Error words: cases/tensor_*.txt."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nameexpr import errors
from nameexpr.dims import Dim, Dims, dims_of, names_of, shape_of
from nameexpr.rules.calls import ShownCall, position, positions
from nameexpr.rules.names import Alignment, aligned_as, aligned_to, refined, renamed
from nameexpr.rules.reshaping import flattened, flattened_range, unflattened

NC: Dims = dims_of(("N", "C"), (2, 3))
NCHW: Dims = dims_of(("N", "C", "H", "W"), (2, 3, 4, 5))


def code_of(call: Any, *arguments: Any) -> str:
    with pytest.raises(errors.NameExprError) as caught:
        call(*arguments)
    return caught.value.code


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("A", "B"), ("A", "B")),
        (("A B",), ("A", "B")),
        ((["A", "B"],), ("A", "B")),
        ((("A", None),), ("A", None)),
        (("A _",), ("A", None)),
        (("A None",), ("A", None)),
        ((None,), (None, None)),
        ((None, "A"), (None, "A")),
        ((..., "B"), ("N", "B")),
        (("...", "B"), ("N", "B")),
        (("B ...",), ("B", "C")),
        (("A", "B", ...), ("A", "B")),
        ((...,), ("N", "C")),
        (("C", "N"), ("C", "N")),
    ],
)
def test_rename_in_order(arguments: tuple[object, ...], names: tuple[str | None, ...]) -> None:
    assert renamed(NC, arguments, {}, "rename") == names


@pytest.mark.parametrize(
    ("mapping", "names"),
    [
        ({"N": "A"}, ("A", "C")),
        ({"N": "C", "C": "N"}, ("C", "N")),
        ({"N": "N"}, ("N", "C")),
        ({"N": None}, (None, "C")),
        ({"N": "C", "C": None}, ("C", None)),
    ],
)
def test_rename_by_old_names_at_once(mapping: dict[str, str | None], names: tuple[str | None, ...]) -> None:
    assert renamed(NC, (), mapping, "rename") == names


def test_rename_of_a_scalar_takes_nothing() -> None:
    assert renamed((), (), {}, "rename") == ()
    assert renamed((), (...,), {}, "rename") == ()
    assert renamed((), (None,), {}, "rename") == ()


def test_one_argument_of_none_drops_all_names_and_only_in_rename() -> None:
    assert renamed(NC, (None,), {}, "rename_") == (None, None)
    assert code_of(refined, dims_of((None, None), (1, 1)), (None,)) == "NE413"


def test_a_string_subclass_becomes_a_plain_string() -> None:
    class Label(str):
        __slots__ = ()

    (name,) = renamed((Dim(None, 1),), (Label("N"),), {}, "rename")
    assert type(name) is str


@pytest.mark.parametrize(
    ("old", "arguments", "names"),
    [
        ((None, None), ("N", "C"), ("N", "C")),
        ((None, "C"), ("N", "C"), ("N", "C")),
        ((None, "C"), ("N", ...), ("N", "C")),
        ((None, "C"), (..., "C"), (None, "C")),
        (("N", None), ("N _",), ("N", None)),
        (("N", "C"), (...,), ("N", "C")),
        ((None, None, None), ("A ... B",), ("A", None, "B")),
    ],
)
def test_refine_names_only_unnamed_dims(
    old: tuple[str | None, ...], arguments: tuple[object, ...], names: tuple[str | None, ...]
) -> None:
    assert refined(dims_of(old, (1,) * len(old)), arguments) == names


def test_an_ellipsis_stands_for_no_names_or_more_but_not_for_fewer() -> None:
    assert code_of(renamed, NC, ("A", "B", "C", ...), {}, "rename") == "NE413"
    assert code_of(refined, NC, ("N", ..., "C", "H")) == "NE413"


@pytest.mark.parametrize(
    ("arguments", "names", "order"),
    [
        (("C", "p", "N"), ("C", "p", "N"), (1, None, 0)),
        (("C", ...), ("C", "N"), (1, 0)),
        (("C ... p",), ("C", "N", "p"), (1, 0, None)),
        ((["C", "N"],), ("C", "N"), (1, 0)),
        ((...,), ("N", "C"), (0, 1)),
        (("N C ...",), ("N", "C"), (0, 1)),
    ],
)
def test_align_to_orders_by_name(arguments: tuple[object, ...], names: Any, order: Any) -> None:
    assert aligned_to(NC, arguments) == Alignment(names, order)


def test_align_to_keeps_unnamed_dims_at_the_ellipsis() -> None:
    dims = dims_of(("N", None, "C", None), (1, 2, 3, 4))
    aligned = aligned_to(dims, ("C", ..., "N"))
    assert aligned == Alignment(("C", None, None, "N"), (2, 1, 3, 0))


def test_align_as_takes_the_order_and_the_unnamed_dims_of_the_other() -> None:
    other = dims_of(("C", None, "H", "N"), (1, 1, 7, 9))
    assert aligned_as(NC, other) == Alignment(("C", None, "H", "N"), (1, None, None, 0))


@pytest.mark.parametrize(
    ("wanted", "out_dim", "dims"),
    [
        (["C", "H"], "F", [("N", 2), ("F", 12), ("W", 5)]),
        (["C", 2], "F", [("N", 2), ("F", 12), ("W", 5)]),
        ([-2, "W"], "F", [("N", 2), ("C", 3), ("F", 20)]),
        (["C", "H"], None, [("N", 2), (None, 12), ("W", 5)]),
        (["C", "H"], "C", [("N", 2), ("C", 12), ("W", 5)]),
        (["H"], "F", [("N", 2), ("C", 3), ("F", 4), ("W", 5)]),
    ],
)
def test_flatten_a_list_of_neighbours(wanted: list[object], out_dim: object, dims: Any) -> None:
    assert flattened(NCHW, wanted, out_dim) == tuple(Dim(*dim) for dim in dims)


@pytest.mark.parametrize(
    ("arguments", "dims"),
    [
        ((1, -1, "F"), [("N", 2), ("F", 60)]),
        (("C", "W", "F"), [("N", 2), ("F", 60)]),
        (("C", 2, "F"), [("N", 2), ("F", 12), ("W", 5)]),
        ((0, -1, None), [(None, 120)]),
        ((2, 2), [("N", 2), ("C", 3), ("H", 4), ("W", 5)]),
    ],
)
def test_flatten_a_range(arguments: tuple[Any, ...], dims: Any) -> None:
    assert flattened_range(NCHW, *arguments) == tuple(Dim(*dim) for dim in dims)


def test_flatten_without_out_dim_merges_unnamed_dims_only() -> None:
    dims = dims_of(("N", None, None), (2, 3, 4))
    assert flattened_range(dims, 1, 2) == (Dim("N", 2), Dim(None, 12))
    assert code_of(flattened_range, dims, 0, 1) == "NE453"


def test_flatten_a_range_from_its_end_is_refused_for_neighbours_too() -> None:
    assert code_of(flattened_range, NCHW, "H", "C", "F") == "NE452"


def test_flatten_makes_one_dim_of_a_scalar() -> None:
    assert flattened_range((), 0, -1) == (Dim(None, 1),)
    assert code_of(flattened_range, (), 1, -1) == "NE801"


@pytest.mark.parametrize(
    "sizes",
    [
        [("A", 2), ("B", 6)],
        (("A", 2), ("B", -1)),
        [["A", -1], ["B", 6]],
        {"A": 2, "B": 6},
        "A=2 B=6",
        "A=2 B",
        "A B=6",
        "A=-1 B=6",
    ],
)
def test_unflatten_reads_pairs_mappings_and_strings(sizes: object) -> None:
    dims = dims_of(("N", "C"), (5, 12))
    assert unflattened(dims, "C", sizes) == dims_of(("N", "A", "B"), (5, 2, 6))
    assert unflattened(dims, -1, sizes) == dims_of(("N", "A", "B"), (5, 2, 6))


@pytest.mark.parametrize("sizes", [(2, 6), [2, -1], "2 6", "2 _", [(None, 2), (None, 6)]])
def test_unflatten_an_unnamed_dim_into_unnamed_dims(sizes: object) -> None:
    dims = dims_of(("N", None), (5, 12))
    assert unflattened(dims, 1, sizes) == dims_of(("N", None, None), (5, 2, 6))


def test_unflatten_may_use_the_old_name_again_and_name_an_unnamed_dim() -> None:
    assert names_of(unflattened(NC, "C", "C B=1")) == ("N", "C", "B")
    assert names_of(unflattened(dims_of((None,), (4,)), 0, "A=2 B")) == ("A", "B")


def test_unflatten_of_no_elements() -> None:
    dims = dims_of(("N",), (0,))
    assert shape_of(unflattened(dims, "N", "A=0 B=5")) == (0, 5)
    assert shape_of(unflattened(dims, "N", "A B=5")) == (0, 5)
    assert code_of(unflattened, dims, "N", "A=0 B") == "NE352"
    assert code_of(unflattened, dims_of(("N",), (4,)), "N", "A=0 B") == "NE350"


def test_positions_mix_names_and_numbers() -> None:
    assert positions(NCHW, ShownCall("sum", ("W", 0, -2))) == (3, 0, 2)


def test_a_true_or_a_float_is_no_position() -> None:
    assert code_of(position, NC, True, "size") == "NE651"
    assert code_of(position, NC, 0.0, "size") == "NE651"
    assert code_of(position, NC, None, "size") == "NE416"


names = st.sampled_from(["A", "B", "C", "D", "E"])


@given(st.lists(names, unique=True, max_size=5), st.data())
def test_align_to_a_permutation_and_back_is_nothing(order: list[str], data: st.DataObject) -> None:
    dims = dims_of(tuple(order), range(1, len(order) + 1))
    wanted = data.draw(st.permutations(order))
    there = aligned_to(dims, (wanted,))
    moved = tuple(dims[at] for at in there.order if at is not None)
    back = aligned_to(moved, (order,))
    assert tuple(moved[at] for at in back.order if at is not None) == dims


@given(
    st.lists(st.tuples(names, st.integers(0, 4)), min_size=1, max_size=5, unique_by=lambda dim: dim[0]),
    st.data(),
)
def test_unflatten_undoes_flatten(written: list[tuple[str, int]], data: st.DataObject) -> None:
    dims = tuple(Dim(*dim) for dim in written)
    first = data.draw(st.integers(0, len(dims) - 1))
    last = data.draw(st.integers(first, len(dims) - 1))
    block = dims[first : last + 1]
    flat = flattened(dims, [dim.name for dim in block], "flat")
    assert unflattened(flat, "flat", block) == dims
