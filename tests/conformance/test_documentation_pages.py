"""The examples of PyTorch's three pages about named tensors, as assertions: one test for each section.

The pages are "Named Tensors operator coverage", "Broadcasting semantics" and "Named Tensors". Where the page
and PyTorch's code disagree, a comment says which one holds here. The reference at the end of the last page
is in test_documentation_reference.py.
"""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne

# The page "Named Tensors operator coverage".


def test_keeps_input_names() -> None:
    x = ne.randn(3, 3, names=("N", "C"))
    assert x.abs().names == ("N", "C")


def test_removes_dimensions() -> None:
    x = ne.randn(1, 3, 3, 3, names=("N", "C", "H", "W"))
    assert x.squeeze("N").names == ("C", "H", "W")
    x = ne.randn(3, 3, 3, 3, names=("N", "C", "H", "W"))
    assert x.sum(["N", "C"]).names == ("H", "W")
    assert x.sum(["N", "C"], keepdim=True).names == ("N", "C", "H", "W")
    assert x.sum(["N", "C"], keepdim=True).shape == (1, 1, 3, 3)
    assert x.sum("N").equal(x.sum(0)) and x.sum(["N", "C"]).equal(x.sum([0, 1]))
    assert x.select("C", 1).names == ("N", "H", "W")
    for refused in (lambda: x.sum("Q"), lambda: x.sum(["N", "Q"])):
        with pytest.raises(RuntimeError, match="'Q'"):
            refused()


def test_unifies_names_from_inputs() -> None:
    tensor = ne.randn(3, 3, names=("N", None))
    other = ne.randn(3, 3, names=(None, "C"))
    assert (tensor + other).names == ("N", "C")

    tensor = ne.randn(3, 3, names=("N", "C"))
    other = ne.randn(3, names=("N",))
    with pytest.raises(RuntimeError, match="'C' in the left tensor meets dim 'N' in the right"):
        tensor + other

    tensor = ne.randn(3, 3, names=("N", None))
    with pytest.raises(RuntimeError, match="'N' is at different positions from the right"):
        tensor + other


def test_the_note_that_both_can_be_aligned_by_name_first() -> None:
    other = ne.randn(3, names=("N",))
    tensor = ne.randn(3, 3, names=("N", "C"))
    total = tensor + other.align_as(tensor)
    assert total.names == ("N", "C")
    np.testing.assert_array_equal(total.numpy(), tensor.numpy() + other.numpy()[:, None])
    refined = ne.randn(3, 3, names=("N", None)).refine_names("N", "C")
    assert (refined + other.align_to("N", "C")).names == ("N", "C")


def test_permutes_dimensions() -> None:
    x = ne.randn(3, 3, names=("N", "C"))
    assert x.transpose("N", "C").names == ("C", "N")
    assert x.t().names == ("C", "N")
    assert x.transpose("N", "C").equal(x.transpose(0, 1))
    with pytest.raises(RuntimeError, match="'Q'"):
        x.transpose("N", "Q")


def test_contracts_away_dims_of_mm() -> None:
    x = ne.randn(3, 3, names=("N", "D"))
    y = ne.randn(3, 3, names=("in", "out"))
    assert x.mm(y).names == ("N", "out")


def test_contracts_away_dims_of_mv_and_dot() -> None:
    x = ne.randn(3, 3, names=("N", "D"))
    y = ne.randn(3, names=("something",))
    assert x.mv(y).names == ("N",)
    assert y.dot(ne.randn(3, names=("other",))).names == ()


def test_contracts_away_dims_of_matmul() -> None:
    x = ne.randn(3, 3, 3, 3, names=("A", "B", "C", "D"))
    y = ne.randn(3, 3, 3, names=("B", "E", "F"))
    product = ne.matmul(x, y)
    assert product.names == ("A", "B", "C", "F")
    np.testing.assert_allclose(product.numpy(), np.matmul(x.numpy(), y.numpy()))
    with pytest.raises(RuntimeError, match="'B'"):
        ne.matmul(x, y.rename(B="batch"))


def test_contracts_away_dims_of_the_fused_additions() -> None:
    x = ne.randn(3, 3, names=("N", "D"))
    y = ne.randn(3, 3, names=("in", "out"))
    assert ne.addmm(ne.zeros(3, 3), x, y).names == ("N", "out")
    assert ne.addmm(ne.zeros(3, names=("out",)), x, y).names == ("N", "out")
    assert ne.addmv(ne.zeros(3, names=("N",)), x, ne.zeros(3, names=("in",))).names == ("N",)
    with pytest.raises(RuntimeError, match="'out'"):
        ne.addmm(ne.zeros(3, names=("in",)), x, y)


def test_factory_functions() -> None:
    x = ne.zeros(2, 3, names=("N", "C"))
    assert x.names == ("N", "C")
    assert x.tolist() == [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    for make in (ne.empty, ne.ones, ne.rand, ne.randn, ne.zeros):
        made = make(2, 3, names=("N", "C"))
        assert made.names == ("N", "C") and made.shape == (2, 3)
    assert ne.tensor([[1, 2]], names=("N", "C")).names == ("N", "C")
    assert ne.empty_like(x).names == ("N", "C")


def test_out_function_and_in_place_variants() -> None:
    x = ne.randn(3, 3)
    y = ne.randn(3, 3, names=("N", "C"))
    assert x.names == (None, None)
    total = x.numpy() + y.numpy()
    same = x
    x += y
    assert x is same and x.names == ("N", "C")
    np.testing.assert_array_equal(x.numpy(), total)

    out = ne.empty(3, 3)
    assert ne.abs(y, out=out).names == out.names == ("N", "C")
    assert ne.abs(y, out=out) is out
    for names in (("N", None), ("C", "N"), ("N", "D")):
        with pytest.raises(RuntimeError):
            ne.abs(y, out=ne.empty(3, 3, names=names))


# The page "Broadcasting semantics".


@pytest.mark.parametrize(
    ("left", "right", "size"),
    [
        ((5, 7, 3), (5, 7, 3), (5, 7, 3)),
        ((5, 3, 4, 1), (3, 1, 1), (5, 3, 4, 1)),
        ((5, 1, 4, 1), (3, 1, 1), (5, 3, 4, 1)),
        ((1,), (3, 1, 7), (3, 1, 7)),
        ((4, 1), (4,), (4, 4)),  # under "Backwards compatibility"
    ],
)
def test_general_semantics(left: tuple[int, ...], right: tuple[int, ...], size: tuple[int, ...]) -> None:
    assert (ne.empty(left) + ne.empty(right)).size() == size
    assert ne.add(ne.ones(right), ne.ones(left)).size() == size


@pytest.mark.parametrize(
    ("left", "right", "sizes"),
    [((0,), (2, 2), "0.*2"), ((5, 2, 4, 1), (3, 1, 1), "2.*3")],
)
def test_what_is_not_broadcastable(left: tuple[int, ...], right: tuple[int, ...], sizes: str) -> None:
    with pytest.raises(ne.SizeError, match=sizes):
        ne.zeros(left) + ne.zeros(right)


def test_a_tensor_without_dims_is_broadcast_as_pytorch_does_and_its_page_does_not() -> None:
    assert (ne.tensor(1.0) + ne.zeros(2, names="N")).names == ("N",)


def test_in_place_semantics() -> None:
    x = ne.zeros(5, 3, 4, 1)
    assert x.add_(ne.ones(3, 1, 1)).size() == (5, 3, 4, 1)
    assert x.numpy().all()
    x = ne.zeros(1, 3, 1)
    with pytest.raises(ne.SizeError, match=r"\(3, 3, 7\).*\(1, 3, 1\)"):
        x.add_(ne.ones(3, 1, 7))
    assert x.shape == (1, 3, 1) and not x.numpy().any()


# The page "Named Tensors".


def test_creating_named_tensors() -> None:
    x = ne.zeros(2, 3, names=("N", "C"))
    assert x.names[0] == "N" and x.names[1] == "C"
    assert x.size("N") == 2 and x.size("C") == 3


def test_named_dimensions() -> None:
    imgs = ne.randn(1, 2, 2, 3, names=("N", "C", "H", "W"))
    assert imgs.names == ("N", "C", "H", "W")
    assert imgs.rename(H="height", W="width").names == ("N", "C", "height", "width")
    imgs = ne.randn(1, 2, 2, 3, names=(None, "C", "H", "W"))
    assert imgs.names == (None, "C", "H", "W")


def test_name_propagation_semantics() -> None:
    x = ne.randn(3, names=("X",))
    y = ne.randn(3)
    z = ne.randn(3, names=("Z",))
    assert (x + y).names == ("X",)
    assert (x + x).names == ("X",)
    with pytest.raises(RuntimeError, match="'X' in the left tensor meets dim 'Z' in the right"):
        x + z


def scale_channels(images: ne.NamedTensor, scale: ne.NamedTensor) -> ne.NamedTensor:
    return images * scale.refine_names("C").align_as(images)


@pytest.mark.parametrize(
    ("shape", "names", "place"),
    [
        ((3, 3, 3, 4), ("N", "H", "W", "C"), (1, 1, 1, 4)),
        ((3, 4, 3, 3), ("N", "C", "H", "W"), (1, 4, 1, 1)),
        ((3, 4, 3, 3, 3), ("N", "C", "H", "W", "D"), (1, 4, 1, 1, 1)),
    ],
)
def test_explicit_alignment_by_names(
    shape: tuple[int, ...], names: tuple[str, ...], place: tuple[int, ...]
) -> None:
    images, scale = ne.rand(shape, names=names), ne.randn(4, names=("C",))
    scaled = scale_channels(images, scale)
    assert scaled.names == names
    np.testing.assert_array_equal(scaled.numpy(), images.numpy() * scale.numpy().reshape(place))
    assert scale_channels(images, scale.rename(None)).equal(scaled)


def test_manipulating_dimensions_by_align_to() -> None:
    tensor = ne.randn(2, 2, 2, 2, 2, 2)
    named = tensor.refine_names("A", "B", "C", "D", "E", "F")
    moved = named.align_to("F", "E", ...)
    assert moved.names == ("F", "E", "A", "B", "C", "D")
    np.testing.assert_array_equal(moved.numpy(), tensor.permute(5, 4, 0, 1, 2, 3).numpy())


def test_manipulating_dimensions_by_flatten_and_unflatten() -> None:
    imgs = ne.randn(32, 3, 16, 16)
    named = imgs.refine_names("N", "C", "H", "W")
    flat = named.flatten(["C", "H", "W"], "features")
    assert flat.names == ("N", "features")
    np.testing.assert_array_equal(flat.numpy(), imgs.numpy().reshape(32, -1))
    back = flat.unflatten("features", [("C", 3), ("H", 16), ("W", 16)])
    assert back.equal(named)


def test_autograd_support() -> None:
    x = ne.randn(3, names=("D",))
    weight = ne.randn(3, names=("D",), requires_grad=True)
    loss = (x - weight).abs()
    grad_loss = ne.randn(3, names=("D",))
    loss.backward(grad_loss)
    np.testing.assert_allclose(weight.grad.numpy(), np.sign(weight.data - x.data) * grad_loss.data)
    assert weight.grad.names == ("D",)  # PyTorch: unnamed, "will be named in the future"
    weight.grad.zero_()
    loss = (x - weight).abs().sum()
    loss.backward()
    assert weight.grad.shape == (3,)


def test_operators_that_the_page_calls_unsupported_are_supported() -> None:
    x = ne.randn(2, 3, names=("N", "C"))
    assert x[0].names == ("C",)
    assert x[:, [2, 0]].names == ("N", "C")
