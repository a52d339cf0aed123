"""Expressions that move values into the parts of a result, or parts into several results."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

RNG = np.random.default_rng(15)
OBJECTS = [
    np.arange(6, dtype="int8"),
    np.arange(6, dtype=">f4"),
    np.arange(6).astype("complex64"),
    np.arange(6) > 2,
    np.array(["a", "bc", "d", "e", "f", "g"]),
    np.arange(6).astype("datetime64[D]"),
    np.array([1, None, "x", 2.5, (), []], dtype=object),
]


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape)


def check(got: Any, want: Any) -> None:
    assert got.dtype == want.dtype and got.shape == want.shape
    assert got.tolist() == want.tolist()


def test_each_operand_is_a_block_of_the_result() -> None:
    x, z = normal(2, 3), normal(2, 4)
    whole = np.array([[*left, *right] for left, right in zip(x, z, strict=True)])
    check(ne.einsum("N a, N b -> N (a + b)", x, z), whole)
    check(ne.einsum("N a, N b -> (a + b) N", x, z), whole.T)
    check(ne.einsum("N b, N a -> N (b + a)", x, z), whole)
    check(ne.einsum("a N, N b -> N (a + b)", x.T, z), whole)


def test_blocks_of_several_dims_are_written_row_by_row() -> None:
    blocks = [[normal(2, 3), normal(2, 1)], [normal(4, 3), normal(4, 1)]]
    want = np.array(
        [[cell for block in row for cell in block[i]] for row in blocks for i in range(len(row[0]))]
    )
    check(ne.einsum("a c, a d, b c, b d -> (a + b) (c + d)", *blocks[0], *blocks[1]), want)


def test_numbers_are_zeros_and_dims_that_lack_are_repeated() -> None:
    x = normal(2, 3)
    want = np.zeros((2, 6))
    for n, h in product(range(2), range(3)):
        want[n, 2 + h] = x[n, h]
    check(ne.einsum("N H -> N (2 + H + 1)", x), want)
    check(ne.einsum("D, B P D -> B (1 + P) D", x[0], x[None]), np.array([[x[0], *x]]))
    check(ne.einsum("... a, ... b -> ... (a + b)", x, x[:1]), np.array([[*row, *x[0]] for row in x]))


@pytest.mark.parametrize("array", OBJECTS)
@pytest.mark.parametrize("step", [1, -1, 2])
def test_each_result_is_a_view_of_its_part(array: Any, step: int) -> None:
    x = array[::step]
    left, right = ne.einsum("(a=1 + b) -> a, b", x)
    check(left, x[:1])
    check(right, x[1:])
    assert np.shares_memory(left, x) and np.shares_memory(right, x)


def test_every_block_can_be_a_result() -> None:
    x = normal(5, 4)
    results = ne.einsum("(a=2 + b) (c=1 + d) -> a c, d a, b c, d b", x)
    for got, want in zip(results, (x[:2, :1], x[:2, 1:].T, x[2:, :1], x[2:, 1:].T), strict=True):
        check(got, want)
        assert np.shares_memory(got, x)


def test_parts_with_the_same_labels_are_taken_in_order() -> None:
    x = normal(3, 4)
    left, right = ne.einsum("N (b + b) -> N b, b N", x)
    check(left, x[:, :2])
    check(right, x[:, 2:].T)


def test_a_part_that_is_in_two_results_is_copied_once() -> None:
    x = normal(3)
    left, right, again = ne.einsum("(a=1 + b) -> a, b, b", x)
    assert np.shares_memory(left, x) and np.shares_memory(right, x) and not np.shares_memory(again, x)
    check(again, x[1:])


def test_parts_are_products_and_numbers_are_skipped() -> None:
    x = normal(2, 9)
    left, right = ne.einsum("N (1 + h w + T) -> w h N, N T", x, h=2, w=3)
    check(left, np.array([[[x[n, 1 + 3 * h + w] for n in range(2)] for h in range(2)] for w in range(3)]))
    check(right, x[:, 7:])


@pytest.mark.parametrize("sizes", [(0, 0), (0, 3), (2, 0), (1, 1), (2, 3)])
def test_parts_may_be_empty_and_splitting_undoes_joining(sizes: tuple[int, int]) -> None:
    x, z = normal(2, sizes[0]), normal(2, sizes[1])
    left, right = ne.einsum("N (a + b) -> N a, N b", ne.einsum("N a, N b -> N (a + b)", x, z), a=sizes[0])
    check(left, x)
    check(right, z)


@pytest.mark.parametrize("left", OBJECTS)
@pytest.mark.parametrize("right", OBJECTS)
def test_the_dtype_holds_all_operands(left: Any, right: Any) -> None:
    try:
        want = np.array([*left, *right], np.result_type(left, right))
    except TypeError:
        with pytest.raises(ne.OperandError, match="NE505"):
            ne.einsum("a, b -> (a + b)", left, right)
    else:
        check(ne.einsum("a, b -> (a + b)", left, right), want.astype(want.dtype.newbyteorder("=")))


def test_options() -> None:
    x, z = np.arange(2, dtype=">i2"), np.arange(3, dtype="int8")
    check(ne.einsum("a, b -> (a + b)", x, z, dtype="float32"), np.array([0, 1, 0, 1, 2], "f4"))
    left, right = ne.einsum("(a=1 + b) -> a, b", x, dtype="float32", order="C")
    check(left, np.array([0], "f4"))
    check(right, np.array([1], "f4"))
    with pytest.raises(ne.LimitError, match="NE709"):
        ne.einsum("a, b -> (a + b)", x, z, memory_limit=9)
    check(ne.einsum("a, b -> (a + b)", z, z, memory_limit=6), np.array([0, 1, 2, 0, 1, 2], "int8"))


def test_results_are_written_into_a_tuple() -> None:
    x = np.arange(14.0).reshape(2, 7)
    out = np.zeros((3, 2)), np.zeros((2, 4))
    got = ne.einsum("N (a=3 + b) -> a N, N b", x, out=out)
    assert got[0] is out[0] and got[1] is out[1]
    check(out[0], x[:, :3].T)
    same = x.copy()
    ne.einsum("N (a=3 + b) -> N b, N a", same, out=(same[:, :4], same[:, 4:]))
    check(same, np.concatenate([x[:, 3:], x[:, :3]], 1))
    before = x.copy()
    for wrong in (out[0], out[:1], (out[0], out[0]), (np.zeros((3, 2), int), out[1])):
        with pytest.raises(ne.NameExprError):
            ne.einsum("N (a=3 + b) -> a N, N b", before, out=wrong)


def test_results_have_their_names() -> None:
    x = ne.tensor(normal(2, 3), names="N F")
    left, right = ne.einsum("N (a=1 + b) -> b=a N, N b", x)
    assert left.names == ("b", "N") and right.names == ("N", "b")
    assert ne.einsum("N a, N b -> N features=(a + b)", x.rename("N a"), x.rename("N b")).names == (
        "N",
        "features",
    )
    assert ne.einsum("-> N (a + b)", x.rename("N a"), x.rename("N b")).names == ("N", None)
    with pytest.raises(ne.DimNameError):
        ne.einsum("N (a=1 + b) -> a N, N b", x.rename("M F"))


def test_compiled_expressions() -> None:
    x, z = normal(2, 3), normal(2, 4)
    join, split = ne.compile("N a, N b -> N (a + b)"), ne.compile("N (a=3 + b) -> N a, N b")
    whole = np.concatenate([x, z], 1)
    check(join.bind({0: x})(z), whole)
    check(join.bind({0: x, 1: z})(), whole)
    for got, want in zip(split(whole), (x, z), strict=True):
        check(got, want)
    for got, want in zip(split.bind({0: whole})(), (x, z), strict=True):
        check(got, want)
        assert got.flags.writeable and not np.shares_memory(got, whole)
    assert [step.what for step in join.plan(x, z).steps] == ["concatenate"]
    assert join.plan(x, z).peak_bytes == whole.nbytes and split.plan(whole).peak_bytes == 0
    assert "concatenation" in join.plan(x, z).mermaid()
    assert split.signature.result == "N a, N b"
    names: dict[str, Any] = {}
    exec(split.code, names)
    check(names["compute"](whole)[1], z)


def test_a_check_answers_the_sizes_of_parts() -> None:
    assert ne.check("(a + b) c", np.ones((5, 2)), a=1) == {"a": 1, "b": 4, "c": 2}
    assert ne.check("(1 + a b + 1), b", np.ones(8), np.ones(2)) == {"a": 3, "b": 2}
    with pytest.raises(ne.SizeError, match="NE314"):
        ne.check("(a + b)", np.ones(5), a=1, b=3)


def test_a_limit_counts_the_bytes_of_text() -> None:
    names = np.array(["a" * 100] * 10)
    assert ne.compile("a, b -> (a + b)").plan(names, names[:5]).peak_bytes == 15 * names.itemsize
    with pytest.raises(ne.LimitError, match="NE709"):
        ne.einsum("a, b -> (a + b)", names, names[:5], memory_limit=1000)
