"""NumPy's ufuncs on tensors: values, dtypes and warnings as on bare arrays, names by the rules."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.errors import NameExprError

UFUNCS = sorted(name for name in dir(np) if isinstance(getattr(np, name), np.ufunc))
PLAIN = [name for name in UFUNCS if getattr(np, name).signature is None]
ARRAYS = {
    "float": np.array([[0.5, 0.25, 1.0], [0.75, 0.0, 0.5]]),
    "int": np.array([[1, 2, 3], [4, 0, 6]]),
    "bool": np.array([[True, False, True], [False, False, True]]),
    "complex": np.array([[1 + 1j, 2, 0.5j], [0.25, 0, 1]]),
    "float32": np.array([[0.5, 0.25, 1.0], [0.75, 0.0, 0.5]], np.float32),
}


def named(array: Any, names: str = "N C") -> ne.NamedTensor:
    return ne.from_numpy(np.asarray(array), names=names)


@pytest.fixture
def x() -> ne.NamedTensor:
    return named([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])


def check(result: Any, expected: Any, names: tuple[str | None, ...]) -> None:
    if isinstance(expected, tuple):
        assert isinstance(result, tuple) and len(result) == len(expected)
        for one, other in zip(result, expected, strict=True):
            check(one, other, names)
        return
    assert type(result) is ne.NamedTensor
    assert result.names == names
    assert type(result.numpy()) is np.ndarray
    assert result.dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(result.numpy(), expected)


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("name", PLAIN)
def test_every_ufunc_agrees_with_numpy_on_every_dtype(name: str, kind: str) -> None:
    ufunc, array = getattr(np, name), ARRAYS[kind]
    bare = [array, array[::-1] if kind != "int" else abs(array[::-1]), array][: ufunc.nin]
    operands = [named(bare[0]), *(bare[1:] if kind != "int" else map(named, bare[1:]))]
    with np.errstate(all="ignore"):
        try:
            expected = ufunc(*bare)
        except (TypeError, ValueError):
            with pytest.raises(NameExprError) as caught:
                ufunc(*operands)
            assert caught.value.code in ("NE571", "NE574")
            return
        check(ufunc(*operands), expected, ("N", "C"))


@pytest.mark.parametrize(
    ("use", "names"),
    [
        (lambda x, w: np.add(x, w), ("N", "C")),
        (lambda x, w: np.subtract(w, x), ("N", "C")),
        (lambda x, w: x - np.asarray(w), ("N", "C")),
        (lambda x, w: np.asarray(w) - x, ("N", "C")),
        (lambda x, w: np.float32(2) * x, ("N", "C")),
        (lambda x, w: np.float64(2) / w, ("C",)),
        (lambda x, w: np.power(2, w), ("C",)),
        (lambda x, w: np.hypot(x, [1, 2, 3]), ("N", "C")),
        (lambda x, w: np.asarray(x)[None] * x, (None, "N", "C")),
        (lambda x, w: np.asarray(w) == x, ("N", "C")),
        (lambda x, w: np.asarray(x) @ w, (None,)),
        (lambda x, w: np.add(x, w, dtype=np.float32), ("N", "C")),
        (lambda x, w: np.multiply(x, w, dtype="i8", casting="unsafe"), ("N", "C")),
    ],
)
def test_operands_of_any_kind_unify_their_names(use: Any, names: Any, x: ne.NamedTensor) -> None:
    w = named([1, 2, 3], "C")
    check(use(x, w), use(x.numpy(), w.numpy()), names)


def test_python_numbers_are_weak() -> None:
    y = named(ARRAYS["float32"])
    assert np.add(y, 1.5).dtype == np.float32
    assert np.add(np.float64(1.5), y).dtype == np.float64


def test_warnings_are_numpys(x: ne.NamedTensor) -> None:
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.divide(x, 0)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        np.divide(x, 0)
    with np.errstate(all="ignore"):
        assert np.isinf(np.divide(x, 0).numpy()).all()


def test_objects_stay_objects() -> None:
    pairs = np.frompyfunc(lambda a: [a], 1, 1)
    assert pairs(ne.from_numpy(np.array(1, dtype=object))).numpy()[()] == [1]
    assert pairs(named([1, 2], "N")).names == ("N",)


REDUCTIONS: list[tuple[dict[str, Any], dict[str, Any], tuple[Any, ...]]] = [
    ({}, {}, ("C",)),
    ({"axis": "N"}, {"axis": 0}, ("C",)),
    ({"axis": "C"}, {"axis": 1}, ("N",)),
    ({"axis": -1, "keepdims": True}, {"axis": -1, "keepdims": True}, ("N", "C")),
    ({"axis": ("C", 0)}, {"axis": (1, 0)}, ()),
    ({"axis": ["N", "C"]}, {"axis": (0, 1)}, ()),
    ({"axis": "N C"}, {"axis": (0, 1)}, ()),
    ({"axis": None}, {"axis": None}, ()),
    ({"axis": ()}, {"axis": ()}, ("N", "C")),
    ({"axis": "C", "dtype": np.float32}, {"axis": 1, "dtype": np.float32}, ("N",)),
    ({"axis": "C", "initial": 5.0}, {"axis": 1, "initial": 5.0}, ("N",)),
    ({"axis": "C", "initial": ne.tensor(5.0)}, {"axis": 1, "initial": 5.0}, ("N",)),
]


@pytest.mark.parametrize(("options", "bare", "names"), REDUCTIONS)
@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.logaddexp])
def test_reduce_loses_the_names_of_what_it_combines(
    ufunc: np.ufunc, options: Any, bare: Any, names: Any, x: ne.NamedTensor
) -> None:
    check(ufunc.reduce(x, **options), ufunc.reduce(x.numpy(), **bare), names)


def test_reduce_with_a_mask(x: ne.NamedTensor) -> None:
    mask = x > 2
    check(np.add.reduce(x, "C", where=mask), np.add.reduce(x.numpy(), 1, where=mask.numpy()), ("N",))
    check(np.add.reduce(x, where=mask.numpy()), np.add.reduce(x.numpy(), where=mask.numpy()), ("C",))
    with pytest.raises(NameExprError) as caught:
        np.add.reduce(x, "C", where=mask.rename(C="D"))
    assert caught.value.code == "NE470"
    with pytest.raises(NameExprError) as caught:
        np.add.reduce(x, "C", where=mask.numpy()[None])
    assert caught.value.code == "NE380"


def test_accumulate_and_reduceat_keep_names(x: ne.NamedTensor) -> None:
    array = x.numpy()
    check(np.add.accumulate(x), np.add.accumulate(array), ("N", "C"))
    check(np.multiply.accumulate(x, axis="C"), np.multiply.accumulate(array, 1), ("N", "C"))
    check(np.add.reduceat(x, [0, 2], axis="C"), np.add.reduceat(array, [0, 2], 1), ("N", "C"))
    check(np.add.reduceat(x, named([0, 1], "k")), np.add.reduceat(array, [0, 1]), ("N", "C"))


def test_outer_has_the_names_of_both(x: ne.NamedTensor) -> None:
    w = named([1.0, 2.0], "K")
    check(np.multiply.outer(x, w), np.multiply.outer(x.numpy(), w.numpy()), ("N", "C", "K"))
    check(np.subtract.outer([1, 2], w), np.subtract.outer([1, 2], w.numpy()), (None, "K"))
    check(np.multiply.outer(x, 2), x.numpy() * 2, ("N", "C"))
    check(np.divmod.outer(w, w.rename(K="L")), np.divmod.outer(w.numpy(), w.numpy()), ("K", "L"))


@pytest.mark.parametrize(
    ("left", "right", "names"),
    [
        ("N C", "C K", ("N", "K")),
        ("B N C", "C K", ("B", "N", "K")),
        ("B N C", "B C K", ("B", "N", "K")),
        ("C", "C K", ("K",)),
        ("N C", "D", ("N",)),
        ("C", "D", ()),
    ],
)
def test_matmul_follows_its_rule(left: str, right: str, names: Any) -> None:
    sizes = {"B": 2, "N": 4, "C": 3, "D": 3, "K": 5}
    a, b = (
        named(np.random.default_rng(1).integers(9, size=[sizes[d] for d in one.split()]), one)
        for one in (left, right)
    )
    check(np.matmul(a, b), np.matmul(a.numpy(), b.numpy()), names)
    bare = np.matmul(a.numpy(), b)
    assert bare.names[-1:] == ((b.names[-1],) if b.ndim > 1 else bare.names[-1:])


@pytest.mark.skipif(not hasattr(np, "matvec"), reason="new in NumPy 2.2")
def test_products_of_stacked_vectors_and_matrices() -> None:
    m, v, w = named(np.arange(24.0).reshape(2, 4, 3), "B N C"), named(np.ones((2, 3)), "B C"), np.ones(4)
    check(np.matvec(m, v), np.matvec(m.numpy(), v.numpy()), ("B", "N"))
    check(np.vecmat(w, m), np.vecmat(w, m.numpy()), ("B", "C"))
    check(np.vecdot(v, v), np.vecdot(v.numpy(), v.numpy()), ("B",))
    check(np.vecdot(v, np.ones(3)), np.vecdot(v.numpy(), np.ones(3)), ("B",))


def test_out_takes_names_or_must_have_them(x: ne.NamedTensor) -> None:
    plain = ne.zeros(2, 3)
    memory = plain.numpy()
    assert np.add(x, 1, out=plain) is plain
    assert plain.numpy() is memory
    check(plain, x.numpy() + 1, ("N", "C"))
    assert np.negative(x, out=x) is x
    assert x.numpy()[0, 0] == -1
    total = ne.zeros(2, names="N")
    assert np.add.reduce(x, axis="C", out=total) is total
    np.testing.assert_array_equal(total.numpy(), x.numpy().sum(1))


def test_out_of_several_results(x: ne.NamedTensor) -> None:
    whole = ne.zeros(2, 3)
    fraction, other = np.modf(x / 2, out=(None, whole))
    assert other is whole
    check((fraction, other), np.modf(x.numpy() / 2), ("N", "C"))


def test_where_leaves_out_as_it_was(x: ne.NamedTensor) -> None:
    out = ne.full([2, 3], -1.0, names="N C")
    np.sqrt(x, out=out, where=x > 3)
    np.testing.assert_array_equal(out.numpy(), np.where(x.numpy() > 3, np.sqrt(x.numpy()), -1))
    np.sqrt(x, out=out, where=[True, False, False])
    assert out.numpy()[0, 0] == 1


@pytest.mark.parametrize(
    ("use", "code"),
    [
        (lambda x: np.add(x, x.rename(C="D")), "NE470"),
        (lambda x: np.add(x, named([1, 2], "N")), "NE470"),
        (lambda x: np.add(x, named(np.ones((3, 3)), "N C")), "NE370"),
        (lambda x: np.add(x, np.ones(2)), "NE370"),
        (lambda x: np.add(np.ones(4), x), "NE370"),
        (lambda x: np.add(x, "a"), "NE575"),
        (lambda x: np.add(x, None), "NE575"),
        (lambda x: np.add(x, [x]), "NE653"),
        (lambda x: np.add(x, np.ma.array([1, 2, 3])), "NE654"),
        (lambda x: np.matrix([[1, 2, 3]]) + x, "NE654"),
        (lambda x: np.invert(x), "NE571"),
        (lambda x: np.subtract(x > 0, x > 0), "NE571"),
        (lambda x: np.add(x, np.datetime64(1, "D")), "NE571"),
        (lambda x: np.power(x.long(), -1), "NE574"),
        (lambda x: np.add(x, 1, dtype=int), "NE570"),
        (lambda x: np.add(x, 1, out=x.long()), "NE570"),
        (lambda x: np.add(x.to("uint8"), 300), "NE577"),
        (lambda x: np.add(x, 1, out=x.numpy()), "NE660"),
        (lambda x: np.add(x.numpy(), x, out=np.ones((2, 3))), "NE660"),
        (lambda x: np.add.reduce(x, out=np.ones(3)), "NE660"),
        (lambda x: np.modf(x, out=(ne.zeros(2, 3), np.ones((2, 3)))), "NE660"),
        (lambda x: np.add(x, 1, out=ne.zeros(2, 3, names="N D")), "NE472"),
        (lambda x: np.add(x.numpy(), 1, out=x), "NE472"),
        (lambda x: np.add(x, 1, out=ne.zeros(3)), "NE371"),
        (lambda x: np.add(x, 1, out=ne.zeros(3, 3)), "NE371"),
        (lambda x: np.add(x, 1, out=ne.zeros(2, 1, names="N C").expand(-1, 3)), "NE576"),
        (lambda x: np.sqrt(x, out=ne.zeros(2, 3), where=(x > 0).rename(C="D")), "NE470"),
        (lambda x: np.sqrt(x, out=ne.zeros(2, 3), where=x), "NE573"),
        (lambda x: np.sqrt(x, out=ne.zeros(2, 3), where=np.ones(2, bool)), "NE370"),
        (lambda x: np.add.reduce(x, axis="D"), "NE410"),
        (lambda x: np.add.reduce(x, axis=["C", 1]), "NE417"),
        (lambda x: np.add.reduce(x, axis=2), "NE801"),
        (lambda x: np.add.reduce(x, axis=1.5), "NE651"),
        (lambda x: np.add.accumulate(x, axis=("N", "C")), "NE651"),
        (lambda x: np.subtract.reduce(x, axis=("N", "C")), "NE661"),
        (lambda x: np.maximum.reduce(x[:0]), "NE661"),
        (lambda x: np.multiply.outer(x, x), "NE473"),
        (lambda x: np.add.at(x, 0, 1), "NE658"),
        (lambda x: np.add.at(np.ones((2, 3)), 0, x), "NE658"),
        (lambda x: np.matmul(x, x), "NE372"),
        (lambda x: np.matmul(x, 2), "NE373"),
        (lambda x: np.matmul(x, x, axes=[(0, 1), (1, 0), (0, 1)]), "NE658"),
        (lambda x: np.matmul(x, named(np.ones((3, 2)), "K N")), "NE473"),
    ],
)
def test_mistakes_are_explained(x: ne.NamedTensor, use: Any, code: str) -> None:
    before = x.numpy().copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        with pytest.raises(NameExprError) as caught:
            use(x)
    assert caught.value.code == code
    np.testing.assert_array_equal(x.numpy(), before)
    assert x.names == ("N", "C")


def test_nothing_is_written_where_names_clash(x: ne.NamedTensor) -> None:
    out = ne.zeros(2, 3, names="N D")
    with pytest.raises(NameExprError):
        np.add(x, 1, out=out)
    assert not out.numpy().any()


def test_an_array_is_not_rebound_by_an_augmented_assignment(x: ne.NamedTensor) -> None:
    array = np.ones((2, 3))
    same = array
    with pytest.raises(NameExprError, match="from_numpy"):
        array += x
    assert array is same and (array == 1).all()


def test_other_types_with_a_protocol_are_asked() -> None:
    class Other:
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> str:
            return f"{ufunc.__name__} of Other"

    x = named([1.0, 2.0], "N")
    assert np.add(x, Other()) == "add of Other"
    assert np.add(Other(), x) == "add of Other"


def test_the_names_of_three_operands_unify() -> None:
    fma = np.frompyfunc(lambda a, b, c: a * b + c, 3, 1)
    a, b, c = named([1, 2], "C"), np.ones((3, 1)), named([[1], [2], [3]], "N C")
    assert fma(a, b, c).names == ("N", "C")
    with pytest.raises(NameExprError, match="operand 0 meets dim 'D' in operand 2"):
        fma(a, b, named([1, 2], "D"))
