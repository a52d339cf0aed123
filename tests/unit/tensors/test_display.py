"""The repr: array, names, sizes, and nothing that a terminal would act on."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (ne.tensor([1, 2, 3], names="N"), "tensor([1, 2, 3], names=('N',), shape=(3,))"),
        (ne.tensor([1.0, 2.5]), "tensor([1. , 2.5], shape=(2,))"),
        (ne.tensor([[1, 2]], names="N _"), "tensor([[1, 2]], names=('N', None), shape=(1, 2))"),
        (ne.tensor(True), "tensor(True)"),
        (ne.tensor(np.float32(1.5)), "tensor(1.5, dtype=float32)"),
        (ne.tensor([1], dtype=np.int8), "tensor([1], shape=(1,), dtype=int8)"),
        (
            ne.tensor(np.zeros((0, 3)), names="N C"),
            "tensor([], names=('N', 'C'), shape=(0, 3), dtype=float64)",
        ),
        (
            ne.tensor([[1, 2], [3, 4]], names="N C"),
            "tensor([[1, 2],\n        [3, 4]], names=('N', 'C'), shape=(2, 2))",
        ),
    ],
)
def test_the_repr_shows_array_names_and_sizes(x: ne.NamedTensor, text: str) -> None:
    assert repr(x) == str(x) == text


def test_a_long_array_is_elided_as_numpy_elides_it() -> None:
    text = repr(ne.tensor(np.zeros((1000, 1000)), names="N C"))
    assert "..." in text
    assert len(text) < 1000
    assert text.endswith("names=('N', 'C'), shape=(1000, 1000))")


def test_names_that_do_not_fit_on_the_line_go_to_the_next() -> None:
    text = repr(ne.tensor(np.arange(20), names="a_rather_long_name_for_a_dim"))
    assert text.splitlines()[-1] == "       names=('a_rather_long_name_for_a_dim',), shape=(20,))"
    assert max(map(len, text.splitlines())) <= 75


def test_control_characters_in_elements_are_escaped() -> None:
    class Nasty:
        def __repr__(self) -> str:
            return "\x1b[2Jboo"

    text = repr(ne.tensor(np.array([Nasty(), Nasty()]), names="N"))
    assert "\x1b" not in text
    assert "\\x1b[2Jboo" in text


def test_a_repr_of_evident_dtype_can_be_read_back() -> None:
    x = ne.tensor([[1, 2], [3, 4]], names="N C")
    text = repr(x).replace(", shape=(2, 2)", "")
    y = eval(text, {"tensor": ne.tensor})
    assert y.names == x.names
    np.testing.assert_array_equal(y.numpy(), x.numpy())
