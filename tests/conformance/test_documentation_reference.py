"""The examples of "Named tensor API reference" in PyTorch's page "Named Tensors": one test for each entry."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne


def test_names() -> None:
    x = ne.zeros(2, 3, names=("N", None))
    assert x.names == ("N", None)
    for bad in (("1N", "C"), ("N-C", "C"), ("N", "N"), ("N",)):
        with pytest.raises(RuntimeError):
            ne.zeros(2, 3, names=bad)
    assert ne.zeros(2, names=("_hidden",)).names == ("_hidden",)  # PyTorch takes it, though its page does not


def test_rename() -> None:
    imgs = ne.rand(2, 3, 5, 7, names=("N", "C", "H", "W"))
    assert imgs.rename(N="batch", C="channels").names == ("batch", "channels", "H", "W")
    assert imgs.rename(None).names == (None, None, None, None)  # the page shows only one None
    renamed = imgs.rename("batch", "channel", "height", "width")
    assert renamed.names == ("batch", "channel", "height", "width")
    assert renamed.numpy() is imgs.numpy() and imgs.names == ("N", "C", "H", "W")
    with pytest.raises(ne.NameExprError):
        imgs.rename("batch", C="channels")


def test_rename_in_place() -> None:
    imgs = ne.rand(2, 3, names=("N", "C"))
    assert imgs.rename_("batch", "channel") is imgs
    assert imgs.names == ("batch", "channel")
    assert imgs.rename_(batch="N").names == ("N", "channel")


def test_refine_names() -> None:
    imgs = ne.randn(4, 3, 8, 8)
    assert imgs.refine_names("N", "C", "H", "W").names == ("N", "C", "H", "W")
    tensor = ne.randn(2, 3, 5, 7, 11)
    assert tensor.refine_names("A", ..., "B", "C").names == ("A", None, None, "B", "C")
    assert tensor.refine_names("A", "...", "B", "C").names == ("A", None, None, "B", "C")
    named = imgs.refine_names("N", "C", "H", "W")
    assert named.refine_names("N", "C", "H", "W").equal(named)
    for names in (("N", "C", "H", "X"), ("N", "C", "H", None), ("N", ..., ...)):
        with pytest.raises(RuntimeError):
            named.refine_names(*names)


def test_align_as_applies_a_mask() -> None:
    mask = ne.randn(12, 8).gt(0).refine_names("W", "H")
    imgs = ne.ones(4, 8, 12, 3, names=("N", "H", "W", "C"))
    assert mask.align_as(imgs).shape == (1, 8, 12, 1)
    assert imgs.masked_fill_(mask.align_as(imgs), 0) is imgs
    np.testing.assert_array_equal(imgs.numpy(), np.broadcast_to(~mask.numpy().T[:, :, None], imgs.shape))


def test_align_as_needs_names_and_finds_all_of_them() -> None:
    imgs = ne.ones(2, 3, names=("N", "C"))
    for tensor in (ne.ones(3), ne.ones(3, names=("D",))):
        with pytest.raises(RuntimeError):
            tensor.align_as(imgs)


def test_align_to() -> None:
    named = ne.randn(2, 3, 4, 5, 6, 7, names=("A", "B", "C", "D", "E", "F"))
    moved = named.align_to("F", "E", "...")
    assert moved.names == ("F", "E", "A", "B", "C", "D")
    assert moved.shape == (7, 6, 2, 3, 4, 5)
    assert np.shares_memory(moved.numpy(), named.numpy())
    assert named.align_to("new", ...).shape == (1, 2, 3, 4, 5, 6, 7)
    with pytest.raises(RuntimeError):
        named.align_to("F", "E")
    with pytest.raises(RuntimeError):
        ne.randn(2).align_to("A")


def test_unflatten() -> None:
    assert ne.randn(3, 4, 1).unflatten(1, (2, 2)).shape == (3, 2, 2, 1)
    assert ne.randn(3, 4, 1).unflatten(1, (-1, 2)).shape == (3, 2, 2, 1)
    x = ne.randn(2, 4, names=("A", "B"))
    split = x.unflatten("B", (("B1", 2), ("B2", 2)))
    assert split.names == ("A", "B1", "B2")
    np.testing.assert_array_equal(split.numpy(), x.numpy().reshape(2, 2, 2))
    inferred = ne.randn(2, names=("A",)).unflatten("A", (("B1", -1), ("B2", 1)))
    assert inferred.names == ("B1", "B2") and inferred.shape == (2, 1)
    with pytest.raises(ne.SizeError):
        x.unflatten("B", (("B1", 3), ("B2", 2)))


def test_flatten() -> None:
    imgs = ne.randn(4, 3, 8, 8, names=("N", "C", "H", "W"))
    flat = imgs.flatten(["C", "H", "W"], "features")
    assert (flat.names, flat.shape) == (("N", "features"), (4, 192))
    with pytest.raises(RuntimeError):
        imgs.flatten(["C", "W"], "features")
