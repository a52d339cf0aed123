"""`nameexpr.compat.numpy` against NumPy's own functions."""

from __future__ import annotations

import string
from typing import Any

import numpy as np
import pytest

from nameexpr.compat import numpy as front
from nameexpr.compat.numpy import einsum, einsum_path

SEEDS = 60
DTYPES = ("bool", "int8", "uint8", "int32", "uint64", "float16", "float32", "float64", "complex64")


def subscripts(rng: np.random.Generator) -> tuple[str, list[np.ndarray[Any, Any]]]:
    """Return random subscripts and their operands: diagonals, dims of size 1, "...", with a result or not."""
    size = {letter: int(rng.choice([0, 1, 2, 3], p=[0.05, 0.25, 0.35, 0.35])) for letter in "ijkLM"}
    shared = [int(rng.integers(1, 4)) for _ in range(2)]
    terms, operands = [], []
    for _ in range(rng.integers(1, 4)):
        letters = "".join(rng.choice(list(size), rng.integers(0, 4)))
        shape = [size[letter] for letter in letters]
        if rng.random() < 0.3 and len(set(letters)) == len(letters):
            shape = [1 if rng.random() < 0.4 else one for one in shape]
        if rng.random() < 0.3:
            place, dims = int(rng.integers(0, len(letters) + 1)), int(rng.integers(0, 3))
            under = [1 if rng.random() < 0.3 else one for one in shared[2 - dims :]]
            letters = f"{letters[:place]}...{letters[place:]}"
            shape = [*shape[:place], *under, *shape[place:]]
        dtype = str(rng.choice(DTYPES))
        terms.append(letters)
        operands.append(rng.integers(0 if dtype[0] in "bu" else -9, 9, shape).astype(dtype))
    text = ",".join(terms)
    if rng.random() < 0.6:
        known = sorted(set(text) & set(string.ascii_letters))
        kept = "".join(rng.permutation([one for one in known if rng.random() < 0.5]))
        text += f"->{'...' * ('...' in text)}{kept}"
    return text, operands


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_subscripts_have_the_values_and_the_dtype_of_numpy(seed: int) -> None:
    text, operands = subscripts(np.random.default_rng(seed))
    expected = np.einsum(text, *operands)
    for _ in range(2):  # a new text, and one that was compiled
        result = einsum(text, *operands)
        assert type(result) is type(expected)
        assert result.shape == expected.shape
        assert result.dtype == expected.dtype
        if result.dtype.kind in "fc":
            bound = np.einsum(text, *[np.abs(one).astype("f8") for one in operands])
            error = np.abs(result.astype("c16") - expected.astype("c16"))
            assert (error <= 4e-3 * bound if "float16" in str(result.dtype) else error <= 1e-5 * bound).all()
        else:
            np.testing.assert_array_equal(result, expected)


def test_the_texts_that_compiled_are_computed_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front, "numpy_einsum", lambda *_, **__: pytest.fail("NumPy was called"))
    a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    np.testing.assert_array_equal(einsum("xy,y", a, b), a @ b)
    np.testing.assert_array_equal(einsum("xy,y", a, b, optimize=True), a @ b)


def test_a_result_that_has_all_elements_is_a_view() -> None:
    a = np.arange(9.0).reshape(3, 3)
    for text in ("ij", "ji", "...", "ii->i"):
        assert einsum(text, a).base is a.base
        assert np.shares_memory(einsum(text, a), a)
    a.flags.writeable = False
    assert not einsum("ji", a).flags.writeable
    assert einsum("ij->i", np.ones((3, 1))).flags.owndata


def test_a_sum_over_dims_of_size_1_is_new_memory() -> None:
    a = np.ones((3, 1))
    for text in ("ij->i", "ij->", "ij,j->i"):
        result = einsum(text, *[a, np.ones(1)][: text.count(",") + 1])
        assert not np.shares_memory(result, a)


def test_sublists_have_the_integers_order() -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    for lists in (([0, 1], [1, 2]), ([51, 26], range(26, 24, -1)), (np.array([1, 0]), (0, Ellipsis))):
        np.testing.assert_array_equal(einsum(a, lists[0], b, lists[1]), np.einsum(a, lists[0], b, lists[1]))
    np.testing.assert_array_equal(einsum(a, [0, 1], b, [1, 2], [2, 0]), (a @ b).T)
    for wrong in ([52, 0], [-1, 0], "ab"):
        with pytest.raises(ValueError, match="NE"):
            einsum(a, wrong)


def test_out_may_be_an_operand_and_is_the_result() -> None:
    a, b = np.arange(4.0).reshape(2, 2), np.eye(2) + 1
    expected = a @ b
    assert einsum("ij,jk", a, b, out=a) is a
    np.testing.assert_array_equal(a, expected)
    assert einsum("ij,jk->", a, b, out=np.zeros(())) == (a @ b).sum()
    assert einsum("ji", a, out=a) is a
    np.testing.assert_array_equal(a, expected.T)


@pytest.mark.parametrize("known", [False, True])
def test_out_that_does_not_fit_is_an_error(known: bool) -> None:
    a, letters = np.ones((2, 2)), "ij,jk" if known else "pq,qr"
    if known:
        einsum(letters, a, a)
    for out, kind in (
        (np.zeros(2), ValueError),
        (np.zeros((2, 2), int), TypeError),
        ([[0, 0], [0, 0]], TypeError),
        (np.broadcast_to(0.0, (2, 2)), ValueError),
    ):
        with pytest.raises(kind):
            einsum(letters, a, a, out=out)


def test_casting_is_about_operands_and_out() -> None:
    a = np.array([1.5, 2.5])
    with pytest.raises(TypeError, match="NE613"):
        einsum("i,i", a, a, dtype="f4")
    assert einsum("i,i", a, a, dtype="f4", casting="same_kind").dtype == np.float32
    whole = np.zeros((), int)
    assert einsum("i,i", a, a, dtype="f8", casting="unsafe", out=whole) is whole
    assert whole == 8
    with pytest.raises(ValueError, match="casting"):
        einsum("i,i", a, a, casting="rough")
    with pytest.raises(TypeError, match="keyword"):
        einsum("i,i", a, a, dtipe="f8")


@pytest.mark.parametrize("order", ["K", "A", "C", "F", "c"])
def test_order_is_that_of_numpy(order: str) -> None:
    for layout in "CF":
        a, b = np.ones((2, 3, 5), order=layout), np.ones((4, 3), order=layout)
        for text in ("...ft,mf->...mt", "aft,mf->tma"):
            flags = einsum(text, a, b, order=order).flags
            expected = np.einsum(text, a, b, order=order).flags
            if layout == "F" or order != "K":
                assert (flags.c_contiguous, flags.f_contiguous) == (
                    expected.c_contiguous,
                    expected.f_contiguous,
                )


def test_objects_and_extended_floats_go_to_numpy() -> None:
    a = np.array([1, 2, "x"], object)
    assert einsum("i,i", a[:2], a[:2]) == 5
    assert einsum("i,i", np.ones(2, "g"), np.ones(2, "g")).dtype == np.longdouble
    with pytest.raises(TypeError, match="str"):
        einsum("i->", a)


def test_an_explicit_path_is_followed_or_refused_as_by_numpy() -> None:
    a, b, c = np.ones((2, 3)), np.ones((3, 4)), np.ones((4, 2))
    path = ["einsum_path", (1, 2), (0, 1)]
    np.testing.assert_array_equal(einsum("ij,jk,kl", a, b, c, optimize=path), a @ b @ c)
    np.testing.assert_array_equal(einsum("ij,jk,kl", a, b, c, optimize=("greedy", 1)), a @ b @ c)
    with pytest.raises(RuntimeError):
        einsum("ij,jk,kl", a, b, c, optimize=["einsum_path", (0, 1)])
    assert einsum_path("ij,jk,kl", a, b, c, optimize=path)[0] == path


@pytest.mark.parametrize(
    ("text", "shapes", "code", "marked"),
    [
        ("ij,jk", [(2, 3), (4, 5)], "NE304", "jj"),
        ("ii", [(2, 3)], "NE304", "ii"),
        ("aa,a", [(1, 4), (4,)], "NE304", "aa"),
        ("...i,...i", [(2, 4), (3, 4)], "NE309", "......"),
        ("ij", [(2,)], "NE310", "ij"),
        ("...ij", [(2,)], "NE310", "...ij"),
        ("i,j", [(2,)], "NE501", "j"),
        ("i", [(2,), (2,)], "NE502", "i"),
        ("i$", [(2,)], "NE100", "$"),
        ("i..", [(2,)], "NE107", ".."),
        ("i-j", [(2,)], "NE101", "-"),
        ("i->i->i", [(2,)], "NE123", "->->"),
        ("......", [(2,)], "NE205", "......"),
        ("ij->ii", [(2, 2)], "NE212", "ii"),
        ("ij->ik", [(2, 2)], "NE308", "k"),
        ("i->i,", [(2,)], "NE201", "i"),
        ("...i->i", [(2, 2)], "NE213", "..."),
    ],
)
def test_an_error_is_a_value_error_that_marks_what_is_wrong(
    text: str, shapes: list[tuple[int, ...]], code: str, marked: str
) -> None:
    for optimize in (False, True):
        with pytest.raises(ValueError, match=code) as raised:
            einsum(text, *map(np.ones, shapes), optimize=optimize)
        assert "".join(text[start:end] for start, end in raised.value.spans) == marked  # type: ignore[attr-defined]


def test_arguments_of_the_wrong_type_are_type_errors() -> None:
    for arguments in ((0, 0), (None,) * 5):
        with pytest.raises(TypeError):
            einsum(*arguments)
    with pytest.raises(ValueError, match="NE501"):
        einsum()
