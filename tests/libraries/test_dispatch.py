"""Which library computes: found by the classes of operands, and never by a guess."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.backends.dispatch import library_name, library_of

torch = pytest.importorskip("torch")


def test_classes_have_their_library() -> None:
    assert library_name(np.ndarray) == "numpy"
    assert library_name(torch.Tensor) == library_name(torch.nn.Parameter) == "torch"
    assert library_name(float) is library_name(list) is library_name(np.float64) is None


def test_numbers_go_with_every_library() -> None:
    assert library_of([torch.ones(2), 2, np.float32(3)]) == "torch"
    assert library_of([1, 2.0]) == library_of([[1, 2]]) == "numpy"


def test_mixed_libraries_are_refused_by_name() -> None:
    for other in (np.ones(3), [1.0, 2.0, 3.0]):
        with pytest.raises(ne.OperandError, match="NE507") as caught:
            ne.einsum("a, a -> a", torch.ones(3), other)
        assert "torch.Tensor" in str(caught.value)


def test_a_text_is_called_with_any_library_in_turn() -> None:
    x = np.arange(6.0).reshape(2, 3)
    for _ in range(3):
        assert isinstance(ne.einsum("a b, c b -> a c", x, x), np.ndarray)
        result = ne.einsum("a b, c b -> a c", torch.as_tensor(x), torch.as_tensor(x))
        assert isinstance(result, torch.Tensor)
        np.testing.assert_allclose(result, x @ x.T)


def test_options_that_only_numpy_has_are_refused() -> None:
    for options in ({"tune": True}, {"memory_limit": 1000}):
        with pytest.raises(ne.OptionError, match="NE616"):
            ne.einsum("a b, c b -> a c", torch.ones(2, 3), torch.ones(2, 3), **options)


def test_errors_of_the_library_become_ours() -> None:
    x = torch.ones(2, 3, dtype=torch.uint64)
    with pytest.raises(ne.OperandError, match=r"NE505.*uint64"):
        ne.einsum("a b, c b -> a c", x, x)
