"""What Python's and NumPy's protocols do: never a nameless result in silence."""

from __future__ import annotations

import copy
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.errors import NameExprError
from nameexpr.tensors import wrap


@pytest.fixture
def x() -> ne.NamedTensor:
    return ne.tensor([[1.0, 2.0, 3.0]], names="N C")


def test_asarray_gives_the_array_itself_and_casts_on_demand(x: ne.NamedTensor) -> None:
    assert np.asarray(x) is x.numpy()
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    assert not np.shares_memory(np.array(x), x.numpy())
    assert np.shares_memory(np.array(x, copy=False), x.numpy())
    with pytest.raises(ValueError, match="copy"):
        np.array(x, dtype=np.float32, copy=False)


@pytest.mark.parametrize(
    "use",
    [
        lambda x: np.add(x, x),
        lambda x: np.add(1, x),
        lambda x: np.exp(x),
        lambda x: np.add.reduce(x),
        lambda x: np.add.at(np.ones((1, 3)), 0, x),
        lambda x: np.ones(3) + x,
        lambda x: np.float64(2) * x,
        lambda x: np.ones((1, 3)) == x,
        lambda x: np.sum(x),
        lambda x: np.concatenate([x, x]),
        lambda x: np.einsum("ij->ji", x),
        lambda x: np.where(np.ones((1, 3), bool), x, 0),
        lambda x: np.linalg.norm(x),
        lambda x: np.zeros_like(x),
        lambda x: np.matmul(x, np.ones((3, 1))),
        lambda x: np.add(np.ones(3), 1, out=x),
    ],
)
def test_numpys_functions_refuse_and_name_the_way_out(x: ne.NamedTensor, use: Any) -> None:
    with pytest.raises(NameExprError, match=r"x\.numpy\(\)") as caught:
        use(x)
    assert caught.value.code == "NE658"
    assert isinstance(caught.value, TypeError)


def test_an_array_is_not_rebound_by_an_augmented_assignment(x: ne.NamedTensor) -> None:
    array = np.ones((1, 3))
    with pytest.raises(NameExprError):
        array += x
    assert type(array) is np.ndarray


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x + x,
        lambda x: x + 1,
        lambda x: 1 + x,
        lambda x: len(x),
        lambda x: x[0],
        lambda x: list(x),
        lambda x: -x,
    ],
)
def test_what_is_not_there_yet_is_a_type_error_and_not_a_wrong_answer(x: ne.NamedTensor, use: Any) -> None:
    with pytest.raises(TypeError):
        use(x)


def test_equality_is_refused_and_hashing_is_by_identity(x: ne.NamedTensor) -> None:
    for other in (ne.tensor(x), x, 1, None):
        with pytest.raises(NameExprError):
            bool(x == other)
        with pytest.raises(NameExprError):
            bool(x != other)
    y = ne.tensor(x)
    assert {x: 1, y: 2}[y] == 2


def test_truth_needs_one_element() -> None:
    assert ne.tensor([[2]], names="N C")
    assert not ne.tensor(0.0)
    for empty_or_more in ([], [1, 2]):
        with pytest.raises(NameExprError):
            bool(ne.tensor(empty_or_more))


@pytest.mark.parametrize(
    "duplicate",
    [
        copy.copy,
        copy.deepcopy,
        *(lambda x, level=level: pickle.loads(pickle.dumps(x, level)) for level in range(6)),
    ],
)
def test_copies_and_pickles_have_their_own_memory(x: ne.NamedTensor, duplicate: Any) -> None:
    y = duplicate(x)
    assert type(y) is ne.NamedTensor
    assert y.names == x.names
    np.testing.assert_array_equal(y.numpy(), x.numpy())
    assert not np.shares_memory(y.numpy(), x.numpy())


def test_a_pickle_with_bad_names_is_refused() -> None:
    bad = pickle.dumps(wrap(np.ones((1, 2)), ("N", "N")))
    with pytest.raises(NameExprError):
        pickle.loads(bad)


def test_a_tensor_can_be_referenced_weakly(x: ne.NamedTensor) -> None:
    assert weakref.ref(x)() is x
