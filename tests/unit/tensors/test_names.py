"""names, has_names, rename, rename_, refine_names on tensors; the rules are in unit/test_rules.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.errors import NameExprError


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
        # Where PyTorch accepts what the catalogue wants refused:
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
