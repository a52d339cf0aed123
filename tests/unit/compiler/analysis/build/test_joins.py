"""Results that are made of parts, compared with nested loops over their cells."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

RNG = np.random.default_rng(15)
DTYPES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float16", "float32", "float64", "complex64", "complex128", "longdouble",
)  # fmt: skip


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape)


def by_loops(shape: tuple[int, ...], blocks: Any, dtype: Any = "float64") -> Any:
    """Blocks as (where each begins, its values): each cell is that of the block that it is in, or 0."""
    result = np.zeros(shape, dtype)
    for starts, values in blocks:
        for place in product(*map(range, np.shape(values))):
            result[tuple(np.add(starts, place))] = values[place]
    return result


def check(text: str, want: Any, **operands: Any) -> None:
    got = ne.evaluate(text, **operands)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-13)


def test_values_are_the_parts_in_their_order() -> None:
    x, z = normal(2, 3), normal(2, 4)
    want = by_loops((2, 7), [((0, 0), x), ((0, 3), z)])
    check("y[N (a + b)] = x[N a], z[N b]", want, x=x, z=z)
    check("y[(a + b) N] = x[N a], z[N b]", want.T, x=x, z=z)
    check("y[N (b + a)] = z[N b], x[N a]", by_loops((2, 7), [((0, 0), z), ((0, 4), x)]), x=x, z=z)


def test_parts_of_numbers_without_a_value_are_zeros() -> None:
    x, p, q = normal(2, 3, 4, 2), normal(2, 3), normal(4, 5)
    want = by_loops((2, 5, 7, 2), [((0, 1, 1, 0), x)])
    check("p[N (1 + H + 1) (1 + W + 2) C] = x[N H W C]", want, x=x)
    blocks = [((0, 0), p), ((2, 3), q)]
    check("m[(a + b) (c + d)] = p[a c], 0, 0, q[b d]", by_loops((6, 8), blocks), p=p, q=q)
    check("y[(2 + N)] = x[N]", np.array([False, False, True]), x=np.array([True]))


def test_dims_that_a_value_lacks_are_repeated() -> None:
    cls, patch, place = normal(3), normal(2, 4, 3), normal(4, 3)
    want = by_loops((2, 5, 3), [((0, 0, 0), np.stack([cls[None]] * 2)), ((0, 1, 0), patch + place)])
    text = "t[B (1 + P) D] = cls[D], patch[B P D] + pos[P D]"
    check(text, want, cls=cls, patch=patch, pos=place)
    check(
        "y[N (a + b=2)] = x[N a], 7",
        by_loops((2, 5), [((0, 0), x := normal(2, 3)), ((0, 3), np.full((2, 2), 7))]),
        x=x,
    )


def test_numbers_take_the_place_of_blocks() -> None:
    t = normal(5)
    want = np.array([[[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]] for a in t])
    check("R[N (1 + 1) (1 + 1)] = cos(t[N]), -sin(t), sin(t), cos(t)", want, t=t)
    check("f[(2 + 3)] = 1, 2.5", np.array([1, 1, 2.5, 2.5, 2.5]))
    check("f[(1 + 1)] = 1, 2", np.array([1, 2]))
    check("f[(1 + N)] = 1 == 1, x[N]", np.array([True, False]), x=np.array([False]))


def test_parts_are_products_and_bind_tighter() -> None:
    x, z = normal(2, 3), normal(4)
    want = np.array([7.0, *x.ravel(), *z])
    check("f[(1 + a b + c)] = 7, x[a b], z[c]", want, x=x, z=z)
    check("f[(1 + a b + c)] = 7, x[b a], z[c]", np.array([7.0, *x.T.ravel(), *z]), x=x, z=z)
    want = np.array([[7.0, *x.ravel()], [7.0, *x.ravel()]])
    check("f[N=2 (1 + a b)] = 7, x[a b]", want, x=x)


def test_a_label_may_be_several_parts_or_a_dim_too() -> None:
    x = normal(3)
    check("f[(b + b)] = x[b], x + 1", np.array([*x, *x + 1]), x=x)
    check("f[(1 + b b)] = 7, x[b]", np.array([7.0, *np.diag(x).ravel()]), x=x)
    check(
        "f[b (1 + b)] = 7, x[b]", by_loops((3, 4), [((0, 0), np.full((3, 1), 7)), ((0, 1), np.diag(x))]), x=x
    )


def test_what_is_repeated_stays_a_diagonal_and_new_dims_are_new() -> None:
    x, z = normal(2, 3), normal(2, 4)
    want = by_loops((2, 7), [((0, 0), x), ((0, 3), z)])
    check("y[N N (a + b)] = x[N a], z[N b]", np.einsum("nm,nk->nmk", np.eye(2), want), x=x, z=z)
    check("y[1 N (a + b) 2] = x[N a], z[N b]", np.stack([want, want], -1)[None], x=x, z=z)


def test_later_statements_use_all_of_it_or_a_part() -> None:
    x, z = normal(2, 3), normal(2, 4)
    text, whole = "y[N (a + b)] = x[N a] * 2, z[N b] + 1; ", np.concatenate([x * 2, z + 1], 1)
    check(text + "y * 3", whole * 3, x=x, z=z)
    check(text + "y[N (a + b)] * y", whole * whole, x=x, z=z)
    check(text + "y[N (_ + b)] * 2", whole[:, 3:] * 2, x=x, z=z)
    check(text + "mean[T](y[N T])", whole.mean(1), x=x, z=z)
    check(text + "w[N (a + b)] = 1, 2; y + w", whole + np.array([1, 1, 1, 2, 2, 2, 2]), x=x, z=z)


def test_dims_under_an_ellipsis_are_broadcast() -> None:
    x, z = normal(2, 3), normal(1, 4)
    want = by_loops((2, 7), [((0, 0), x), ((0, 3), np.concatenate([z, z]))])
    check("y[... (a + b)] = x[... a], z[... b]", want, x=x, z=z)


def test_the_dims_keep_their_names() -> None:
    x, z = ne.tensor(normal(2, 3), names="N a"), ne.tensor(normal(2, 4), names="N b")
    assert ne.evaluate("y[N (a + b)] = x, z", x=x, z=z).names == ("N", None)
    assert ne.evaluate("y[N features=(a + b)] = x, z", x=x, z=z).names == ("N", "features")
    assert ne.evaluate("y[... (a + b)] = x[... a], z[... b]", x=x, z=z).names == ("N", None)


@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("right", DTYPES)
def test_the_dtype_is_that_of_all_values(left: str, right: str) -> None:
    x, z = np.ones(2, left), np.zeros(3, right)
    want = np.concatenate([x, z])
    got = ne.evaluate("y[(a + b)] = x[a], z[b]", x=x, z=z)
    assert got.dtype == want.dtype and (got == want).all()
    number = 1 if np.dtype(left).kind in "biu" else 0.5
    want = np.full(3, number, np.result_type(x, number))
    got = ne.evaluate(f"y[(a + 1)] = x[a] * 0 + {number}, {number}", x=x)
    assert got.dtype == want.dtype and (got == want).all()


@pytest.mark.parametrize("sizes", [(0, 0, 0), (0, 3, 2), (1, 0, 2), (2, 1, 0), (1, 1, 1), (4, 3, 2)])
def test_parts_may_be_empty_and_arrays_strided(sizes: tuple[int, int, int]) -> None:
    n, a, b = sizes
    x, z = normal(2 * n, a)[::-2], normal(b, n).T
    want = by_loops((n, a + b), [((0, 0), x), ((0, a), z + 1)])
    check("y[N (a + b)] = x[N a], z[N b] + 1", want, x=x, z=z)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("y[N (a + b + c)] = x[N a], z[N b]", "NE222"),
        ("y[N (a + b)] = x[N a]", "NE222"),
        ("y[N (1 + 1)] = x[N a]", "NE222"),
        ("y[N (a + b)] = z[N b], x[N a]", "NE223"),
        ("y[N (a + b)] = x[N a], z[M b]", "NE240"),
        ("y[N (a + b + c)] = x[N a], z[N b], 1", "NE313"),
        ("y[N (a + )] = x[N a], z[N b]", "NE129"),
        ("y[N (a + ...)] = x[N a], z[N b]", "NE226"),
        ("y[N (a + (b + 1))] = x[N a], z[N b]", "NE226"),
    ],
)
def test_values_that_do_not_fit_are_refused(text: str, code: str) -> None:
    with pytest.raises(ne.NameExprError, match=code):
        ne.evaluate(text, x=normal(2, 3), z=normal(2, 4))
