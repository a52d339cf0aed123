"""What Python's and NumPy's protocols do: never a nameless result silently."""

from __future__ import annotations

import copy
import operator
import pickle
import subprocess
import sys
import warnings
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


def test_functions_of_numpy_give_tensors_and_refuse_what_knows_no_names(x: ne.NamedTensor) -> None:
    assert np.exp(x).names == np.add(1, x).names == np.zeros_like(x).names == ("N", "C")
    assert np.sum(x, axis="C").names == ("N",)
    with pytest.raises(NameExprError, match=r"x\.numpy\(\)") as caught:
        np.linalg.inv(x)
    assert caught.value.code == "NE658"
    assert isinstance(caught.value, TypeError)


def test_the_table_of_functions_is_read_when_it_is_used() -> None:
    script = (
        "import sys, nameexpr as ne, numpy as np\n"
        "x = ne.tensor([1, 2], names='N')\n"
        "np.add(x, 1)\n"
        "assert 'nameexpr.tensors.protocols.functions' not in sys.modules\n"
        "np.sum(x)\n"
        "assert 'nameexpr.tensors.protocols.functions' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)


def test_masked_arrays_and_matrices_are_refused(x: ne.NamedTensor) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        matrix = np.matrix([[1.0, 2.0, 3.0]])
    for other in (np.ma.array([1.0, 2.0, 3.0]), matrix):
        for use in (operator.add, operator.matmul, np.multiply, np.dot):
            with pytest.raises(NameExprError) as caught:
                use(x, other)
            assert caught.value.code == "NE654"
    with pytest.raises(NameExprError):
        matrix + x


def test_dlpack_shares_the_memory_without_names(x: ne.NamedTensor) -> None:
    array = np.from_dlpack(x)
    assert type(array) is np.ndarray and np.shares_memory(array, x.numpy())
    assert not np.shares_memory(np.from_dlpack(x, copy=True), x.numpy())
    assert x.__dlpack_device__() == x.numpy().__dlpack_device__()


@pytest.mark.parametrize("value", [2.5, 3, True, np.float32(0.5), np.int8(-4)])
def test_a_single_element_is_a_number(value: Any) -> None:
    for x in (ne.tensor(value), ne.tensor([[value]], names="N C")):
        assert float(x) == float(value) and type(float(x)) is float
        assert int(x) == int(value) and type(int(x)) is int
        assert complex(x) == complex(value)


def test_an_index_is_an_integer() -> None:
    assert list("abc")[ne.tensor(1)] == "b"
    assert operator.index(ne.tensor([np.uint8(7)], names="N")) == 7
    for value in (1.0, True, 1j):
        with pytest.raises(TypeError, match="NE571"):
            operator.index(ne.tensor(value))


@pytest.mark.parametrize(
    ("convert", "x", "code"),
    [
        (float, ne.tensor([1.0, 2.0]), "NE382"),
        (int, ne.tensor([]), "NE382"),
        (complex, ne.tensor([1, 2]), "NE382"),
        (operator.index, ne.tensor([1, 2]), "NE382"),
        (float, ne.tensor(1j), "NE571"),
        (int, ne.tensor(1j), "NE571"),
        (float, ne.from_numpy(np.array("1.5")), "NE571"),
        (float, ne.from_numpy(np.array([None])), "NE571"),
        (float, ne.from_numpy(np.array("2020-01-01", dtype="M8[D]")), "NE571"),
        (int, ne.tensor(np.nan), "NE577"),
        (int, ne.tensor(np.inf), "NE577"),
    ],
)
def test_what_is_no_number_is_refused(convert: Any, x: ne.NamedTensor, code: str) -> None:
    with pytest.raises(NameExprError) as caught:
        convert(x)
    assert caught.value.code == code


def test_the_format_of_a_single_number(x: ne.NamedTensor) -> None:
    assert f"{ne.tensor(2.5):.3f}" == "2.500"
    assert f"{ne.tensor(7):04d}|{ne.tensor(2.5)}" == "0007|2.5"
    assert f"{x}" == repr(x)
    with pytest.raises(TypeError):
        format(x, ".2f")


def test_equality_is_by_element_and_hashing_by_identity(x: ne.NamedTensor) -> None:
    for other in (ne.tensor(x), x, 1, x.numpy()):
        for compared in (x == other, x != other, other == x):
            assert type(compared) is ne.NamedTensor and compared.dtype == bool
            with pytest.raises(NameExprError):
                bool(compared)
    assert (x == None) is False and (x != None) is True  # noqa: E711
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


def test_copies_of_results_and_of_read_only_views(x: ne.NamedTensor) -> None:
    for y in (np.exp(x), np.sum(x), np.broadcast_to(x, (2, 1, 3)), x.expand(4, -1), np.transpose(x)):
        for z in (copy.copy(y), copy.deepcopy(y), pickle.loads(pickle.dumps(y))):
            assert z.names == y.names and z.numpy().flags.writeable
            np.testing.assert_array_equal(z.numpy(), y.numpy())
            assert not np.shares_memory(z.numpy(), y.numpy())


def test_a_pickle_with_bad_names_is_refused() -> None:
    bad = pickle.dumps(wrap(np.ones((1, 2)), ("N", "N")))
    with pytest.raises(NameExprError):
        pickle.loads(bad)


def test_a_tensor_can_be_referenced_weakly(x: ne.NamedTensor) -> None:
    assert weakref.ref(x)() is x


def test_numpy_ma_is_refused_rather_than_losing_names() -> None:
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    x = ne.tensor([1.0, 2.0], names="N")
    for meet in (lambda: masked + x, lambda: masked == x, lambda: x + masked):
        with pytest.raises(ne.NameExprError):
            meet()
