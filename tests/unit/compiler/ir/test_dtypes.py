"""Dtypes of numbers know what they are; kinds of dtypes are in one order."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from nameexpr.compiler.ir.dtypes import KIND_OF, WEAK, WeakDtype, is_castable, strong


@pytest.mark.parametrize("type_", [bool, int, float, complex])
def test_a_weak_dtype_knows_its_kind_and_the_dtype_of_an_array(type_: type) -> None:
    assert WEAK[type_].kind == type_.__name__
    assert strong(WEAK[type_]) == np.asarray(type_(1)).dtype.name
    assert strong("float32") == "float32"


def test_a_weak_dtype_is_itself_again_from_a_copy() -> None:
    for again in (copy.deepcopy(WEAK[int]), pickle.loads(pickle.dumps(WEAK[int]))):
        assert isinstance(again, WeakDtype)
        assert (again, again.kind, again.strong) == (WEAK[int], "int", "int64")


@pytest.mark.parametrize("dtype", KIND_OF)
@pytest.mark.parametrize("wanted", KIND_OF)
def test_a_cast_is_to_the_same_kind_or_a_wider_one_as_in_numpy(dtype: str, wanted: str) -> None:
    assert is_castable(dtype, wanted) == np.can_cast(dtype, wanted, "same_kind")
