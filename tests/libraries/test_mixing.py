"""Operands of two libraries: refused by name with advice that works, except where a library takes NumPy's."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.backends.dispatch import JOINED_BY_NUMPY

X, Y = np.arange(6.0).reshape(2, 3), np.ones((3, 4))
MAKERS: dict[str, tuple[str, str, str]] = {
    "numpy": ("numpy", "asarray", "numpy.ndarray"),
    "torch": ("torch", "as_tensor", "torch.Tensor"),
    "jax": ("jax.numpy", "asarray", "jax.Array"),
    "dask": ("dask.array", "from_array", "dask.Array"),
    "array_api_strict": ("array_api_strict", "asarray", "array_api_strict.Array"),
}
"""For each library a module, the function that makes an array from one of NumPy, and what errors call it."""
PAIRS = list(permutations(MAKERS, 2))


def maker(library: str) -> Callable[[Any], Any]:
    module, name, _ = MAKERS[library]
    found: Callable[[Any], Any] = getattr(pytest.importorskip(module), name)
    return found


def values(result: Any) -> Any:
    result = result.compute() if hasattr(result, "compute") else result
    return result if isinstance(result, np.ndarray) else np.from_dlpack(result)


def advice(message: str, word: str) -> dict[str, str]:
    """The two conversions of an error: by operand the expression of an array x."""
    (hint,) = re.findall(r"help: convert (.*)", message)
    found = re.findall(rf"({word}) with (.+?)(?:, or |$)", hint)
    return dict(found)


def is_joined(*libraries: str) -> bool:
    return "numpy" in libraries and bool({*libraries} & JOINED_BY_NUMPY)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_expressions_of_two_libraries(first: str, second: str) -> None:
    given = [maker(first)(X), maker(second)(Y)]
    text, expected = "a b, b c -> c a", (X @ Y).T
    if is_joined(first, second):
        result = ne.einsum(text, *given)
        assert not isinstance(result, np.ndarray)
        np.testing.assert_allclose(values(result), expected)
        return
    with pytest.raises(ne.OperandError, match="NE507") as caught:
        ne.einsum(text, *given)
    message = str(caught.value)
    assert MAKERS[first][2] in message and MAKERS[second][2] in message
    ways = advice(message, r"operand \d")
    assert len(ways) == 2
    for title, way in ways.items():
        position = int(title[-1])
        moved = list(given)
        moved[position] = convert(way, given[position])
        np.testing.assert_allclose(values(ne.einsum(text, *moved)), expected, rtol=1e-6)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_formulas_of_two_libraries(first: str, second: str) -> None:
    given = {"x": maker(first)(X), "w": maker(second)(Y)}
    text, expected = "y[A C] = sum[B](x[A B] * w[B C])", X @ Y
    if is_joined(first, second):
        np.testing.assert_allclose(values(ne.evaluate(text, operands=given)), expected)
        return
    with pytest.raises(ne.OperandError, match="NE507") as caught:
        ne.evaluate(text, operands=given)
    ways = advice(str(caught.value), "'[xw]'")
    assert len(ways) == 2
    for title, way in ways.items():
        name = title.strip("'")
        moved = {**given, name: convert(way, given[name])}
        np.testing.assert_allclose(values(ne.evaluate(text, operands=moved)), expected, rtol=1e-6)


def convert(way: str, x: Any) -> Any:
    """What the advice gives for an array."""
    names: dict[str, Any] = {"np": np, "x": x}
    for module in re.findall(r"\b(torch|jax\.numpy|dask\.array|array_api_strict)\b", way):
        import_module(module)
        root = module.partition(".")[0]
        names[root] = import_module(root)
    return eval(way, names)


@pytest.mark.parametrize("library", MAKERS)
def test_numbers_and_scalars_of_numpy_mix_with_every_library(library: str) -> None:
    x = maker(library)(X)
    for number in (2, 2.0, np.float64(2), np.int64(2), np.float32(2)):
        for text in ("a b, -> a b", "a b, -> a : sum"):
            result, expected = ne.einsum(text, x, number), ne.einsum(text, X, 2.0)
            assert type(result) is type(x)
            np.testing.assert_allclose(values(result), expected)
        result = ne.evaluate("y[A B] = n * x[A B] + 1", x=x, n=number)
        assert type(result) is type(x)
        np.testing.assert_allclose(values(result), 2 * X + 1)


def test_a_third_library_does_not_hide_the_first_two() -> None:
    given = [maker("torch")(X), maker("numpy")(X), maker("array_api_strict")(X)]
    with pytest.raises(ne.OperandError, match=r"operand 0 is a torch.*operand 1 is a numpy"):
        ne.einsum("a b, a b, a b -> a b", *given)


def test_bound_operands_are_of_the_library_of_the_others() -> None:
    layer = ne.compile("a b, b c -> a c").bind({1: maker("torch")(Y)})
    with pytest.raises(ne.OperandError, match=r"NE507.*operand 0 is a numpy.ndarray"):
        layer(X)


@pytest.mark.parametrize("library", MAKERS)
@pytest.mark.parametrize(
    "other", [[[1.0], [2.0, 3.0]], np.str_("a"), np.datetime64("2020-01-01"), "text", None]
)
def test_what_is_not_of_numbers(library: str, other: Any) -> None:
    x = maker(library)(X)
    for call in (
        lambda: ne.einsum("a b, ... -> a b ...", x, other),
        lambda: ne.evaluate("x[a b] * y[...]", x=x, y=other),
        lambda: ne.compile("a b, ... -> a b ...").bind({1: other})(x),
    ):
        with pytest.raises(ne.OperandError, match=r"NE503|NE505|NE506|NE507|NE525"):
            call()


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_an_operand_too_many_of_another_library(first: str, second: str) -> None:
    with pytest.raises(ne.NameExprError, match=r"NE507|NE502"):
        ne.einsum("-> a", maker(first)(X), maker(second)(Y), sizes={"a": 2})


@pytest.mark.parametrize("library", ["torch", "jax"])
@pytest.mark.parametrize(
    "other", [np.str_("a"), np.datetime64("2020-01-01"), [[1.0], [2.0, 3.0]], np.array(["a"])]
)
def test_a_tensor_with_names_takes_numbers_only(library: str, other: Any) -> None:
    x = ne.tensor(maker(library)(X), names="a b")
    for call in (lambda: x * other, lambda: other * x, lambda: x.add(other)):
        with pytest.raises(ne.NameExprError, match=r"NE575|NE507|NE57"):
            call()


def test_a_tensor_with_names_takes_dense_tensors_only() -> None:
    torch = pytest.importorskip("torch")
    x = ne.tensor(torch.ones(4), names="a")
    for call in (lambda: x * torch.ones(4).to_sparse(), lambda: x.add(torch.ones(4).to_sparse())):
        with pytest.raises(ne.NameExprError, match=r"NE511"):
            call()


@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_dtypes_that_only_one_library_has() -> None:
    torch = pytest.importorskip("torch")
    result = ne.einsum("a, -> a", torch.ones(2, dtype=torch.float16), 1j, dtype="complex64")
    assert (result.dtype, result.tolist()) == (torch.complex64, [1j, 1j])
    with pytest.raises(ne.NameExprError, match="NE610"):
        ne.einsum("a, a -> a", torch.ones(2).to(torch.float8_e5m2), torch.ones(2), dtype="int32")


def test_a_dtype_that_the_standard_lacks() -> None:
    x = maker("array_api_strict")(X)
    for call in (
        lambda: ne.einsum("a b, a b -> a b", x, x, dtype="float16"),
        lambda: ne.evaluate("x[a b] * 2", x=x, dtype="float16"),
    ):
        with pytest.raises(ne.OperandError, match=r"NE529.*has no float16|NE524.*float16"):
            call()


def test_a_list_of_tensors_is_not_converted_silently() -> None:
    torch, x = pytest.importorskip("torch"), maker("jax")(X)
    for call in (
        lambda rows: ne.einsum("a b, b c -> a c", x, rows),
        lambda rows: ne.evaluate("x[a b] + rows[b c]", x=x, rows=rows),
    ):
        with pytest.raises(ne.OperandError, match="NE503"):
            call([torch.ones(2)] * 3)
