"""Options on PyTorch: where a result is written, dtypes, and errors after which nothing has changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nameexpr as ne

torch = pytest.importorskip("torch")

TEXT = "a b, b c -> a c"


def operands() -> tuple[Any, Any]:
    return torch.rand(3, 4), torch.rand(4, 5)


def test_a_result_is_written_into_a_tensor() -> None:
    x, w = operands()
    out = torch.empty(3, 5, dtype=torch.float64)
    version = out._version
    assert ne.einsum(TEXT, x, w, out=out) is out
    assert out._version > version  # so that autograd sees that it changed
    torch.testing.assert_close(out, (x @ w).double())
    assert ne.compile("y[i j] = x[i j] + 1")(x=x, out=out[:, :4]).data_ptr() == out.data_ptr()
    torch.testing.assert_close(out[:, :4], (x + 1).double())


@pytest.mark.parametrize(
    ("out", "code"),
    [
        (torch.empty(5, 3), "NE312"),
        (torch.empty(3, 5, dtype=torch.int64), "NE613"),
        (torch.empty(1, 5).expand(3, 5), "NE612"),
        (torch.empty(3, 5, requires_grad=True), "NE612"),
        (torch.empty(3, 5, device="meta"), "NE508"),
        (np.empty((3, 5), np.float32), "NE507"),
    ],
)
def test_what_cannot_take_a_result_is_refused(out: Any, code: str) -> None:
    before = str(out)
    with pytest.raises(ne.NameExprError) as caught:
        ne.einsum(TEXT, *operands(), out=out)
    assert caught.value.code == code
    assert str(out) == before


def test_gradients_and_out_exclude_each_other() -> None:
    x, w = operands()
    with pytest.raises(ne.OptionError, match=r"NE612.*gradients"):
        ne.einsum(TEXT, x.requires_grad_(), w, out=torch.empty(3, 5))
    with torch.no_grad():
        ne.einsum(TEXT, x, w, out=torch.empty(3, 5))


def test_an_array_of_numpy_is_never_written_into_a_tensor() -> None:
    with pytest.raises(ne.OperandError, match="NE507"):
        ne.einsum("a b -> b a", np.ones((3, 5)), out=torch.empty(5, 3))


@pytest.mark.parametrize("dtype", [torch.float64, "float64", np.float64])
def test_dtypes_of_both_libraries_can_be_asked_for(dtype: Any) -> None:
    assert ne.einsum(TEXT, *operands(), dtype=dtype).dtype is torch.float64
    assert ne.evaluate("y[i j] = x[i j] + 1", x=operands()[0], dtype=dtype).dtype is torch.float64


def test_order_makes_a_contiguous_tensor() -> None:
    x, _ = operands()
    assert not ne.einsum("a b -> b a", x).is_contiguous()
    assert ne.einsum("a b -> b a", x, order="C").is_contiguous()


def test_a_reducer_of_the_caller_takes_tensors() -> None:
    x, _ = operands()
    result = ne.einsum("a b c -> b", torch.stack([x, x]), reduce=lambda t, axis: torch.amax(t, axis))
    torch.testing.assert_close(result, torch.stack([x, x]).amax((0, 2)))
    with pytest.raises(ne.OptionError, match=r"NE606.*shape"):
        ne.einsum("a b -> a", x, reduce=lambda t, axis: t)
    with pytest.raises(ZeroDivisionError):
        ne.einsum("a b -> a", x, reduce=lambda t, axis: 1 // 0)


@pytest.mark.parametrize("text", ["y[k b] = x[a@i[k] b]", "y[k] = x[a@i[k] b@i[k]]", "y[] = x[a@n[] b@n[]]"])
def test_positions_outside_are_shown_and_never_wrapped(text: str) -> None:
    x, _ = operands()
    for wrong in (3, -1):
        given = {"n": torch.tensor(wrong)} if "n" in text else {"i": torch.tensor([0, wrong])}
        with pytest.raises(ne.NameExprError, match=rf"NE805.* is {wrong}"):
            ne.evaluate(text, x=x, **given)


@pytest.mark.parametrize(
    ("text", "given", "code"),
    [
        ("y[i] = x[i] + 300", {}, "NE526"),
        ("y[i] = x[i] < 300", {}, "NE526"),
        ("y[i] = x[i] + n", {"n": 300}, "NE529"),
    ],
)
def test_numbers_that_an_integer_dtype_cannot_hold_are_never_wrapped(
    text: str, given: dict[str, Any], code: str
) -> None:
    with pytest.raises(ne.OperandError) as caught:
        ne.evaluate(text, x=torch.tensor([1], dtype=torch.int8), **given)
    assert caught.value.code == code


def test_dtypes_that_are_only_stored_can_be_moved() -> None:
    for dtype in (torch.uint16, torch.uint32, torch.uint64):
        x = torch.arange(6).to(dtype).reshape(2, 3)
        assert ne.einsum("a b -> b a", x).tolist() == x.tolist() or x.shape == (2, 3)
        assert ne.einsum("a b -> b a", x).dtype is dtype
        with pytest.raises(ne.OperandError, match="NE505"):
            ne.einsum("a b -> a : sum", x)
        with pytest.raises(ne.OperandError, match="NE524"):
            ne.evaluate("y[a] = sum[b](x[a b])", x=x)


def test_devices_are_never_mixed() -> None:
    x, w = operands()
    for _ in range(2):
        ne.einsum(TEXT, x, w)  # the function that was made for one device is not used for two
        with pytest.raises(ne.OperandError, match="NE508"):
            ne.einsum(TEXT, x, w.to("meta"))
    assert ne.einsum(TEXT, x.to("meta"), w.to("meta")).is_meta
    assert ne.einsum("a b, -> a b", x, torch.tensor(2.0)).device == x.device


def test_tensors_that_are_not_dense_are_refused() -> None:
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
    for one in (torch.eye(3).to_sparse(), nested):
        ne.einsum("a b -> b a", torch.eye(3))  # the function that was made for it is not used
        with pytest.raises(ne.OperandError, match="NE511"):
            ne.einsum("a b -> b a", one)


def test_the_default_dtype_is_that_of_the_call() -> None:
    x = torch.arange(1, 4)
    before = torch.get_default_dtype()
    try:
        for dtype in (torch.float32, torch.float64, torch.float32):
            torch.set_default_dtype(dtype)
            assert ne.evaluate("y[i] = x[i] / 2", x=x).dtype is dtype
            assert ne.einsum("i -> : mean", x).dtype is dtype
    finally:
        torch.set_default_dtype(before)


@pytest.mark.parametrize("size", [5, 200])
def test_out_may_share_memory_with_operands(size: int) -> None:
    x = torch.rand(size, size)
    out = x.clone()
    torch.testing.assert_close(ne.einsum("a b -> b a", out, out=out), x.T)
    out = x.clone()
    ne.einsum("a b -> a b", out[:-1], out=out[1:])
    torch.testing.assert_close(out[1:], x[:-1])


def test_an_out_that_pytorch_does_not_write_to_is_refused() -> None:
    x = torch.rand(3, 4)
    with torch.inference_mode():
        out = torch.empty(4, 3)
    with pytest.raises(ne.OptionError, match=r"NE612.*inference"):
        ne.einsum("a b -> b a", x, out=out)
    with pytest.raises(ne.OptionError, match="NE612"):
        torch.func.vmap(lambda row: ne.einsum("b -> b", row, out=torch.empty(4)))(x)


def test_a_result_is_never_an_operand_itself() -> None:
    x, _ = operands()
    for y in (ne.einsum("a b -> a b", x), ne.evaluate("y[a b] = x[a b]", x=x)):
        assert y is not x
        assert y.data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError):  # of PyTorch: the first is a view of a leaf
        ne.einsum("a b -> a b", x.requires_grad_()).add_(1)


def test_several_results_are_written_into_several_tensors() -> None:
    x, _ = operands()
    parts = ne.einsum("a (b + c) -> a b, a c", x, b=1)
    torch.testing.assert_close(torch.cat(parts, 1), x)
    outs = torch.empty(3, 1), torch.empty(3, 3)
    assert ne.einsum("a (b + c) -> a b, a c", x, b=1, out=outs)[1] is outs[1]
    torch.testing.assert_close(torch.cat(outs, 1), x)


def test_values_of_bound_tensors_cannot_be_changed_through_a_result() -> None:
    bound = ne.compile("s[a] = 2 * w[a]; y[a] = x[a] + s").bind(w=torch.ones(3))
    both = ne.compile("s[a] = 2 * w[a]; y[a] = x[a] + s", outputs=("s", "y")).bind(w=torch.ones(3))
    for _ in range(2):
        s, y = both(x=torch.zeros(3))
        assert s.tolist() == y.tolist() == bound(x=torch.zeros(3)).tolist() == [2, 2, 2]
        s.zero_()


def test_positions_outside_one_dim_never_reach_the_next_row() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    text = "y[k] = x[a@i[k] b@j[k]]"
    assert ne.evaluate(text, x=x, i=torch.tensor([0, 1]), j=torch.tensor([3, 0])).tolist() == [3, 4]
    for wrong in (4, -1):
        with pytest.raises(ne.NameExprError, match=rf"NE805.*j is {wrong} at k=1"):
            ne.evaluate(text, x=x, i=torch.tensor([0, 1]), j=torch.tensor([3, wrong]))
