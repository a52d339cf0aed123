"""align_to, align_as, flatten, unflatten: values compared with NumPy written out, and what is a view."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nameexpr as ne
from nameexpr.errors import NameExprError


def ramp(*shape: int, names: object = None) -> ne.NamedTensor:
    return ne.from_numpy(np.arange(np.prod(shape, dtype=int)).reshape(shape), names=names)


def test_align_to_transposes_and_adds_dims_of_size_one() -> None:
    x = ramp(2, 3, names="N C")
    y = x.align_to("C", "p", "N")
    assert y.names == ("C", "p", "N")
    np.testing.assert_array_equal(y.numpy(), x.numpy().T[:, None, :])


def test_align_to_is_a_view_also_of_strided_and_reversed_arrays() -> None:
    array = np.arange(48).reshape(2, 4, 6)[:, ::2, ::-2]
    x = ne.from_numpy(array, names="A B C")
    y = x.align_to("C new ...")
    assert np.shares_memory(y.numpy(), array)
    np.testing.assert_array_equal(y.numpy(), np.moveaxis(array, 2, 0)[:, None])


def test_align_to_of_a_scalar_and_of_nothing() -> None:
    assert ne.tensor(3.0).align_to("A", "B").shape == (1, 1)
    assert ne.tensor(3.0).align_to().shape == ()
    assert isinstance(ne.tensor(3.0).align_to().numpy(), np.ndarray)
    assert ramp(0, 3, names="N C").align_to("C ... N").shape == (3, 0)


def test_align_to_reaches_sixty_four_dims_and_no_more() -> None:
    x = ramp(2, names="N")
    assert x.align_to(*(f"d{k}" for k in range(63)), "N").ndim == 64
    with pytest.raises(NameExprError) as caught:
        x.align_to(*(f"d{k}" for k in range(64)), "N")
    assert caught.value.code == "NE750"


def test_align_as_makes_broadcasting_by_name_right() -> None:
    scale, x = ramp(3, names="C"), ramp(2, 3, 4, names="N C H")
    product = x.numpy() * scale.align_as(x).numpy()
    np.testing.assert_array_equal(product, np.einsum("nch,c->nch", x.numpy(), scale.numpy()))


def test_align_as_gives_unnamed_dims_of_size_one_for_those_of_the_other() -> None:
    y = ramp(3, names="C").align_as(ramp(2, 3, 4, names=("N", "C", None)))
    assert y.names == ("N", "C", None)
    assert y.shape == (1, 3, 1)


@pytest.mark.parametrize(
    "arguments",
    [
        (["C", "H"], "F"),
        (("C", "H"), "F"),
        ("C H", "F"),
        (["C", 2], "F"),
        ("C", "H", "F"),
        (1, 2, "F"),
        (1, -2, "F"),
        ("C", 2, "F"),
    ],
)
def test_all_ways_to_write_flatten_agree(arguments: tuple[str, ...]) -> None:
    x = ramp(2, 3, 4, 5, names="N C H W")
    y = x.flatten(*arguments)
    assert y.names == ("N", "F", "W")
    np.testing.assert_array_equal(y.numpy(), x.numpy().reshape(2, 12, 5))
    assert np.shares_memory(y.numpy(), x.numpy())


def test_flatten_takes_keywords() -> None:
    x = ramp(2, 3, 4, names="N C H")
    assert x.flatten(dims=["C", "H"], out_dim="F").names == ("N", "F")
    assert x.flatten(["C", "H"], out_dim="F").names == ("N", "F")  # type: ignore[call-overload]
    assert x.flatten(start_dim="C", end_dim="H", out_dim="F").names == ("N", "F")
    assert x.flatten(start_dim=1, out_dim="F").names == ("N", "F")
    assert x.flatten(out_dim=None).names == (None,)
    with pytest.raises(NameExprError):
        x.flatten(end_dim=1, dims=["C", "H"], out_dim="F")  # type: ignore[call-overload]
    with pytest.raises(NameExprError):
        x.flatten(dims=5, out_dim="F")  # type: ignore[call-overload]


def test_flatten_copies_only_where_it_must() -> None:
    x = ramp(2, 3, names="N C").align_to("C", "N")
    y = x.flatten(["C", "N"], "F")
    assert not np.shares_memory(y.numpy(), x.numpy())
    np.testing.assert_array_equal(y.numpy(), x.numpy().ravel())


def test_flatten_of_an_unnamed_tensor_and_of_a_scalar_needs_no_name() -> None:
    assert ramp(2, 3).flatten().shape == (6,)
    assert ramp(2, 3, 4).flatten(1).shape == (2, 12)
    assert ne.tensor(3).flatten().shape == (1,)
    assert ne.tensor(3).flatten().names == (None,)


def test_flatten_of_one_dim_renames_the_result_only() -> None:
    x = ramp(2, 3, names="N C")
    assert x.flatten(["C"], "F").names == ("N", "F")
    assert x.names == ("N", "C")


def test_flatten_of_one_dim_without_a_name_for_it_changes_nothing() -> None:
    assert ramp(2, 3, names="N C").flatten("C", "C").names == ("N", "C")
    assert ramp(3, names="C").flatten().names == ("C",)


@pytest.mark.parametrize(
    "sizes",
    [
        [("A", 2), ("B", -1)],
        {"A": 2, "B": 3},
        OrderedDict(A=2, B=-1),
        "A=2 B",
        (("A", np.int64(2)), ("B", 3)),
    ],
)
def test_all_ways_to_write_unflatten_agree(sizes: object) -> None:
    x = ramp(4, 6, names="N C")
    y = x.unflatten("C", sizes)  # type: ignore[arg-type]
    assert y.names == ("N", "A", "B")
    np.testing.assert_array_equal(y.numpy(), x.numpy().reshape(4, 2, 3))
    assert np.shares_memory(y.numpy(), x.numpy())


def test_unflatten_is_a_view_of_a_transposed_array_too() -> None:
    x = ramp(4, 6, names="N C").align_to("C", "N")
    y = x.unflatten("C", "A=2 B")
    assert np.shares_memory(y.numpy(), x.numpy())
    np.testing.assert_array_equal(y.numpy(), x.numpy().reshape(2, 3, 4))


@given(st.permutations("ABCD"), st.permutations("ABCD"))
def test_aligning_back_gives_the_same_array(there: list[str], back: list[str]) -> None:
    x = ramp(1, 2, 3, 4, names=list("ABCD"))
    y = x.align_to(*there).align_to(back).align_to("A B C D")
    np.testing.assert_array_equal(x.numpy(), y.numpy())
    assert y.numpy().strides == x.numpy().strides or 1 in x.shape
