"""The tape itself: what is recorded, `backward`, `grad`, hooks, `no_grad`, and what is refused."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.tensors.ops import RECORDED
from nameexpr.tensors.tape.versions import LOG
from nameexpr.tensors.writing import WATCHED

ARRAY = np.arange(1.0, 7).reshape(2, 3)


def leaf(array: Any = ARRAY, names: Any = "N C") -> Any:
    return ne.tensor(array, names=names, requires_grad=True)


def refuses(code: str, call: Any) -> str:
    with pytest.raises(ne.NameExprError, match=code) as caught:
        call()
    return str(caught.value)


def test_requires_grad_is_a_change_of_class() -> None:
    x = ne.tensor(ARRAY, names="N C")
    assert (x.requires_grad, x.is_leaf, x.grad, x.grad_fn) == (False, True, None, None)
    same = x.requires_grad_()
    assert same is x and x.requires_grad and x.is_leaf and isinstance(x, ne.NamedTensor)
    assert x._kernels is RECORDED and x.grad_fn is None
    x.requires_grad = False
    x.requires_grad = True
    assert x.requires_grad and x.is_leaf
    assert x.requires_grad_(False) is x and type(x) is ne.NamedTensor and not x.requires_grad


def test_factories_take_requires_grad() -> None:
    made = [
        ne.zeros(2, requires_grad=True),
        ne.ones(2, names="C", requires_grad=True),
        ne.full((2,), 1.5, requires_grad=True),
        ne.rand(2, requires_grad=True),
        ne.randn(2, requires_grad=True),
        ne.zeros_like(ne.ones(2), requires_grad=True),
        ne.randn_like(ne.ones(2), requires_grad=True),
        ne.tensor([1.0], requires_grad=True),
    ]
    assert all(each.requires_grad and each.is_leaf for each in made)
    assert not ne.zeros(2, requires_grad=False).requires_grad
    refuses("NE679", lambda: ne.tensor([1, 2], requires_grad=True))


def test_the_repr_shows_the_operator() -> None:
    x = leaf([1.0, 2.0], "C")
    assert repr(x) == "tensor([1., 2.], names=('C',), shape=(2,), requires_grad=True)"
    assert repr(x * 2) == "tensor([2., 4.], names=('C',), shape=(2,), grad_fn=<mul>)"
    assert repr((x * 2).sum()) == "tensor(6., grad_fn=<sum>)"
    assert f"{x.sum():.1f}" == "3.0" and float(x.sum()) == 3 and x.tolist() == [1, 2]


def test_gradients_add_up_until_they_are_forgotten() -> None:
    x = leaf([1.0, 2.0], "C")
    (x * x).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    assert x.grad is first and x.grad.tolist() == [4, 8]
    x.zero_grad()
    assert x.grad is None
    (3 * x).sum().backward()
    x.zero_grad(set_to_none=False)
    assert x.grad.tolist() == [0, 0]
    x.grad = None
    assert x.grad is None
    plain = ne.ones(2)
    plain.grad = None
    refuses("NE696", lambda: setattr(plain, "grad", plain))


def test_gradients_own_their_elements() -> None:
    x, y = leaf([1.0], "C"), leaf([2.0], "C")
    seed = ne.tensor([1.0], names="C")
    (x + y).backward(seed)
    x.grad += 1
    assert y.grad.tolist() == [1] and seed.tolist() == [1]


def test_a_tensor_may_be_used_several_times() -> None:
    x = leaf([2.0], None)
    y = x * x
    z = y * x + y
    z.sum().backward()
    assert x.grad.tolist() == [3 * 4 + 2 * 2]


def test_gradients_have_the_names_of_their_tensor() -> None:
    x = leaf()
    x.align_to("C", "N").flatten(["C", "N"], "M").rename(M="K").sum().backward()
    assert x.grad.names == ("N", "C")
    x.rename_(N="batch")
    assert x.grad.names == ("batch", "C")


def test_plain_operands_meet_recorded_ones() -> None:
    x, w = ne.tensor(ARRAY, names="N C"), leaf([1.0, 2.0, 3.0], "C")
    for result in (
        x + w,
        x.add(w),
        ne.add(x, w),
        ne.add(2, w),
        x.add(w, alpha=2),
        np.add(ARRAY, w),
        ARRAY * w,
        x @ w,
        x.mv(w),
        ne.where(x > 2, x, w),
        ne.where(condition=x > 2, x=w, y=x),
        x.where(x > 2, w),
        x.clamp(max=w),
        x.masked_fill(x > 2, w[0]),
        x.index_fill("C", [0], w[1]),
        ne.cat([x[0], w]),
        ne.stack([x[0], w]),
        x.maximum(w),
        2.0**w,
        x.by_name * w,
        x.tensordot(w, 1),
        ne.tensor([1.0, 2.0], names="N").addmv(x, w),
    ):
        assert result.requires_grad and not result.is_leaf, result
        w.grad = None
        result.sum().backward()
        assert w.grad is not None and w.grad.names == ("C",)
    assert type(x) is ne.NamedTensor


def test_products_are_written_over_a_plain_tensor() -> None:
    x, w = ne.ones(2, 2), leaf([[1.0, 2.0], [3.0, 4.0]], None)
    before = x
    x @= w
    x.sum().backward()
    assert x is before and w.grad.tolist() == [[2, 2], [2, 2]]


@pytest.mark.parametrize("is_recorded", [False, True])
def test_indices_and_masks_are_not_recorded(is_recorded: bool) -> None:
    x, w = ne.ones(2, 2, names="N C"), leaf([[0.0, 1.0], [1.0, 0.0]])
    x = x.requires_grad_() if is_recorded else x
    refuses("NE677", lambda: x.gather("C", w))
    refuses("NE677", lambda: x.index_select("C", w[0]))
    refuses("NE573", lambda: x.masked_select(w))
    refuses("NE683", lambda: x[w])


def test_comparisons_and_integers_are_not_recorded() -> None:
    x = leaf()
    for result in (x > 1, x == 1, x.isnan(), x.argmax("C"), x.long(), x.sort("C").indices, x.count_nonzero()):
        assert type(result) is ne.NamedTensor
    assert (x > 1).any() and x.equal(x) and x.shape == (2, 3) and len(x) == 2 and 3.0 in x


def test_no_grad_and_enable_grad() -> None:
    x = leaf()
    with ne.no_grad():
        assert not (x * 2).requires_grad and not x[0].requires_grad and not ne.is_grad_enabled()
        assert type(x + 1) is type(x.sum()) is type(x.exp()) is type(np.exp(x)) is ne.NamedTensor
        assert x.requires_grad and x.numpy() is x.data
        with ne.enable_grad():
            assert (x * 2).requires_grad
    assert ne.is_grad_enabled()

    @ne.no_grad()
    def halved(value: Any) -> Any:
        return value / 2

    assert not halved(x).requires_grad and (x / 2).requires_grad


def test_no_grad_is_for_one_thread() -> None:
    found = []
    with ne.no_grad():
        thread = threading.Thread(target=lambda: found.append(ne.is_grad_enabled()))
        thread.start()
        thread.join()
    assert found == [True]


def test_a_leaf_is_written_over_in_no_grad_only() -> None:
    x = leaf([1.0, 2.0], "C")
    (x * 3).sum().backward()
    with ne.no_grad():
        x -= 0.5 * x.grad
        x[0] = 7
        x.mul_(2)
    assert x.tolist() == [14, 1] and x.requires_grad and x.is_leaf
    assert "no_grad" in refuses("NE694", lambda: x.add_(1))
    refuses("NE694", lambda: x.__setitem__(0, 1))
    refuses("NE694", lambda: x.zero_())


def test_operators_in_place_are_recorded() -> None:
    x = leaf([1.0, 2.0], "C")
    y = x * 2
    same = y
    y *= x
    assert y is same and y.tolist() == [2, 8]
    y.exp_().sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp(2 * x.data**2) * 4 * x.data)


def test_items_that_are_written_over_have_no_gradient() -> None:
    x, v = leaf(), leaf([5.0, 6.0], "N")
    y = x * 1
    y[:, 0] = v * 2
    (y * y).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), 2 * ARRAY * [0, 1, 1])
    np.testing.assert_array_equal(v.grad.numpy(), 8 * v.data)


def test_of_equal_places_the_last_is_written() -> None:
    v = leaf([1.0, 2.0, 3.0], None)
    y = ne.zeros(2)
    y[[0, 1, 0]] = v
    assert y.tolist() == [3, 2] and y.requires_grad
    y.sum().backward()
    assert v.grad.tolist() == [0, 1, 1]


def test_a_recorded_value_makes_a_plain_tensor_recorded() -> None:
    w = leaf([1.0, 2.0], "C")
    for write in (
        lambda out: out.__setitem__(slice(None), w * 3),
        lambda out: out.copy_(w * 3),
        lambda out: out.add_(w * 3),
        lambda out: out.__iadd__(w * 3),
    ):
        out, w.grad = ne.zeros(2, names="C"), None
        write(out)
        assert out.requires_grad and out.tolist() == [3, 6]
        out.sum().backward()
        assert w.grad.tolist() == [3, 3]


def test_elements_that_are_shared_are_not_written_over() -> None:
    w = leaf([1.0, 2.0], "C")
    y = w * 2
    parts = [y[:1]]
    refuses("NE694", lambda: parts[0].add_(1))
    refuses("NE694", lambda: y.add_(1))
    refuses("NE694", lambda: y.rename("K").add_(1))
    parts.clear()
    gc.collect()
    y.add_(1)
    out = ne.zeros(2, 2, names="N C")
    rows = [out[0]]
    refuses("NE694", lambda: rows[0].copy_(w))
    refuses("NE694", lambda: out.__setitem__(0, w))
    rows.clear()
    gc.collect()
    out[0] = w
    assert out.requires_grad


def test_random_fills_cut_the_history() -> None:
    w = leaf([1.0, 2.0], "C")
    y = w * 2
    y.normal_()
    y.sum().backward()
    assert w.grad.tolist() == [0, 0]


def test_writes_to_saved_arrays_are_found() -> None:
    w, x = leaf([1.0, 2.0], "C"), ne.tensor([1.0, 2.0], names="C")
    y = w * x
    x[0] = 5
    told = refuses("NE693", lambda: y.sum().backward())
    assert "x[...] = value" in told and "mul" in told and "test_tape.py" in told
    y = w + x  # saves nothing
    x += 1
    y.sum().backward()
    y = w.exp()
    with ne.no_grad():
        y.data  # noqa: B018  reading is no write
        y.mul_(2)
    refuses("NE693", lambda: y.sum().backward())
    big = ne.ones(4)
    y = w * big[:2].rename("C")
    big[2:] = 7  # other elements of the same array
    y.sum().backward()


def test_writes_are_not_noted_without_nodes() -> None:
    gc.collect()
    before = set(LOG.alive)  # of tests that failed, and are kept for the report
    w = leaf([1.0, 2.0], "C")
    y = (w * w).sum()
    assert WATCHED and set(LOG.alive) > before
    y.backward()
    gc.collect()
    assert set(LOG.alive) <= before and bool(WATCHED) == bool(LOG.alive)
    y = w * w
    assert WATCHED and set(LOG.alive) > before


def test_a_second_pass_needs_the_first_to_retain() -> None:
    w = leaf([1.0, 2.0], "C")
    y = (w * w).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert w.grad.tolist() == [4, 8]
    assert "retain_graph" in refuses("NE696", lambda: y.backward())


def test_grad_of_leaves_grad_alone() -> None:
    w, v = leaf([1.0, 2.0], "C"), leaf([3.0, 4.0], "C")
    y = w * v
    z = (y * y).sum()
    by_w, by_y = ne.grad_of(z, [w, y], retain_graph=True)
    assert by_w.tolist() == [18, 64] and by_y.tolist() == [6, 16] and by_w.names == ("C",)
    assert w.grad is None and v.grad is None and type(by_w) is ne.NamedTensor
    assert ne.grad_of(z, w)[0].tolist() == [18, 64]
    assert ne.grad_of(w.sum(), [w, v], allow_unused=True)[1] is None
    refuses("NE696", lambda: ne.grad_of(w.sum(), [v]))


def test_backward_may_be_for_some_inputs() -> None:
    w, v = leaf([1.0], "C"), leaf([3.0], "C")
    (w * v).backward(inputs=[w])
    assert w.grad.tolist() == [3] and v.grad is None


def test_hooks_see_and_change_gradients() -> None:
    w, seen = leaf([1.0, 2.0], "C"), []
    y = w * 2
    handle = y.register_hook(lambda g: g * 10)
    w.register_hook(seen.append)
    y.sum().backward(retain_graph=True)
    assert w.grad.tolist() == [20, 20]
    assert seen[0].names == ("C",) and seen[0].tolist() == [20, 20]
    handle.remove()
    handle.remove()
    w.grad = None
    y.sum().backward()
    assert w.grad.tolist() == [2, 2]
    refuses("NE696", lambda: _hooked(ne.ones(3)))


def _hooked(value: Any) -> None:
    w = leaf([1.0, 2.0], "C")
    w.register_hook(lambda g: value)
    w.sum().backward()


def test_hooks_after_a_gradient_is_added() -> None:
    w, seen = leaf([1.0, 2.0], "C"), []
    w.register_post_accumulate_grad_hook(lambda tensor: seen.append((tensor is w, tensor.grad.tolist())))
    w.sum().backward()
    assert seen == [(True, [1, 1])]


def test_retain_grad_keeps_the_gradient_of_a_result() -> None:
    w = leaf([1.0, 2.0], "C")
    y = w * 2
    assert y.grad is None
    y.retain_grad()
    (y * y).sum().backward()
    assert y.retains_grad and y.grad.tolist() == [4, 8] and y.grad.names == ("C",)


def test_detach() -> None:
    w = leaf([1.0, 2.0], "C")
    y = w * 2
    alone = y.detach()
    assert type(alone) is ne.NamedTensor and np.shares_memory(alone.data, y.data)
    (y * alone).sum().backward()
    assert w.grad.tolist() == [4, 8]
    z = w * 2
    assert z.detach_() is z and type(z) is ne.NamedTensor


def test_dtypes_of_gradients_are_those_of_the_tensors() -> None:
    for dtype in ("float16", "float32", "float64", "complex64", "complex128"):
        x = ne.tensor(ARRAY.astype(dtype), names="N C", requires_grad=True)
        y = (x.sin() * x.double().exp() if dtype[0] == "f" else x * x).abs().sum()
        y.backward()
        assert x.grad.dtype == dtype
    w = ne.tensor([1.0], dtype="float32", requires_grad=True)
    (w * ne.tensor([1 + 1j])).abs().sum().backward()
    assert w.grad.dtype == "float32" and abs(w.grad.item() - 2**0.5) < 1e-6


def test_sums_of_narrow_floats_are_wide() -> None:
    x = ne.tensor(np.ones(1), dtype="float16", requires_grad=True)
    x.expand(5000).sum().backward()
    assert x.grad.item() == 5000


def test_copies_and_pickles_of_leaves() -> None:
    w = leaf()
    for other in (pickle.loads(pickle.dumps(w)), copy.deepcopy(w)):
        assert other.requires_grad and other.is_leaf and other.equal(w) and other.grad is None
    (w * w).sum().backward()
    for other in (pickle.loads(pickle.dumps(w)), copy.deepcopy(w)):
        assert other.grad.equal(w.grad) and other.grad.names == w.names
        (other * other).sum().backward()
        assert other.grad.equal(2 * w.grad)
    refuses("NE696", lambda: copy.deepcopy(w * 2))
    assert copy.copy(w).grad_fn is not None and ne.tensor(w * 2).requires_grad is False


def test_as_tensor_keeps_the_tape(tmp_path: Any) -> None:
    w = leaf()
    y = w * 2
    assert ne.as_tensor(y) is y
    narrow = ne.as_tensor(y, dtype="float32")
    assert narrow.requires_grad and narrow.dtype == "float32"
    ne.save(tmp_path / "w.npz", w)
    assert ne.load(tmp_path / "w.npz").tolist() == w.tolist()
    assert not ne.zeros_like(y).requires_grad and ne.zeros_like(y).names == ("N", "C")


def test_coordinates_survive() -> None:
    pandas = pytest.importorskip("pandas")
    x = ne.from_pandas(pandas.Series([1.5, 2.5], ["Oslo", "Rome"]), names="station").requires_grad_()
    y = x * 2
    assert list(y.coords["station"]) == ["Oslo", "Rome"] and y.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [2, 2] and list(x.grad.coords) == ["station"]
    assert x.isel(station=[1]).requires_grad and (x + x).sum("station").requires_grad
    plain = x.detach()
    for call in (
        lambda x: x.exp(),
        lambda x: -x.maximum(2),
        lambda x: x.add(x, alpha=2),
        lambda x: x.softmax("station"),
        lambda x: x.sum("station", keepdim=True),
        lambda x: x.cummax("station").values,
        lambda x: x.sort("station").values,
        lambda x: ne.ones(1, 2, names="K station") @ x,
        lambda x: x.by_name.exp(),
    ):
        assert repr(call(x).coords) == repr(call(plain).coords) and call(x).requires_grad


def test_by_name() -> None:
    x, v = leaf(), leaf([1.0, 2.0], "N")
    y = x.by_name * v
    assert y.names == ("N", "C") and y.requires_grad
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.array([[1.0] * 3, [2.0] * 3]))
    np.testing.assert_array_equal(v.grad.numpy(), ARRAY.sum(1))
    z = x.by_name @ v
    assert z.names == ("C",)
    np.testing.assert_array_equal(z.data, ARRAY.T @ [1, 2])


def test_arrays_do_not_leave_the_tape_unseen() -> None:
    x = leaf()
    refuses("NE695", lambda: x.numpy())
    refuses("NE695", lambda: np.asarray(x))
    refuses("NE695", lambda: np.from_dlpack(x))
    refuses("NE695", lambda: x.to_xarray())
    assert x.detach().numpy() is not None and np.shape(x) == (2, 3)


def test_numpys_functions_are_recorded_or_refused() -> None:
    x = leaf()
    for result in (
        np.exp(x),
        np.sum(x, axis="C"),
        np.mean(x),
        np.std(x, axis=1),
        np.maximum(x, 2),
        np.power(x, 2.0),
        np.concatenate([x, x]),
        np.where(x.detach() > 2, x, 0.0),
        np.transpose(x),
        np.max(x, axis="N"),
        np.matmul(x, np.ones(3)),
        np.clip(x, 1, 2),
        np.squeeze(x),
    ):
        assert result.requires_grad, result
    np.testing.assert_array_equal(np.std(x, axis=1).data, np.std(ARRAY, axis=1))
    assert not np.isfinite(x).requires_grad
    refuses("NE695", lambda: np.sinc(x))
    refuses("NE695", lambda: np.add.reduce(x))
    refuses("NE695", lambda: np.median(x))
    out = ne.zeros(2, 3, names="N C")
    refuses("NE694", lambda: np.add(x, 1, out=out))
    assert out.tolist() == [[0] * 3] * 2


ANSWERS = """coords cuda data data_ptr device dim dims draw dtype element_size get_device has_names
    is_contiguous is_cuda is_floating_point is_pinned is_shared is_signed is_sparse is_sparse_csr item
    itemsize names nbytes ndim ndimension nelement numel shape size sizes stride to_pandas to_xarray tolist
    variable is_complex"""
INHERITED = """T abs acos acosh add align_as align_to all amax amin any argmax argmin argsort asin asinh
    atan atan2 atanh bitwise_and bitwise_not bitwise_or bitwise_xor bmm bool byte ceil char chunk cos
    cosh count_nonzero cummax cummin cumprod cumsum deg2rad digamma div dot eq equal erf erfc erfinv exp
    exp2 expm1 flatten floor floor_divide frac ge gt hypot int isel isfinite isinf isnan kthvalue le log
    log10 log1p log2 log_softmax logical_and logical_not logical_or logical_xor logsumexp long lt mT
    matmul max maximum mean median min minimum mm mode movedim mul mv nanmean nanmedian nanquantile
    nanstd nansum nanvar narrow ne neg norm permute positive pow prod quantile rad2deg reciprocal relu
    remainder rsqrt select sgn short sigmoid sign sin sinh softmax sqrt square std sub sum swapaxes t
    tan tanh transpose trunc unbind unflatten var where"""
"""Methods of plain tensors, whose results come from what the tape overrides, or are bools and integers."""


def test_every_method_is_recorded_or_an_answer() -> None:
    """A method that is left out would give plain results, and lose gradients without an error."""
    x = ne.ones(1)
    kind = type(leaf())
    tape = [each for each in kind.__mro__ if each is kind or "tape" in each.__module__]
    own = {name for each in tape for name in vars(each)}
    public = {name for name in dir(x) if not name.startswith("_")}
    assert public - own == {*ANSWERS.split(), *INHERITED.split()}


CUT = """argmax argmin argsort bernoulli copy_ data detach detach_ fill_ grad normal_ requires_grad_ uniform_
    zero_ random_ log_normal_ exponential_ cauchy_ numpy"""
"""Methods whose results do not depend on the elements, or are constants on purpose."""
REFUSED = {"resize_", "resize_as_"}
ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    *((), (0,), (1,), (0, 0), (0, -1), (0.5,), (0, 0, 1), (1, -1), (ne.ones(()),), ([True],), (0, [0])),
    *((0, [0], 2.0), (ne.tensor(True), 2.0), (ne.ones(3),), (ne.ones(3, 2),), ("C",), ("N", "C")),
    (0, ne.tensor([[0]])),
)


def floats(value: Any) -> list[Any]:
    parts = list(value) if isinstance(value, tuple | list) else [value]
    return [part for part in parts if isinstance(part, ne.NamedTensor) and part.is_floating_point()]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", [(), (2, 3)], ids=str)
def test_no_call_loses_the_gradient(shape: tuple[int, ...]) -> None:
    names = ("N", "C")[: len(shape)] or None
    plain = ne.tensor(np.linspace(0.1, 0.9, int(np.prod(shape))).reshape(shape), names=names)
    checked, lost = 0, []
    for name in sorted({each for each in dir(plain) if not each.startswith("_")} - set(CUT.split())):
        for args in ARGUMENTS:
            x, y = plain.clone(), plain.clone().requires_grad_() * 1
            try:
                own = getattr(x, name)
                own = floats(own(*args) if callable(own) else own)
            except Exception:  # noqa: BLE001  most arguments are not for most methods
                continue
            if own and name not in REFUSED:
                found = getattr(y, name)
                found = floats(found(*args) if callable(found) else found)
                checked += len(own)
                lost += [(name, args)] * (not all(each.requires_grad for each in found))
    assert not lost
    assert checked > 300
