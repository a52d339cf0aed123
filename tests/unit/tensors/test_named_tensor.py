"""Making tensors: what is copied, which dtype comes out, what is rejected; and giving them other names."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.errors import NameExprError
from nameexpr.tensors import wrap


def test_tensor_copies() -> None:
    array = np.zeros(3)
    x = ne.tensor(array, names="N")
    array[0] = 1
    assert x.numpy()[0] == 0
    assert not np.shares_memory(ne.tensor(x).numpy(), x.numpy())


def test_as_tensor_and_from_numpy_share_memory() -> None:
    array = np.zeros(3)
    assert ne.from_numpy(array, names="N").numpy() is array
    assert ne.as_tensor(array, names="N").data is array
    assert not np.shares_memory(ne.as_tensor(array, dtype=np.float32).numpy(), array)


def test_as_tensor_returns_a_tensor_that_needs_no_change() -> None:
    x = ne.tensor([1.0, 2.0], names="N")
    assert ne.as_tensor(x) is x
    assert ne.as_tensor(x, names="N", dtype=np.float64) is x
    assert ne.as_tensor(x, dtype=np.float32).names == ("N",)
    unnamed = ne.tensor([1.0])
    assert ne.as_tensor(unnamed, names="N") is not unnamed
    assert unnamed.names == (None,)


@pytest.mark.parametrize(
    ("data", "shape", "dtype"),
    [
        ([[1, 2], [3, 4]], (2, 2), np.int64),
        ([1.5], (1,), np.float64),
        ([True, False], (2,), np.bool_),
        ([1j], (1,), np.complex128),
        (3, (), np.int64),
        (np.float32(3), (), np.float32),
        (np.zeros((2, 0), np.float16), (2, 0), np.float16),
        ([], (0,), np.float64),
        (range(3), (3,), np.int64),
        (np.array(["a"]), (1,), np.dtype("U1")),
    ],
)
def test_tensor_takes_lists_numbers_and_arrays(data: object, shape: tuple[int, ...], dtype: object) -> None:
    x = ne.tensor(data)
    assert x.shape == shape
    assert x.dtype == dtype
    assert x.names == (None,) * len(shape)
    assert type(x.numpy()) is np.ndarray


def test_objects_are_taken_when_asked_for() -> None:
    assert ne.tensor([Fraction(1, 2)], dtype=object).numpy()[0] == Fraction(1, 2)
    assert ne.tensor(np.array([Fraction(1, 2)])).dtype == object
    with pytest.raises(NameExprError):
        ne.tensor([Fraction(1, 2)])


def test_an_array_subclass_becomes_a_plain_array() -> None:
    class Own(np.ndarray):
        pass

    assert type(ne.as_tensor(np.zeros(2).view(Own)).numpy()) is np.ndarray


def test_a_named_tensor_keeps_its_names_and_an_unnamed_one_takes_them() -> None:
    x = ne.tensor([[1, 2]], names="N C")
    assert ne.tensor(x).names == ("N", "C")
    assert ne.tensor(x, names="N C").names == ("N", "C")
    assert ne.tensor(ne.tensor([[1, 2]]), names="N C").names == ("N", "C")
    with pytest.raises(NameExprError):
        ne.tensor(ne.tensor([[1, 2]], names=("N", None)), names="N C")


@pytest.mark.parametrize("names", ["N C", " N\tC ", ("N", "C"), ["N", "C"]])
def test_names_are_written_as_a_string_or_a_sequence(names: object) -> None:
    assert ne.tensor([[1]], names=names).names == ("N", "C")


def test_an_underscore_in_a_string_is_a_dim_without_a_name() -> None:
    assert ne.tensor([[1]], names="N _").names == ("N", None)
    assert ne.tensor([[1]], names="N None").names == ("N", None)
    assert ne.tensor(1, names="").names == ()


def test_wrap_checks_and_copies_nothing() -> None:
    array = np.zeros((2, 3))
    x = wrap(array, ("N", None))
    assert type(x) is ne.NamedTensor
    assert x.numpy() is array
    assert x.names == ("N", None)


def test_the_array_and_its_facts() -> None:
    x = ne.tensor([[1, 2, 3]], names="N C")
    assert x.data is x.numpy()
    assert (x.shape, x.ndim, x.dtype, x.size()) == ((1, 3), 2, np.dtype(np.int64), (1, 3))
    assert x.size("C") == x.size(1) == x.size(-1) == 3
    with pytest.raises(AttributeError):
        x.data = x.data  # type: ignore[misc]
    with pytest.raises(AttributeError):
        x.other = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("make", [ne.zeros, ne.ones, ne.empty, ne.rand, ne.randn])
def test_only_sizes_below_zero_are_marked(make: Any) -> None:
    with pytest.raises(ne.SizeError) as caught:
        make(0, 2, -1, 0, -3)
    assert [caught.value.text[span.start : span.end] for span in caught.value.spans] == ["-1", "-3"]
    assert make(0, 2).shape == (0, 2)


def n(shape: tuple[int, ...], names: object) -> ne.NamedTensor:
    return ne.tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape), names=names)


@pytest.fixture
def fixtures() -> dict[str, Any]:
    """Return the fixtures of the operator catalogue."""
    return {
        "x": n((2, 3), "N C"),
        "y": n((2, 3), ("N", None)),
        "u": n((2, 3), None),
        "s": ne.tensor(1.0),
        "c": n((3,), "C"),
        "x4": n((2, 3, 4, 5), "N C H W"),
        "T": ne,
    }


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("x.names", ("N", "C")),
        ("s.names", ()),
        ("x.rename('A','B').names", ("A", "B")),
        ("x.rename(N='A').names", ("A", "C")),
        ("x.rename(None).names", (None, None)),
        ("x.rename(...,'B').names", ("N", "B")),
        ("x.rename(N='C',C='N').names", ("C", "N")),
        ("x.rename(N=None).names", (None, "C")),
        ("x.rename_('A','B').names", ("A", "B")),
        ("x.rename_(None).names", (None, None)),
        ("u.refine_names('N','C').names", ("N", "C")),
        ("y.refine_names(...,'C').names", ("N", "C")),
        ("c.align_as(x4).names", ("N", "C", "H", "W")),
        ("x.align_to('C','p','N').names", ("C", "p", "N")),
        ("x.align_to('C',...).names", ("C", "N")),
        ("y.align_to(...,'N').names", (None, "N")),
        ("x4.flatten(['C','H'],'F').names", ("N", "F", "W")),
        ("x4.flatten(1,-1,'F').names", ("N", "F")),
        ("x4.flatten('C','W','F').names", ("N", "F")),
        ("u.flatten().names", (None,)),
        ("x4.flatten(['C','H'],None).names", ("N", None, "W")),
        ("x4.flatten(['C','H'],'C').names", ("N", "C", "W")),
        ("x.unflatten('C',(('A',3),('B',1))).names", ("N", "A", "B")),
        ("x.unflatten('C',(('A',-1),('B',3))).names", ("N", "A", "B")),
        ("u.unflatten(1,(-1,1)).names", (None, None, None)),
        ("T.tensor([[1,2]],names=('N','C')).names", ("N", "C")),
        ("T.tensor(x).names", ("N", "C")),
        ("T.tensor([1.,2]).names", (None,)),
        # Where we accept more than PyTorch, by design/named_tensor.md:
        ("x.rename(['A','B']).names", ("A", "B")),
        ("x.align_to(['C','N']).names", ("C", "N")),
        ("x4.flatten(['C',2],'F').names", ("N", "F", "W")),
        ("x.unflatten(1,(('A',3),('B',1))).names", ("N", "A", "B")),
        ("x.unflatten('C',{'A':3,'B':1}).names", ("N", "A", "B")),
    ],
)
def test_the_catalogues_examples_give_the_names_it_lists(
    source: str, names: tuple[str | None, ...], fixtures: dict[str, Any]
) -> None:
    assert eval(source, fixtures) == names


@pytest.mark.parametrize(
    "source",
    [
        "x.rename('A')",
        "x.rename_('A','A')",
        "x.refine_names('N','D')",
        "x.refine_names('N',None)",
        "x.refine_names('N')",
        "x.align_to('C')",
        "x.align_as(c)",
        "u.align_as(x)",
        "x4.flatten(['C','W'],'F')",
        "x4.flatten(1,2)",
        "x4.flatten([],'F')",
        "s.flatten(0,0,'F')",
        "x.unflatten('C',(('A',2),('B',2)))",
        "x.unflatten(1,(3,1))",
        "x.unflatten('C',(3,1))",
        "x.unflatten('C',())",
        "T.tensor(x,names=('N','D'))",
        # Where PyTorch accepts what the catalogue wants rejected:
        "x.rename('*','B')",
        "x.align_to('N','C',None)",
    ],
)
def test_what_the_catalogue_refuses_is_refused_and_changes_nothing(
    source: str, fixtures: dict[str, Any]
) -> None:
    with pytest.raises(NameExprError):
        eval(source, fixtures)
    assert fixtures["x"].names == ("N", "C")


def test_name_errors_are_runtime_errors_and_dim_errors_index_errors_as_in_pytorch() -> None:
    x = n((2, 3), "N C")
    with pytest.raises(RuntimeError):
        x.rename("A", "A")
    with pytest.raises(IndexError):
        x.size(2)
    with pytest.raises(TypeError):
        x.size(1.0)  # type: ignore[call-overload]


def test_rename_shares_the_array_and_leaves_the_old_names() -> None:
    x = n((2, 3), "N C")
    y = x.rename("A", "B")
    y.numpy()[0, 0] = 7
    assert x.numpy()[0, 0] == 7
    assert x.names == ("N", "C")


def test_rename_in_place_returns_the_tensor_itself() -> None:
    x = n((2, 3), "N C")
    assert x.rename_("A", "B") is x
    assert x.names == ("A", "B")


def test_rename_takes_old_names_that_are_parameters_elsewhere() -> None:
    x = n((2, 3), ("self", "names"))
    assert x.rename(self="a", names="b").names == ("a", "b")
    assert n((2,), "seq'").rename(**{"seq'": "seq"}).names == ("seq",)


def test_names_can_be_set_and_dropped() -> None:
    x = n((2, 3), None)
    x.names = ("N", None)
    assert x.names == ("N", None)
    x.names = "A B"
    assert x.names == ("A", "B")
    x.names = None
    assert x.names == (None, None)
    assert not x.has_names()


def test_a_failed_set_keeps_the_names() -> None:
    x = n((2, 3), "N C")
    with pytest.raises(NameExprError):
        x.names = ("A", "A")
    with pytest.raises(NameExprError):
        x.rename_("A")
    assert x.names == ("N", "C")


def test_has_names_needs_one_name() -> None:
    assert n((2, 3), (None, "C")).has_names()
    assert not n((2, 3), None).has_names()
    assert not ne.tensor(1).has_names()


def test_sixty_four_names_are_fine() -> None:
    names = tuple(f"d{k}" for k in range(64))
    x = ne.tensor(np.ones((1,) * 64), names=names)
    assert x.names == names
    assert x.align_to(*reversed(names)).names == names[::-1]
