"""NamedTensors around tensors of PyTorch: memory, gradients, devices, mixtures, PyTorch functions."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.errors import NameExprError

torch = pytest.importorskip("torch")


def made(*sizes: int, names: Any = None, **options: Any) -> Any:
    generator = torch.Generator().manual_seed(7)
    return ne.tensor(torch.randn(*sizes, generator=generator, dtype=torch.float64, **options), names=names)


def code_of(call: Callable[[], Any]) -> str:
    with pytest.raises(NameExprError) as caught:
        call()
    return caught.value.code


def test_a_tensor_shares_the_memory_of_its_tensor() -> None:
    data = torch.zeros(2, 3)
    x = ne.tensor(data, names="N C")
    assert x.tensor is data and x.data is data and isinstance(x, ne.NamedTensor)
    x[0, 0] = 5
    x.add_(1)
    assert data.tolist() == [[6, 1, 1], [1, 1, 1]]
    assert ne.as_tensor(data, names="N C").tensor is data
    assert ne.as_tensor(x) is x


def test_a_parameter_stays_one() -> None:
    module = torch.nn.Linear(3, 2)
    weight = ne.tensor(module.weight, names="out in")
    assert weight.tensor is module.weight and weight.requires_grad
    module.load_state_dict({"weight": torch.ones(2, 3), "bias": torch.zeros(2)})
    assert weight.tolist() == [[1.0] * 3] * 2
    (weight * 2).sum().backward()
    assert weight.grad.names == ("out", "in") and weight.grad.tolist() == [[2.0] * 3] * 2
    assert module.weight.grad.tolist() == [[2.0] * 3] * 2


def test_the_repr_shows_dtype_and_device() -> None:
    x = ne.tensor(torch.ones(2, dtype=torch.bfloat16), names="N")
    assert repr(x).split() == (
        ["tensor([1.,", "1.],", "names=('N',),", "shape=(2,),", "dtype=torch.bfloat16,", "device='cpu')"]
    )
    assert "..." in repr(x.to("meta")) and "device='meta'" in repr(x.to("meta"))
    shown = repr(ne.tensor(torch.arange(3000.0), names="N")).split()
    wanted = "tensor([0.000e+00, 1.000e+00, 2.000e+00, ..., 2.997e+03, 2.998e+03, 2.999e+03],"
    wanted += " names=('N',), shape=(3000,), dtype=torch.float32, device='cpu')"
    assert shown == wanted.split()
    assert "requires_grad=True" in repr(made(2, requires_grad=True))
    assert "grad_fn=<MulBackward0>" in repr(made(2, requires_grad=True) * 2)


def test_gradients_have_the_names() -> None:
    x = made(2, 3, names="N C", requires_grad=True)
    loss = (x * x).sum()
    assert loss.grad_fn is not None and not loss.is_leaf and x.is_leaf
    loss.backward()
    assert x.grad.names == ("N", "C")
    assert torch.equal(x.grad.tensor, 2 * x.tensor)
    x.grad = None
    assert x.grad is None and x.tensor.grad is None
    x.sum("C").backward(ne.tensor(torch.tensor([1.0, 2.0], dtype=torch.float64), names="N"))
    assert x.grad.tolist() == [[1.0] * 3, [2.0] * 3]
    assert code_of(lambda: x.sum("C").backward(made(2, names="C"))) == "NE472"
    assert code_of(lambda: x.sum("C").backward()) == "NE581"


def test_hooks_get_tensors_with_names() -> None:
    x, seen = made(2, 3, names="N C", requires_grad=True), []

    def hook(grad: Any) -> Any:
        seen.append(grad.names)
        return grad * 10

    x.register_hook(hook)
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.names))
    x.sum().backward()
    assert seen == [("N", "C")] * 2 and x.grad.tolist() == [[10.0] * 3] * 2


def test_a_detached_tensor_is_outside_of_the_graph() -> None:
    x = made(2, names="N", requires_grad=True)
    y = x.detach()
    assert not y.requires_grad and y.names == ("N",) and y.data_ptr() == x.data_ptr()
    assert not (x * 1).detach_().requires_grad
    assert x.requires_grad_(False) is x and not x.requires_grad


def test_writing_counts_as_a_change() -> None:
    x = made(3, names="N", requires_grad=True)
    y = x * 1
    squares = y * y
    y.add_(1)
    assert code_of(squares.sum().backward) == "NE581"
    assert code_of(lambda: x.add_(1)) == "NE581"
    y = made(3, names="N")
    version = y.tensor._version
    for write in (
        lambda: y.mul_(2),
        lambda: y.exp_(),
        lambda: y.fill_(1),
        lambda: y.copy_(y),
        lambda: y.normal_(),
    ):
        write()
        assert y.tensor._version > version
        version = y.tensor._version


@pytest.mark.parametrize(
    "call",
    [
        lambda x, a: x + a,
        lambda x, a: a + x,
        lambda x, a: x.add_(a),
        lambda x, a: x.maximum(a),
        lambda x, a: x @ a.T,
        lambda x, a: x.where(x > 0, a),
        lambda x, a: ne.cat([x, a]),
        lambda x, a: ne.tensor(a) + x,
        lambda x, a: ne.tensor(a).add_(x),
        lambda x, a: ne.add(a, x, out=ne.tensor(a)),
        lambda x, a: x.add(1, out=ne.tensor(a)),
        lambda x, a: np.add(a, x),
        lambda x, a: np.sum(x),
        lambda x, a: ne.einsum("N C, N C -> N", x, a),
        lambda x, a: x < a,
        lambda x, a: x.copy_(a),
        lambda x, a: ne.tensor(a)[x > 0],
    ],
)
def test_libraries_are_not_mixed(call: Callable[[Any, Any], Any]) -> None:
    x, array = made(2, 3, names="N C"), np.ones((2, 3))
    assert code_of(lambda: call(x, array)) == "NE507"
    assert array.tolist() == [[1.0] * 3] * 2


def test_numbers_lists_and_scalars_of_numpy_are_neutral() -> None:
    x = ne.tensor(torch.ones(2, dtype=torch.float32), names="N")
    for result in (x * np.float64(2), np.float64(2) * x, 2.0 * x, x * 2, x * [2.0, 2.0], [2.0, 2.0] * x):
        assert result.dtype == torch.float32 and result.names == ("N",) and result.tolist() == [2.0, 2.0]
    assert ne.maximum([0, 3], ne.tensor(torch.tensor([1, 2]), names="N")).tolist() == [1, 3]


def test_a_result_of_another_kind_is_not_written() -> None:
    x = ne.tensor(torch.ones(2, dtype=torch.int64), names="N")
    for call in (
        lambda: x.add_(0.5),
        lambda: x.mul_(ne.tensor(torch.ones(2), names="N")),
        lambda: x.mul_(1j),
    ):
        assert code_of(call) == "NE570"
    assert x.tolist() == [1, 1]
    assert "backward" in dir(x) and "reshape" not in dir(x)


def test_devices_are_not_mixed() -> None:
    x = made(2, names="N")
    assert x.device == torch.device("cpu") and x.to("meta").device.type == "meta"
    assert x.to("cpu") is x and x.cpu() is x and x.get_device() == -1
    assert code_of(lambda: x + x.to("meta")) == "NE508"
    assert code_of(x.to("meta").tolist) == "NE509"


def test_layouts_without_a_grid_are_refused() -> None:
    assert code_of(lambda: ne.tensor(torch.eye(2).to_sparse())) == "NE511"
    assert code_of(lambda: ne.zeros(2, 2, dtype=torch.float32, layout=torch.sparse_coo)) == "NE511"


def test_factories_follow_their_dtype_and_device() -> None:
    for x in (
        ne.zeros(2, 3, names="N C", dtype=torch.float16),
        ne.full((2, 3), 1.5, names="N C", dtype=torch.float16),
        ne.rand(2, 3, names="N C", dtype=torch.float16, device=torch.device("cpu")),
        ne.tensor([[1, 2, 3]] * 2, names="N C", dtype=torch.float16),
        ne.arange(6, dtype=torch.float16).unflatten(0, (2, 3)).rename("N", "C"),
        ne.zeros_like(made(2, 3, names="N C"), dtype="float16"),
        ne.randn_like(made(2, 3, names="N C"), dtype=torch.float16),
    ):
        assert (x.dtype, x.names, x.shape) == (torch.float16, ("N", "C"), (2, 3))
    assert type(ne.zeros(2)) is ne.NamedTensor
    assert ne.zeros(2, dtype=torch.float32, requires_grad=True).requires_grad
    assert code_of(lambda: ne.zeros(2, dtype=torch.float32, wrong=1)) == "NE681"


def test_random_numbers_are_those_of_pytorch() -> None:
    drawn = []
    for _ in range(2):
        torch.manual_seed(3)
        x = ne.zeros(4, names="N", dtype=torch.float64)
        drawn.append(
            [x.normal_().tolist(), ne.rand(2, dtype=torch.float64).tolist(), x.bernoulli(0.5).tolist()]
        )
    assert drawn[0] == drawn[1]
    torch.manual_seed(3)
    assert drawn[0][0] == torch.zeros(4, dtype=torch.float64).normal_().tolist()
    generator = torch.Generator().manual_seed(1)
    assert ne.randn(2, dtype=torch.float32, generator=generator).tolist() == (
        torch.randn(2, generator=generator.manual_seed(1)).tolist()
    )


def test_tensors_are_pickled_and_copied() -> None:
    x = made(2, 3, names="N C")
    for other in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x), x.clone()):
        assert type(other) is type(x) and other.names == x.names and other.equal(x)
        assert other.data_ptr() != x.data_ptr()


def test_functions_of_pytorch_keep_names() -> None:
    x = made(2, 3, names="N C")
    tensor = torch.ones(3, dtype=torch.float64)
    for result, wanted in (
        (torch.sum(x, 1), x.sum("C")),
        (torch.nn.functional.softmax(x, dim="C"), x.softmax("C")),
        (torch.add(x, 1), x + 1),
        (tensor * x, x * 1),
        (tensor - x, 1 - x),
        (torch.cat([x, x], 1), ne.cat([x, x], "C")),
        (torch.where(x > 0, x, 0.0), ne.where(x > 0, x, 0.0)),
    ):
        assert result.names == wanted.names and torch.allclose(result.tensor, wanted.tensor)
    assert code_of(lambda: torch.fft.fft(x)) == "NE658"
    leaf = made(2, 3, names="N C", requires_grad=True)
    (grad,) = torch.autograd.grad((leaf * leaf).sum(), [leaf])
    assert grad.names == ("N", "C") and torch.equal(grad.tensor, 2 * leaf.tensor)


def test_texts_give_tensors_with_names() -> None:
    x, w = made(2, 3, names="N C", requires_grad=True), made(3, 4, names="C K")
    y = ne.einsum("N C, C K -> N K", x, w)
    assert type(y) is type(x) and y.names == ("N", "K") and torch.allclose(y.tensor, x.tensor @ w.tensor)
    y.sum().backward()
    assert torch.allclose(x.grad.tensor, w.tensor.sum(1).expand(2, 3))


def test_pairing_by_name_computes_on_the_library() -> None:
    x, y = made(2, 3, names="N C"), made(3, 2, names="C N")
    result = x.by_name + y
    assert result.names == ("N", "C") and torch.equal(result.tensor, x.tensor + y.tensor.T)
    assert type(result.by_position) is type(x)
    assert torch.allclose((x.by_name @ y).tensor, (x.tensor * y.tensor.T).sum())


def test_arrays_of_numpy_are_an_explicit_wish() -> None:
    x = made(2, 3, names="N C")
    assert np.shares_memory(x.numpy(), x.tensor.numpy()) and np.asarray(x).shape == (2, 3)
    assert code_of(lambda: made(2, requires_grad=True).numpy()) == "NE581"
    assert made(2, requires_grad=True).numpy(force=True).shape == (2,)
