"""Reading at positions that are data equals nested loops, and no position is wrapped or clamped."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import xarray as xr

import nameexpr as ne

Array = np.ndarray[Any, np.dtype[Any]]
RNG = np.random.default_rng(15)
DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def looped(
    x: Array, dims: Sequence[Callable[[Mapping[str, int]], int]], sizes: Mapping[str, int], result: str
) -> Array:
    """The array whose cell at some indices is that of x at the positions which `dims` gives for them."""
    labels = result.split()
    made = np.empty([sizes[label] for label in labels], x.dtype)
    for indices in itertools.product(*[range(sizes[label]) for label in labels]):
        at = dict(zip(labels, indices, strict=True))
        made[indices] = x[tuple([dim(at) for dim in dims])]
    return made


def plain(label: str) -> Callable[[Mapping[str, int]], int]:
    return lambda at: at[label]


def through(positions: Array, term: str) -> Callable[[Mapping[str, int]], int]:
    return lambda at: int(positions[tuple([at[label] for label in term.split()])])


def numbers(dtype: str, *shape: int) -> Array:
    return (RNG.standard_normal(shape) * 50).astype(dtype)


def same(made: Any, wanted: Array) -> None:
    assert made.dtype == wanted.dtype
    assert made.shape == wanted.shape
    assert np.array_equal(made, wanted)


Layout = Callable[[Array], Array]
LAYOUTS: Sequence[Layout] = (
    np.ascontiguousarray,
    np.asfortranarray,
    lambda x: np.repeat(x, 2, -1)[..., ::2] if x.ndim else x,
    lambda x: np.ascontiguousarray(x[::-1])[::-1] if x.ndim else x,
    lambda x: x.astype(x.dtype.newbyteorder(">")) if x.dtype.itemsize > 1 else x,
)
FORMS: Mapping[str, tuple[str, Callable[[Array, Array, Array], Sequence[Any]]]] = {
    "y[B T D] = x[V@i[B T] D]": ("V D", lambda x, i, j: [through(i, "B T"), plain("D")]),
    "y[B T D] = x[D V@i[B T]]": ("D V", lambda x, i, j: [plain("D"), through(i, "B T")]),
    "y[B T D] = x[B V@i[B T] D]": ("B V D", lambda x, i, j: [plain("B"), through(i, "B T"), plain("D")]),
    "y[T B D] = x[B D V@i[B T]]": ("B D V", lambda x, i, j: [plain("B"), plain("D"), through(i, "B T")]),
    "y[B T D] = x[V@i[B T] D W@j[B T]]": (
        "V D W",
        lambda x, i, j: [through(i, "B T"), plain("D"), through(j, "B T")],
    ),
    "y[B T D] = x[B V@i[B T] W@j[B T] D]": (
        "B V W D",
        lambda x, i, j: [plain("B"), through(i, "B T"), through(j, "B T"), plain("D")],
    ),
    "y[B T b t D] = x[V@i[B T] W@j[b t] D]": (
        "V W D",
        lambda x, i, j: [through(i, "B T"), through(j, "b t"), plain("D")],
    ),
}
SIZES = {"B": 3, "T": 2, "V": 5, "W": 4, "D": 3, "b": 3, "t": 2}


def given(form: str, dtype: str, sizes: Mapping[str, int]) -> tuple[dict[str, Array], Array]:
    """Operands of a form, and what it gives."""
    dims, reads = FORMS[form]
    x = numbers(dtype, *[sizes[label] for label in dims.split()])
    i = RNG.integers(0, max(1, sizes["V"]), (sizes["B"], sizes["T"]))
    j = RNG.integers(0, max(1, sizes["W"]), (sizes["B"], sizes["T"]))
    wanted = looped(x, reads(x, i, j), sizes, form[2 : form.index("]")])
    operands = {"x": x, "i": i, "j": j} if "j[" in form else {"x": x, "i": i}
    return operands, wanted


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_gather_equals_loops(form: str, dtype: str) -> None:
    operands, wanted = given(form, dtype, SIZES)
    same(ne.evaluate(form, operands=operands), wanted)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
@pytest.mark.parametrize("size", [5, 60])
def test_a_gather_equals_loops_in_every_layout(form: str, layout: int, size: int) -> None:
    """A table that is larger than the result is not copied."""
    operands, wanted = given(form, "float64", {**SIZES, "V": size})
    operands["x"] = LAYOUTS[layout](operands["x"])
    found = ne.evaluate(form, operands=operands)
    assert np.array_equal(found, wanted)
    operands["i"] = LAYOUTS[layout](operands["i"])
    assert np.array_equal(ne.evaluate(form, operands=operands), wanted)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("label", "BTVWD")
@pytest.mark.parametrize("size", [0, 1])
def test_a_gather_of_nothing_or_of_one_element_equals_loops(form: str, label: str, size: int) -> None:
    sizes = {**SIZES, label: size}
    sizes |= {"b": sizes["B"], "t": sizes["T"]}
    if size == 0 and label in "VW" and f"{label}@" in form:
        sizes |= {"B": 0, "b": 0}  # nothing can be read of a dim without elements
    operands, wanted = given(form, "float64", sizes)
    same(ne.evaluate(form, operands=operands), wanted)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_positions_have_any_integer_dtype(dtype: str) -> None:
    x, i = numbers("float64", 5, 2), RNG.integers(0, 5, (3, 2)).astype(dtype)
    same(ne.evaluate("y[B T D] = x[V@i[B T] D]", x=x, i=i), x[i.astype("int64")])
    same(ne.evaluate("y[B T D] = x[V@(4 - i[B T]) D]", x=x, i=i), x[4 - i.astype("int64")])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_position_outside_is_refused_in_any_integer_dtype(dtype: str) -> None:
    bad = [5, 100, np.iinfo(dtype).max] + ([-1, -5, np.iinfo(dtype).min] if dtype.startswith("i") else [])
    for position in bad:
        i = np.array([0, position, 1], dtype)
        with pytest.raises(ne.DimRangeError, match=rf"i is {position} at N=1, and C goes from 0 to 4"):
            ne.evaluate("x[C@i[N]]", x=np.ones(5), i=i)


@pytest.mark.parametrize("form", FORMS)
def test_every_position_of_every_form_is_checked(form: str) -> None:
    operands, _ = given(form, "float64", SIZES)
    for name, size in (("i", SIZES["V"]), ("j", SIZES["W"])):
        for bad in (-1, size):
            if name in operands:
                wrong = operands[name].copy()
                wrong[-1, -1] = bad
                with pytest.raises(ne.DimRangeError, match=f"{name} is {bad} at (B=2, T=1|b=2, t=1)"):
                    ne.evaluate(form, operands={**operands, name: wrong})


def test_the_operand_is_left_alone() -> None:
    x, i = numbers("float64", 5), np.array([3, 1])
    found = ne.evaluate("x[C@i[N]]", x=x, i=i)
    found[:] = 0
    assert (x != 0).all()
    assert i.tolist() == [3, 1]


def test_positions_of_positions_and_of_statements() -> None:
    x, i, j = numbers("float64", 6), np.array([5, 0, 3, 3]), np.array([2, 0])
    same(ne.evaluate("x[C@i[N@j[M]]]", x=x, i=i, j=j), x[i[j]])
    text = "y[C] = 2 * x[C]\nk[N] = minimum(i[N], 4)\ny[C@k[N]] + x[C@(k[N] + 1)]"
    k = np.minimum(i, 4)
    same(ne.evaluate(text, x=x, i=i), 2 * x[k] + x[k + 1])
    same(ne.evaluate("x[C@(argmax[C](x[C]))]", x=x), x.max())


def test_positions_meet_windows_and_parts() -> None:
    x, i = numbers("float64", 7, 4), np.array([3, 0, 2])
    rows = np.array([[x[t + d, i] for d in range(3)] for t in range(5)])
    same(ne.evaluate("y[t d N] = x[_@(t+d) C@i[N]]", x=x, i=i, sizes={"d": 3}), rows)
    same(ne.evaluate("y[T N] = x[(2 + T) C@i[N]]", x=x, i=i), x[2:][:, i])
    k = np.array([3, 0, 2, 1, 1])
    same(ne.evaluate("y[T] = x[(2 + T) C@k[T]]", x=x, k=k), x[np.arange(2, 7), k])


def test_numbers_are_positions() -> None:
    x = numbers("float64", 3, 5)
    same(ne.evaluate("x[N C@k[]]", x=x, k=2), x[:, 2])
    same(ne.evaluate("x[N C@k[]]", x=x, k=np.int8(2)), x[:, 2])
    assert ne.evaluate("x[N@k[] C@(k[] + 1)]", x=x, k=2) == x[2, 3]


def test_positions_keep_their_dtype_when_another_is_asked_for() -> None:
    x, i = numbers("float64", 300), np.array([299, 7])
    same(ne.evaluate("x[C@i[N]]", x=x, i=i, dtype="float32"), x.astype("float32")[i])


@pytest.mark.parametrize("n", [1, 2, 5])
def test_positions_that_follow_from_sizes_are_not_affine(n: int) -> None:
    x = numbers("float64", n, 4)
    k = np.arange(n)
    same(ne.evaluate("x[H@((H + 1) % size[H]) C]", x=x), x[(k + 1) % n])
    same(ne.evaluate("x[X@(X // 2) C]", x=x), x[k // 2])
    clipped = [x[np.clip(k + d - 1, 0, n - 1)] for d in range(3)]
    same(ne.evaluate("y[d X C] = x[X@(clip(X+d-1, 0, size[X]-1)) C]", x=x, sizes={"d": 3}), np.stack(clipped))


def test_only_positions_that_may_leave_their_dim_are_checked() -> None:
    def checks(text: str, **operands: Any) -> int:
        return ne.compile(text).plan(**operands).code.count("inside(")

    x, i = np.ones(6), np.array([0, 1])
    assert checks("x[X@((X + 1) % size[X])]", x=x) == 0
    assert checks("x[X@(i[N] % 6)]", x=x, i=i) == 0
    assert checks("x[X@(clip(i[N], 0, 5))]", x=x, i=i) == 0
    assert checks("x[X@(i[N] % 7)]", x=x, i=i) == 1
    assert checks("x[X@i[N]] + x[X@i[N]]", x=x, i=i) == 1


def test_tensors_give_names_and_positions() -> None:
    x = ne.tensor(numbers("float64", 5, 2), names="vocab D")
    ids = ne.tensor(np.array([[1, 4, 0]]), names="B T")
    found = ne.evaluate("y[B T D] = x[vocab@ids[B T] D]", x=x, ids=ids)
    assert found.names == ("B", "T", "D")
    same(found.numpy(), x.numpy()[ids.numpy()])
    with pytest.raises(ne.DimNameError):
        ne.evaluate("y[B T D] = x[words@ids[B T] D]", x=x, ids=ids)
    with pytest.raises(ne.DimRangeError):
        ne.evaluate("y[B T D] = x[vocab@(ids[B T] + 1) D]", x=x, ids=ids)


def test_coordinates_of_dims_that_are_not_read_at_positions_stay() -> None:
    x = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("N", "C"), coords={"N": ["a", "b"], "C": [5, 6, 7]})
    i = xr.DataArray([[2, 0], [1, 1]], dims=("N", "K"), coords={"K": [1.5, 2.5]})
    found = ne.evaluate("y[N K] = x[N C@i[N K]]", x=x, i=i).to_xarray()
    assert list(found.coords["N"]) == ["a", "b"]
    assert list(found.coords["K"]) == [1.5, 2.5]
    assert "C" not in found.coords
    rolled = ne.evaluate("y[N C] = x[N C@((C + 1) % size[C])]", x=x).to_xarray()
    assert list(rolled.coords["N"]) == ["a", "b"]
    assert "C" not in rolled.coords


def test_dims_under_an_ellipsis_meet() -> None:
    x, i = numbers("float64", 4, 2, 5), RNG.integers(0, 5, (2, 3))
    found = ne.evaluate("y[... K] = x[... C@i[... K]]", x=x, i=i)
    same(found, np.take_along_axis(x, np.broadcast_to(i, (4, 2, 3)), 2))


@pytest.mark.parametrize("form", FORMS)
def test_bound_operands_and_memory_limits_change_nothing(form: str) -> None:
    operands, wanted = given(form, "float64", {**SIZES, "B": 40, "b": 40})
    compiled = ne.compile(form)
    same(compiled.bind(i=operands["i"])(**{k: v for k, v in operands.items() if k != "i"}), wanted)
    same(compiled.bind(x=operands["x"])(**{k: v for k, v in operands.items() if k != "x"}), wanted)
    total = form.replace("= x", "= 2 * x")
    limit = wanted.nbytes + 20_000
    same(ne.evaluate(total, operands=operands, memory_limit=limit), 2 * wanted)
    operands["i"][0, 0] = -1
    with pytest.raises(ne.DimRangeError):
        ne.evaluate(total, operands=operands, memory_limit=limit)
    with pytest.raises(ne.DimRangeError):
        compiled.bind(i=operands["i"])(**{k: v for k, v in operands.items() if k != "i"})
