"""NumPy's functions on tensors: values as on bare arrays, names by the rules, and never bare results."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.errors import NameExprError
from nameexpr.tensors.protocols.calls import TABLE
from nameexpr.tensors.protocols.functions import HINTS
from nameexpr.tensors.protocols.operands import named

X = ne.from_numpy(np.array([[3.0, 1.0, 2.5], [0.0, 5.0, 4.0]]), names="N C")
CUBE = ne.from_numpy(np.arange(24.0).reshape(2, 3, 4) % 7, names="N C K")
V = ne.from_numpy(np.array([2.0, 0.5, 1.0]), names="C")
K = ne.from_numpy(np.array([1.0, 2.0]), names="K")
INTS = ne.from_numpy(np.array([[3, 1, 2], [0, 5, 4]]), names="N C")
GAPS = ne.from_numpy(np.array([[3.0, np.nan, 2.5], [0.0, 5.0, np.nan]]), names="N C")
ONE = ne.from_numpy(np.ones((1, 3, 1)), names="N C K")
NC, N, C = ("N", "C"), ("N",), ("C",)
AXES = {"N": 0, "C": 1, "K": 2}

Case = tuple[str, tuple[Any, ...], dict[str, Any], Any]


def case(name: str, *args: Any, names: Any, **options: Any) -> Any:
    function = resolve(name)
    marks = () if function else pytest.mark.skip(reason=f"this NumPy has no {name}")
    return pytest.param(name, args, options, names, marks=marks)


def resolve(name: str) -> Any:
    found: Any = np
    for word in name.split("."):
        found = getattr(found, word, None)
    return found


REDUCING = """
sum prod mean std var max min amax amin any all argmin argmax median ptp count_nonzero
nanmean nanstd nanvar nanmax nanmin nansum nanprod nanmedian nanargmax nanargmin
"""
GOING_ALONG = """
cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod
sort argsort diff flip unwrap gradient
"""
KEEPING = """
round around fix real imag angle real_if_close nan_to_num sinc i0 copy isreal iscomplex isneginf isposinf
tril triu flipud fliplr zeros_like ones_like sort argsort flip diff
"""
REDUCTIONS = [
    case(name, x, names=names, **options)
    for name in REDUCING.split()
    for x in (X, INTS)
    for options, names in [
        ({}, ()),
        ({"axis": "C"}, N),
        ({"axis": 0}, C),
        ({"axis": -1, "keepdims": True}, NC),
    ]
]
ALONG = [
    case(name, x, names=NC, axis=axis)
    for name in GOING_ALONG.split()
    for x in (X, GAPS)
    for axis in ("N", -1)
]
KEPT = [case(name, x, names=NC) for name in KEEPING.split() for x in (X, INTS)]
CASES = [
    *REDUCTIONS,
    *ALONG,
    *KEPT,
    case("sum", CUBE, names=("C",), axis=("K", 0)),
    case("sum", CUBE, names=("C",), axis=["N", 2]),
    case("sum", CUBE, names=("N", "C", "K"), axis=()),
    case("mean", CUBE, ("N", "K"), np.float32, names=("C",)),
    case("max", X, 0, None, True, names=NC),
    case("std", X, names=N, axis="C", ddof=1),
    case("sum", X, names=N, axis="C", where=X > 1, initial=2.0),
    case("sum", np.ones((2, 3)), names=NC, axis=(), where=X > 1),
    case("mean", X, names=(), where=V > 0.7),
    case("std", X, names=N, axis="C", mean=ne.from_numpy(X.numpy().mean(1, keepdims=True), names="N C")),
    case("average", X, names=()),
    case("average", X, names=N, axis="C", weights=V),
    case("average", X, names=N, axis="C", weights=[1, 2, 3]),
    case("average", X, names=(), weights=X + 1),
    case("average", X, names=(N, N), axis="C", weights=V, returned=True),
    *(
        case(name, GAPS, q, names=names, axis="C")
        for name in ("quantile", "percentile", "nanquantile", "nanpercentile")
        for q, names in [(0.5, N), ([0.1, 0.9], (None, "N")), (ne.tensor([0.2, 0.4], names="q"), ("q", "N"))]
    ),
    case("quantile", CUBE, 0.3, names=("N", "C", "K"), axis=("N", "K"), keepdims=True),
    case("linalg.norm", X, names=()),
    case("linalg.norm", X, names=N, axis="C"),
    case("linalg.norm", X, names=N, ord=1, axis="C"),
    case("linalg.norm", CUBE, names=("C",), ord=1, axis=("K", "N")),
    case("linalg.vector_norm", CUBE, names=("N", "K"), axis="C"),
    case("linalg.matrix_norm", CUBE, names=N),
    case("trace", CUBE, names=("C",), axis1="N", axis2="K"),
    case("linalg.trace", CUBE, names=N),
    case("diagonal", CUBE, names=("C", None), axis1="N", axis2="K"),
    case("linalg.diagonal", CUBE, names=("N", None), offset=1),
    case("cumsum", V, names=C),
    case("partition", X, 1, names=NC),
    case("argpartition", X, 1, names=NC, axis="C"),
    case("repeat", X, 2, names=NC, axis="C"),
    case("repeat", X, [1, 2], names=NC, axis=0),
    case("delete", X, 1, names=NC, axis="C"),
    case("diff", X, names=NC, axis="C", prepend=X[:, :1]),
    case("diff", X, names=NC, axis="C", append=0),
    case("gradient", X, names=(NC, NC)),
    case("gradient", V, 0.5, names=C),
    case("gradient", V, ne.tensor(0.5), names=C),
    case("flip", CUBE, names=("N", "C", "K"), axis=("K", "N")),
    case("roll", X, 1, names=NC),
    case("roll", X, 1, names=NC, axis="C"),
    case("roll", X, (1, 2), names=NC, axis=("N", "C")),
    case("round", X, 0, names=NC),
    case("astype", X, np.float32, names=NC),
    case("full_like", X, 7, names=NC),
    case("full_like", X, V, names=NC),
    case("zeros_like", X, np.int8, names=NC),
    case("ones_like", X, names=NC, shape=(4, 1)),
    case("transpose", CUBE, names=("K", "C", "N")),
    case("transpose", CUBE, ("C", "K", 0), names=("C", "K", "N")),
    case("swapaxes", CUBE, "N", "K", names=("K", "C", "N")),
    case("matrix_transpose", CUBE, names=("N", "K", "C")),
    case("linalg.matrix_transpose", CUBE, names=("N", "K", "C")),
    case("moveaxis", CUBE, "K", 0, names=("K", "N", "C")),
    case("moveaxis", CUBE, ("K", "N"), (0, -1), names=("K", "C", "N")),
    case("moveaxis", CUBE, ("N", "C"), (2, 0), names=("C", "K", "N")),
    case("moveaxis", CUBE, "N", "C", names=("C", "N", "K")),
    case("squeeze", ONE, names=C),
    case("squeeze", ONE, names=("C", "K"), axis="N"),
    case("squeeze", ONE, names=C, axis=("N", -1)),
    case("expand_dims", X, 0, names=(None, "N", "C")),
    case("expand_dims", X, (1, -1), names=("N", None, "C", None)),
    case("broadcast_to", V, (2, 3), names=(None, "C")),
    case("broadcast_to", V, 3, names=C),
    case("take", X, [2, 0, 0], names=NC, axis="C"),
    case("take", X, 1, names=N, axis="C"),
    case("take", X, ne.tensor([[0, 1]], names="a b"), names=("N", "a", "b"), axis="C"),
    case("take", V, [0, 1], names=C),
    case("take_along_axis", X, ne.from_numpy(np.argsort(X.numpy(), 1), names="N C"), names=NC, axis="C"),
    case("take_along_axis", X, ne.tensor([[2], [0]], names="N q"), names=NC, axis="C"),
    case("split", X, 3, names=(NC, NC, NC), axis="C"),
    case("split", X, [1], names=(NC, NC), axis="C"),
    case("array_split", X, 2, names=(NC, NC), axis="C"),
    case("hsplit", X, 3, names=(NC, NC, NC)),
    case("vsplit", X, 2, names=(NC, NC)),
    case("dsplit", CUBE, 2, names=(("N", "C", "K"),) * 2),
    case("unstack", X, names=(N, N, N), axis="C"),
    case("atleast_1d", ne.tensor(2.0), names=(None,)),
    case("atleast_2d", V, X, ne.tensor(1), names=((None, "C"), NC, (None, None))),
    case("atleast_3d", V, X, CUBE, names=((None, "C", None), ("N", "C", None), ("N", "C", "K"))),
    case("clip", X, 1, 3, names=NC),
    case("clip", X, V, None, names=NC),
    case("clip", V, 1, X, names=NC),
    case("where", X > 1, X, 0, names=NC),
    case("where", np.ones((2, 1), bool), 1.5, V, names=(None, "C")),
    case("isclose", X, V, names=NC),
    case("isclose", X.numpy(), V, names=(None, "C")),
    case("isin", X, [1, 2.5], names=NC),
    case("isin", X, K, names=NC),
    case("concatenate", [X, X], names=NC),
    case("concatenate", [X, np.ones((2, 1))], names=NC, axis="C"),
    case("concatenate", (np.ones((1, 3)), X), names=NC, axis=0),
    case("concatenate", [V, V], names=C, axis=None),
    case("concatenate", [V, V], names=C, dtype=np.float32),
    case("concatenate", X, names=C),
    case("stack", [X, X], names=(None, "N", "C")),
    case("stack", [X, np.ones((2, 3))], names=("N", "C", None), axis=-1),
    case("vstack", [V, X], names=NC),
    case("vstack", [V, V], names=(None, "C")),
    case("hstack", [V, V], names=C),
    case("hstack", [X, X], names=NC),
    case("dstack", [X, X], names=("N", "C", None)),
    case("dstack", [V, V], names=(None, "C", None)),
    case("dot", X, V, names=N),
    case("dot", X, 2, names=NC),
    case("dot", V, V, names=()),
    case("dot", X, X.rename(N="C", C="D").numpy().T, names=("N", None)),
    case("dot", K, ne.from_numpy(np.ones((5, 2, 3)), names="A K C"), names=("A", "C")),
    case("inner", X, V, names=N),
    case("inner", 2, X, names=NC),
    case("inner", X, X.rename(N="M"), names=("N", "M")),
    case("outer", V, K, names=("C", "K")),
    case("linalg.outer", V, K, names=("C", "K")),
    case("vdot", V, V, names=()),
    case("linalg.matmul", X, V[:, None].rename(None), names=("N", None)),
    case("tensordot", X, CUBE, (["C"], ["C"]), names=None),
    case("tensordot", X, CUBE.rename(N="M"), ([1], [1]), names=("N", "M", "K")),
    case("tensordot", X, CUBE.rename(N="M", C="L"), 0, names=("N", "C", "M", "L", "K")),
    case("linalg.tensordot", X, V, names=N, axes=1),
    case("shape", X, names="plain"),
    case("ndim", X, names="plain"),
    case("size", X, names="plain"),
    case("size", X, "C", names="plain"),
    case("result_type", X, np.float32, names="plain"),
    case("can_cast", X, np.float32, names="plain"),
    case("common_type", X, INTS, names="plain"),
    case("min_scalar_type", X, names="plain"),
    case("iscomplexobj", X, names="plain"),
    case("isrealobj", X, names="plain"),
    case("array2string", X, names="plain"),
    case("array_str", X, names="plain"),
    case("array_repr", X, names="plain"),
    case("may_share_memory", X, X[0], names="plain"),
    case("shares_memory", X, X[0], names="plain"),
    case("allclose", X, V, names="plain"),
    case("array_equal", X, X.numpy(), names="plain"),
    case("array_equal", X, V, names="plain"),
    case("array_equiv", X, V, names="plain"),
]


def bare(value: Any) -> Any:
    if isinstance(value, ne.NamedTensor):
        return value.numpy()
    if isinstance(value, str):
        return AXES[value]
    if isinstance(value, list | tuple):
        items = [bare(one) for one in value]
        return tuple(items) if isinstance(value, tuple) or (value and isinstance(value[0], str)) else items
    return value


def check(result: Any, expected: Any, names: Any) -> None:
    if isinstance(expected, list | tuple):
        assert type(result) is type(expected) and len(result) == len(expected) == len(names)
        for one, other, own in zip(result, expected, names, strict=True):
            check(one, other, own)
        return
    assert type(result) is ne.NamedTensor
    assert result.names == names
    assert type(result.numpy()) is np.ndarray
    assert result.dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(result.numpy(), expected)


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")  # from NumPy 2.5 on
@pytest.mark.parametrize(("name", "args", "options", "names"), CASES)
def test_values_are_numpys_and_names_follow_the_rule(name: str, args: Any, options: Any, names: Any) -> None:
    function = resolve(name)
    if names is None:
        with pytest.raises(NameExprError) as caught:
            function(*args, **options)
        assert caught.value.code == "NE473"
        return
    plain_options = {key: bare(value) for key, value in options.items()}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = function(*args, **options)
        expected = function(*map(bare, args), **plain_options)
    if names == "plain":
        assert type(result) is type(expected) and result == expected
        assert not isinstance(result, np.ndarray | ne.NamedTensor)
    else:
        check(result, expected, names)


def test_every_entry_of_the_table_has_a_case() -> None:
    covered = {resolve(one.values[0]) for one in CASES} | {np.empty_like}
    assert not {getattr(function, "__name__", function) for function in set(TABLE) - covered}


def test_empty_like_and_views() -> None:
    assert np.empty_like(X).names == NC and np.empty_like(X).shape == X.shape
    for view in (np.transpose(X), np.squeeze(X), np.broadcast_to(X, (4, 2, 3)), np.split(X, 3, axis="C")[1]):
        assert np.shares_memory(view.numpy(), X.numpy())
    assert not np.shares_memory(np.copy(X).numpy(), X.numpy())


def test_out_is_written_in_place() -> None:
    out = ne.zeros(2)
    assert np.sum(X, axis="C", out=out) is out
    check(out, X.numpy().sum(1), N)
    assert np.mean(X, "C", None, out) is out
    np.testing.assert_array_equal(out.numpy(), X.numpy().mean(1))
    joined = ne.zeros(4, 3, names="N C")
    assert np.concatenate([X, X], out=joined) is joined
    np.testing.assert_array_equal(joined.numpy(), np.concatenate([X.numpy()] * 2))
    bounded = ne.zeros(2, 3)
    assert np.clip(X, 1, 2, out=bounded) is bounded and bounded.names == NC


@pytest.mark.parametrize(
    ("use", "code"),
    [
        (lambda: np.sum(X, axis="D"), "NE410"),
        (lambda: np.sum(X, axis=("C", 1)), "NE417"),
        (lambda: np.sum(X, axis=5), "NE801"),
        (lambda: np.sum(ne.tensor(1.0), axis="C"), "NE410"),
        (lambda: np.argmax(X, axis=("N", "C")), "NE661"),
        (lambda: np.sort(X, axis=1.5), "NE651"),
        (lambda: np.sort(X, axis=None), "NE658"),
        (lambda: np.cumsum(X), "NE658"),
        (lambda: np.take(X, 0), "NE658"),
        (lambda: np.concatenate([X, X], axis=None), "NE658"),
        (lambda: np.outer(X, V), "NE658"),
        (lambda: np.where(X > 0), "NE658"),
        (lambda: np.zeros_like(X, shape=3), "NE658"),
        (lambda: np.roll(X, V.long(), axis="C"), "NE658"),
        (lambda: np.full_like(V, X), "NE658"),
        (lambda: np.sum(X, where=(X > 1).rename(C="D")), "NE470"),
        (lambda: np.where(X > 0, V.rename(C="D"), 0), "NE470"),
        (lambda: np.clip(X, V.rename(C="N"), 9), "NE470"),
        (lambda: np.average(X, axis="C", weights=V.rename(C="D")), "NE470"),
        (lambda: np.average(X, axis="N", weights=V), "NE470"),
        (lambda: np.concatenate([X, X.rename(C="D")]), "NE470"),
        (lambda: np.vstack([V, X.rename(C="D")]), "NE470"),
        (lambda: np.array_equal(X, X.rename(C="D")), "NE470"),
        (lambda: np.allclose(X, V.rename(C="N")), "NE470"),
        (lambda: np.isclose(X, X.align_to("C", "N")), "NE470"),
        (lambda: np.take_along_axis(X, X.long().rename(N="M"), "C"), "NE470"),
        (lambda: np.quantile(X, K.rename(K="N") / 9, axis="C"), "NE473"),
        (lambda: np.inner(X, X), "NE473"),
        (lambda: np.take(X, ne.tensor([[0]], names="N q"), axis="C"), "NE411"),
        (lambda: np.dot(X, X), "NE372"),
        (lambda: np.inner(X, K), "NE372"),
        (lambda: np.concatenate([X, V]), "NE385"),
        (lambda: np.concatenate([X, CUBE[0].rename(None)], axis=0), "NE386"),
        (lambda: np.sum(X, out=np.zeros(())), "NE660"),
        (lambda: np.sum(np.ones(2), where=True, out=ne.zeros(2)), "NE371"),
        (lambda: np.sum(X, axis="C", out=ne.zeros(2, names="M")), "NE472"),
        (lambda: np.squeeze(X, axis="N"), "NE661"),
        (lambda: np.split(X, 2, axis="C"), "NE661"),
        (lambda: np.take(X, 7, axis="C"), "NE661"),
        (lambda: np.expand_dims(X, 7), "NE661"),
        (lambda: np.broadcast_to(X, (3, 3)), "NE661"),
        (lambda: np.broadcast_to(X, 3), "NE661"),
        (lambda: np.where(X > 0, np.ma.array([1, 2, 3]), 0), "NE654"),
        (lambda: np.concatenate([X, np.matrix([[1, 2, 3]])]), "NE654"),
        (lambda: np.reshape(X, (3, 2)), "NE658"),
        (lambda: np.linalg.inv(X), "NE658"),
    ],
)
def test_mistakes_are_explained(use: Callable[[], Any], code: str) -> None:
    before = X.numpy().copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        with pytest.raises(NameExprError) as caught:
            use()
    assert caught.value.code == code
    assert caught.value.code != "NE658" or isinstance(caught.value, TypeError)
    np.testing.assert_array_equal(X.numpy(), before)


@pytest.mark.parametrize(
    ("use", "way_out"),
    [
        (lambda: np.reshape(X, (3, 2)), "np.reshape.*flatten and unflatten"),
        (lambda: np.einsum("ij->ji", X), r"np.einsum.*ne\.einsum"),
        (lambda: np.save("x.npy", X), r"np.save.*ne\.save"),
        (lambda: np.linalg.inv(X), r"np.linalg.inv.*x\.numpy\(\)"),
        (lambda: np.fft.fft(X), r"np.fft.fft.*x\.numpy\(\)"),
        (lambda: np.unique(X), r"np.unique.*x\.numpy\(\)"),
        (lambda: np.copyto(np.ones((2, 3)), X), r"np.copyto.*x\[\.\.\.\]"),
    ],
)
def test_functions_that_know_no_names_tell_the_way_out(use: Callable[[], Any], way_out: str) -> None:
    with pytest.raises(NameExprError, match=f"(?s){way_out}") as caught:
        use()
    assert caught.value.code == "NE658" and isinstance(caught.value, TypeError)


def test_hints_are_for_functions_of_numpy_that_are_not_in_the_table() -> None:
    assert all(resolve(name) and resolve(name) not in TABLE for name in HINTS)


def test_other_types_with_a_protocol_are_asked() -> None:
    class Other:
        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> str:
            return f"{func.__name__} of Other"

    assert np.concatenate([X, Other()]) == "concatenate of Other"
    assert np.concatenate([Other(), X]) == "concatenate of Other"


def test_a_result_with_other_dims_than_the_rule_gave_is_refused() -> None:
    with pytest.raises(NameExprError, match="NE658"):
        named(X, np.ones(2), NC, "np.new")


EXPLICIT = """
array asarray asanyarray asarray_chkfinite ascontiguousarray asfortranarray require asmatrix bmat from_dlpack
fromiter frombuffer
"""
"""Functions that make an array of anything: they are requested one."""
IMPURE = """
test info show_config show_runtime seterr seterrcall setbufsize set_printoptions printoptions errstate
load loadtxt genfromtxt fromfile fromregex fromstring get_include save savez savez_compressed savetxt
"""
"""Functions that are about files and settings."""


def public_functions() -> list[Any]:
    found = []
    for prefix, module in (("", np), ("linalg.", np.linalg), ("fft.", np.fft)):
        for name in dir(module):
            function = getattr(module, name)
            is_skipped = name.startswith("_") or name in (EXPLICIT + IMPURE).split()
            if callable(function) and not is_skipped and not isinstance(function, type | np.ufunc):
                found.append(pytest.param(function, id=prefix + name))
    return found


ATTEMPTS: list[Callable[[Any, Any, Any], tuple[Any, ...]]] = [
    lambda x, v, square: (x,),
    lambda x, v, square: (v,),
    lambda x, v, square: (square,),
    lambda x, v, square: (x.long(),),
    lambda x, v, square: (x, 1),
    lambda x, v, square: (x, x),
    lambda x, v, square: (x, [0, 1]),
    lambda x, v, square: (x, x > 1),
    lambda x, v, square: (x, v),
    lambda x, v, square: (x, 0, 1),
    lambda x, v, square: (x, x, x),
    lambda x, v, square: (x, x, 1),
    lambda x, v, square: (v, v, v),
    lambda x, v, square: ([x, x],),
    lambda x, v, square: (1, x),
    lambda x, v, square: (x.numpy(), x),
    lambda x, v, square: ((2, 3), x),
    lambda x, v, square: ("ij->ji", x),
    lambda x, v, square: (sum, 0, x),
]


def is_bare(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    if isinstance(value, dict):
        return any(map(is_bare, value.values()))
    return isinstance(value, list | tuple) and any(map(is_bare, value))


@pytest.mark.parametrize("function", public_functions())
def test_no_function_of_numpy_loses_names_in_silence(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    protocol = ne.NamedTensor.__array_function__
    spy = lambda self, *args: asked.append(args) or protocol(self, *args)  # noqa: E731
    monkeypatch.setattr(ne.NamedTensor, "__array_function__", spy)
    for attempt in ATTEMPTS:
        asked.clear()
        args = attempt(ne.tensor(X), ne.tensor(V), ne.tensor(CUBE[:, :2, 0]))
        result = outcome(function, args)
        if asked or isinstance(args[0], ne.NamedTensor):
            assert not is_bare(result), f"{args} give {result!r}"
        if asked:
            is_ours = isinstance(result, NameExprError) or not isinstance(result, Exception)
            assert is_ours, f"{args} raise {result!r}"


def outcome(function: Any, args: tuple[Any, ...]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except Exception as error:  # noqa: BLE001  whatever NumPy raises
            return error
