"""Every function of the language on array-api-strict, with the results of NumPy in float64."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.ops import ALONG, OPERATORS, POINTWISE, REDUCTIONS, SIGNS

xp = pytest.importorskip("array_api_strict")

FLOATS = np.array([[-2.5, -1.0, -0.0, 0.3], [0.5, 1.0, 2.5, 7.0]])
OPERANDS = {
    "bool": FLOATS > 0.4,
    "int32": np.array([[-3, -1, 4, 1], [2, 3, 5, 7]], np.int32),
    "uint8": np.array([[1, 2, 0, 1], [2, 3, 5, 7]], np.uint8),
    "float32": FLOATS.astype(np.float32),
    "float64": np.array([[np.nan, -np.inf, np.inf, -0.0], [0.5, 1.0, 2.5, 7.0]]),
    "complex128": FLOATS + 1j * FLOATS[::-1],
}
NARROW = {"bool", "uint8"}
"""Dtypes of which NumPy computes functions in float16."""


def results(text: str, **operands: Any) -> tuple[Any, Any]:
    """The result of NumPy and that of the library; of each the code of its error instead."""
    found = []
    for given in (operands, {name: xp.asarray(array) for name, array in operands.items()}):
        with np.errstate(all="ignore"), pytest.MonkeyPatch.context():
            try:
                result = ne.evaluate(text, **given)
            except ne.NameExprError as wrong:
                result = wrong.diagnostics[0].code
        found.append(result)
    return found[0], found[1]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", POINTWISE)
@pytest.mark.parametrize("dtype", OPERANDS)
def test_pointwise_functions(name: str, dtype: str) -> None:
    x = OPERANDS[dtype]
    names = "xyz"[: POINTWISE[name].arity]
    text = f"r[A B] = {name}({', '.join(f'{one}[A B]' for one in names)})"
    expected, found = results(text, **dict(zip(names, (x, x[::-1], x[:, ::-1]), strict=False)))
    if isinstance(found, str):
        refused = isinstance(expected, str) or dtype in {"bool", "complex128"}
        assert refused, (name, dtype, found)
        return
    assert not isinstance(expected, str), (name, dtype)
    _compare(found, expected, is_coarse=dtype in NARROW)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("sign", "dtype"), list(product([*OPERATORS, *(f"{sign} " for sign in SIGNS)], OPERANDS))
)
def test_operators(sign: str, dtype: str) -> None:
    x = OPERANDS[dtype]
    texts = [f"r[A B] = x[A B] {sign} y[A B]", f"r[A B] = x[A B] {sign} 2", f"r[A B] = -3 {sign} x[A B]"]
    if sign.endswith(" "):
        texts = [f"r[A B] = {sign}x[A B]"]
    for text in texts:
        given = {"x": x, "y": x[::-1]} if "y[" in text else {"x": x}
        expected, found = results(text, **given)
        if isinstance(found, str):
            assert isinstance(expected, str) or dtype in {"bool", "complex128"}, (text, dtype, found)
        else:
            _compare(found, expected, is_coarse=dtype in NARROW)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "dtype"), list(product([*REDUCTIONS, *ALONG], OPERANDS)))
def test_functions_of_dims(name: str, dtype: str) -> None:
    for labels, shape in (("B", (2, 4)), ("A", (2, 4)), ("A", (0, 4))):
        x = OPERANDS[dtype] if shape[0] else OPERANDS[dtype][:0]
        left = "A B" if name in ALONG else "B" if labels == "A" else "A"
        expected, found = results(f"r[{left}] = {name}[{labels}](x[A B])", x=x)
        if isinstance(found, str):
            assert isinstance(expected, str) or dtype == "complex128", (name, dtype, found)
        else:
            _compare(found, expected, is_coarse=dtype in NARROW)


def test_the_error_function_is_as_accurate_as_float64() -> None:
    x = np.concatenate([np.linspace(-6, 6, 2001), [1e-300, 20.0, 26.0, np.inf, -np.inf, np.nan]])
    for name, bound in (("erf", 1e-15), ("erfc", 1e-12), ("gelu", 1e-12)):
        expected, found = results(f"r[A] = {name}(x[A])", x=x)
        np.testing.assert_allclose(np.from_dlpack(found), expected, rtol=bound, atol=1e-300, equal_nan=True)


def _compare(found: Any, expected: Any, *, is_coarse: bool) -> None:
    array, bound = np.from_dlpack(found), 1e-2 if is_coarse else 1e-6
    assert array.shape == expected.shape
    if expected.dtype.kind in "fc":
        assert array.dtype.kind == expected.dtype.kind
        assert is_coarse or array.dtype == expected.dtype
        np.testing.assert_allclose(array, expected, rtol=bound, atol=bound, equal_nan=True)
        return
    assert array.dtype == expected.dtype
    np.testing.assert_array_equal(array, expected)


def test_tensors_with_names_are_not_made_of_them_silently() -> None:
    with pytest.raises(ne.OptionError, match=r"NE654.*standard(.|\n)*np.from_dlpack"):
        ne.tensor(xp.ones((2, 3)), names="N C")
