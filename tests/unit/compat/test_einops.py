"""`nameexpr.compat.einops` against NumPy code for the same thing."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from nameexpr import NameExprError
from nameexpr.compat.einops import (
    EinopsError,
    asnumpy,
    einsum,
    pack,
    parse_shape,
    rearrange,
    reduce,
    repeat,
    unpack,
)

X = np.arange(2 * 6 * 5.0).reshape(2, 6, 5)
EQUAL = np.testing.assert_array_equal


def test_rearrange_orders_splits_and_merges() -> None:
    EQUAL(rearrange(X, "a b c -> c a b"), X.transpose(2, 0, 1))
    EQUAL(rearrange(X, "a (h w) c -> (a h) (w c)", h=3), X.reshape(6, 10))
    EQUAL(rearrange(X, "a ... -> ... a"), np.moveaxis(X, 0, -1))
    EQUAL(rearrange(X, "a ... -> a (...)"), X.reshape(2, 30))
    EQUAL(rearrange(X, "a b c -> 1 a () (b 1) c"), X[None, :, None])
    EQUAL(rearrange(X[:1], "1 b c -> (c b)"), X[0].T.ravel())
    EQUAL(rearrange(X[0, 0], "c -> c 1"), X[0, 0][:, None])
    assert rearrange(X, "batch über if -> if batch über").shape == (5, 2, 6)


def test_rearrange_is_a_view_where_there_can_be_one() -> None:
    for pattern in ("a b c -> a b c", "a b c -> c b a", "a (h w) c -> h a w c", "a b c -> (a b) c"):
        assert np.shares_memory(rearrange(X, pattern, **({"h": 2} if "h" in pattern else {})), X)


def test_arrays_in_a_list_are_stacked() -> None:
    EQUAL(rearrange([X[0], X[1]], "a b c -> b (a c)"), X.transpose(1, 0, 2).reshape(6, 10))
    EQUAL(reduce(list(X), "a b c -> b c", "sum"), X.sum(0))
    with pytest.raises(TypeError):
        rearrange([], "a b -> b a")


@pytest.mark.parametrize("name", ["min", "max", "sum", "mean", "prod", "any", "all"])
def test_reduce_is_the_reduction_of_numpy(name: str) -> None:
    x = X > 7 if name in {"any", "all"} else X
    function: Any = getattr(np, name)
    for how in (name, function):
        np.testing.assert_allclose(reduce(x, "a b c -> b", how), function(x, (0, 2)))
        np.testing.assert_allclose(reduce(x, "a (b 2) c -> c a () b", how)[:, :, 0], function(
            x.reshape(2, 3, 2, 5), 2).transpose(2, 0, 1))  # fmt: skip
        np.testing.assert_allclose(reduce(x, "a ... -> a", how), function(x, (1, 2)))
        np.testing.assert_allclose(reduce(x, "a b c -> a b c", how), x)


def test_reduce_has_the_dtype_of_numpy() -> None:
    for dtype in ("int8", "uint8", "bool", "float16", "float32"):
        x = np.ones((3, 100), dtype)
        for name in ("sum", "prod", "max"):
            expected = getattr(np, name)(x, 1)
            assert reduce(x, "a b -> a", name).dtype == expected.dtype
            EQUAL(reduce(x, "a b -> a", name), expected)
    with pytest.raises(NotImplementedError, match="mean"):
        reduce(np.arange(3), "a -> ", "mean")


def test_an_array_is_kept_if_there_is_nothing_to_reduce() -> None:
    for name in ("mean", "all", "sum"):
        EQUAL(reduce(np.arange(3), "... a -> a", name), np.arange(3))
        assert reduce(np.arange(3, dtype="int8"), "a -> 1 a", name).dtype == np.int8
    EQUAL(reduce(np.ones((4, 3)), "... a -> a", "sum"), [4, 4, 4])


def test_repeat_makes_new_axes() -> None:
    EQUAL(repeat(X, "a b c -> a k b c", k=3), np.stack([X] * 3, 1))
    EQUAL(repeat(X, "a b c -> (a 2) b c"), X.repeat(2, 0))
    EQUAL(repeat(X, "a b c -> (2 a) b c"), np.concatenate([X, X]))
    EQUAL(repeat(np.array(3), "-> a", a=2), [3, 3])
    result = repeat(X, "a b c -> a b c 2")
    assert result.flags.writeable
    assert not np.shares_memory(result, X)


def test_einsum_has_names() -> None:
    w = np.arange(15.0).reshape(5, 3)
    EQUAL(einsum(X, w, "a b in, in out -> a b out"), X @ w)
    EQUAL(einsum(w, X, "in out, ... in -> ... out"), X @ w)
    EQUAL(einsum(np.eye(3), "i i ->"), 3)
    EQUAL(einsum(X, "a b c -> b"), X.sum((0, 2)))
    many = " ".join(f"axis{number}" for number in range(30))
    ones = np.ones((1,) * 30)
    assert einsum(ones, ones, f"{many}, {many} -> axis7").shape == (1,)


def test_pack_and_unpack_are_inverse() -> None:
    arrays = [np.ones((2, 3)), np.full((2, 4, 5, 3), 2.0), np.full((2, 0, 3), 3.0)]
    packed, shapes = pack(arrays, "b * c")
    assert packed.shape == (2, 21, 3)
    assert shapes == [(), (4, 5), (0,)]
    for array, again in zip(arrays, unpack(packed, shapes, "b * c"), strict=True):
        EQUAL(again, array)
    assert [part.shape for part in unpack(packed, [(), (-1, 5)], "b * c")] == [(2, 3), (2, 4, 5, 3)]
    EQUAL(pack([X, X], "* c")[0], np.concatenate([X.reshape(-1, 5)] * 2))
    assert np.shares_memory(unpack(X, [(2, 3)], "a * c")[0], X)


def test_parse_shape_names_sizes() -> None:
    assert parse_shape(X, "a _ c") == {"a": 2, "c": 5}
    assert parse_shape(X, "... c") == {"c": 5}
    assert parse_shape(X, "a ...") == {"a": 2}
    assert parse_shape(X, "a b c ...") == {"a": 2, "b": 6, "c": 5}
    assert parse_shape(X[:1], "1 6 c") == {"c": 5}
    for wrong in ("a b", "a b c d ...", "() b c", "a 5 c", "(a b) c d", "a a c"):
        with pytest.raises(EinopsError):
            parse_shape(X, wrong)


def test_asnumpy_of_an_array_is_that_array() -> None:
    assert asnumpy(X) is X


@pytest.mark.parametrize(
    ("function", "pattern", "options", "words"),
    [
        (rearrange, "a b c", {}, "one arrow"),
        (rearrange, "a b c -> a b", {}, "'c' is only on the left"),
        (rearrange, "a b c -> a b c d", {}, "'d' is only on the right"),
        (rearrange, "a b c -> a b c 2", {}, "number above 1"),
        (rearrange, "a b a -> b a", {}, "more than once"),
        (rearrange, "a (b (c)) d -> a b c d", {}, "inside of another"),
        (rearrange, "a (b c -> a b c", {}, "not closed"),
        (rearrange, "a b) c -> a b c", {}, "not opened"),
        (rearrange, "a .. -> a ..", {}, "ellipsis"),
        (rearrange, "a (b ...) -> a b ...", {}, "group on the left"),
        (rearrange, "a b c -> ...", {}, "only on the right"),
        (rearrange, "_a b c -> _a b c", {}, "underscore"),
        (rearrange, "a b& c -> a b& c", {}, "unknown character '&'"),
        (rearrange, "a b -> b a", {}, "3 dims"),
        (rearrange, "a (b d) c -> a b d c", {}, "not determined"),
        (rearrange, "a (b d) c -> a b d c", {"d": 4}, "4 does not divide 6"),
        (rearrange, "a b c -> a b c", {"a": 3}, "'a' is 2"),
        (rearrange, "a b c -> a b c", {"d": 3}, "d= is given"),
        (reduce, "a b c -> a d", {"reduction": "sum"}, "'d' is only on the right"),
        (reduce, "a b c -> a", {"reduction": "summ"}, "no reduction"),
        (repeat, "a b c -> a b c d", {}, "has no size"),
        (repeat, "a b c -> a b d", {"d": 2}, "'c' is only on the left"),
        (rearrange, "a... -> ...a", {}, "identifier: 'a...'"),
        (rearrange, "a... -> a...", {}, "write a space between a name and ..."),
        (rearrange, "a b ...c -> a b ...c", {}, "identifier: '...c'"),
    ],
)
def test_a_pattern_that_does_not_fit_is_an_einops_error(
    function: Any, pattern: str, options: dict[str, Any], words: str
) -> None:
    for _ in range(2):
        with pytest.raises(EinopsError, match=words) as raised:
            function(X, pattern, **options)
        assert isinstance(raised.value, RuntimeError)
        assert isinstance(raised.value, NameExprError)
        assert pattern in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "kind", "beginning"),
    [
        ((X, "a b c"), ValueError, "Einsum pattern"),
        (("a b c -> a", X), ValueError, "The last argument"),
        ((X,), ValueError, "`einops.einsum` takes"),
        ((), ValueError, "`einops.einsum` takes"),
        ((X, "a b () -> a"), NotImplementedError, "Singleton"),
        ((X, "a b 5 -> a"), NotImplementedError, "Anonymous axes"),
        ((X, "a b c -> (a b) c"), NotImplementedError, "Shape rearrangement"),
        ((X, "a b c -> d"), RuntimeError, "Unknown axis 'd'"),
        ((X, "a b 2c -> a"), RuntimeError, "Invalid axis identifier"),
        ((X, " ".join(f"x{one}" for one in range(53)) + "->"), RuntimeError, "Too many axes"),
        ((X, "a b -> a"), RuntimeError, "operand 0 has 3 dims"),
        ((X, X, "a b c, c b a -> a"), RuntimeError, "'.' is"),
    ],
)
def test_einsum_has_the_types_and_the_words_of_einops(
    arguments: tuple[Any, ...], kind: type[Exception], beginning: str
) -> None:
    with pytest.raises(kind, match=f"^{beginning}"):
        einsum(*arguments)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (pack, ([X], "a b")),
        (pack, ([], "a *")),
        (pack, ([[1, 2]], "a *")),
        (parse_shape, ("x", "a b")),
        (rearrange, ("x", "a -> a")),
        (rearrange, ("a b c -> a c b", X)),
        (reduce, (X, 3, "sum")),
        (pack, ([X], "a * *")),
        (pack, ([X], "a 1 *")),
        (pack, ([X, X[0, 0]], "a b *")),
        (unpack, (X, [(2, 2)], "a * c")),
        (unpack, (X, [(-1,), (-1,)], "a * c")),
        (unpack, (X, [(-1, 4)], "a * c")),
        (unpack, (X, [(7,), (-1,)], "a * c")),
        (unpack, (X, [(7,)], "a *")),
    ],
)
def test_what_cannot_be_packed_is_an_einops_error(function: Any, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(EinopsError):
        function(*arguments)


@pytest.mark.slow
def test_einops_need_not_be_installed() -> None:
    code = (
        "import sys; sys.modules['einops'] = None\n"
        "from nameexpr.compat.einops import EinopsError, rearrange\n"
        "assert EinopsError.__bases__[1] is RuntimeError, EinopsError.__bases__\n"
        "import numpy as np; print(rearrange(np.ones((2, 3)), 'a b -> (a b)').shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "(6,)\n", done.stderr
