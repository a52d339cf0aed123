"""A check that fails leaves every tensor as it was: in place, and with `out=`.

The operators come from the table `OPS`; one that writes and is not tried makes a test fail.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.errors import NameExprError
from nameexpr.tensors.ops import OPS
from unit.tensors.state import fails, frozen, mask, matrix, ones, state, tensors_in

Make = Callable[[], tuple[Any, ...]]
for each in ne.__all__:
    getattr(ne, each)  # modules are imported on first use, and fill the table then


def vector(dtype: object = float) -> ne.NamedTensor:
    return ones(2, names="N", dtype=dtype)


def batch(dtype: object = float) -> ne.NamedTensor:
    return ones(2, 3, 4, names="N A B", dtype=dtype)


def given(*arguments: Any) -> Make:
    """Return a function that makes the arguments again for each call."""
    return lambda: tuple(each() if callable(each) else each for each in arguments)


def takes_out(name: str) -> bool:
    method = getattr(ne.NamedTensor, name, None)
    return callable(method) and "out" in inspect.signature(method).parameters and not name.endswith("_")


def needs_nothing(name: str) -> bool:
    _, *parameters = inspect.signature(getattr(ne.NamedTensor, name)).parameters.values()
    return all(each.default is not each.empty or each.kind is each.VAR_KEYWORD for each in parameters)


nothing, other = given(), given(matrix)

UNARY = [name for name in OPS if takes_out(name) and needs_nothing(name)]
PAIRED = [name for name in OPS if takes_out(name) and OPS[name].rule == "unifies"]
INTEGERS = {"bitwise_not", "bitwise_and", "bitwise_or", "bitwise_xor"}

CALLS: dict[str, tuple[Callable[..., ne.NamedTensor], Make]] = {
    **dict.fromkeys(UNARY, (matrix, nothing)),
    **dict.fromkeys(PAIRED, (matrix, other)),
    "clamp": (matrix, given(0.0, 0.5)),
    "cumsum": (matrix, given("C")),
    "cumprod": (matrix, given("C")),
    "logsumexp": (matrix, given("C")),
    "masked_fill": (matrix, given(lambda: mask(2, 3, names="N C"), 0.5)),
    "masked_select": (matrix, given(lambda: mask(2, 3, names="N C"))),
    "index_fill": (matrix, given("C", (0, 2), 0.5)),
    "matmul": (matrix, given(lambda: ones(3, 4, names="K D"))),
    "mm": (matrix, given(lambda: ones(3, 4, names="K D"))),
    "mv": (matrix, given(lambda: ones(3, names="K"))),
    "bmm": (batch, given(lambda: ones(2, 4, 5, names="N K D"))),
    "dot": (vector, given(vector)),
    "addmm": (matrix, given(lambda: ones(2, 4, names="N K"), lambda: ones(4, 3, names="L C"))),
    "addmv": (vector, given(lambda: ones(2, 4, names="N K"), lambda: ones(4, names="L"))),
}
"""Of each method that takes `out=`: the tensor, and arguments that fit it."""

FILLS: dict[str, Make] = {
    "fill_": given(0.5),
    "zero_": nothing,
    "copy_": other,
    "bernoulli_": given(0.5),
    "normal_": nothing,
    "log_normal_": nothing,
    "uniform_": nothing,
    "exponential_": nothing,
    "cauchy_": nothing,
    "random_": given(0, 2),
}
"""Of each method that only writes: arguments that fit."""

OWN_CHECKS: dict[str, list[tuple[ne.NamedTensor, Callable[[ne.NamedTensor], object]]]] = {
    "requires_grad_": [(matrix().long(), lambda x: x.requires_grad_())],
    "detach_": [],  # takes nothing and changes nothing
    "rename_": [
        (matrix(), lambda x: x.rename_("A")),
        (matrix(), lambda x: x.rename_("A", "A")),
        (matrix(), lambda x: x.rename_(N="1a")),
    ],
    "resize_": [(matrix(), lambda x: x.resize_(3, 2)), (ones(2, 3), lambda x: x.resize_(3, -2))],
    "resize_as_": [
        (matrix(), lambda x: x.resize_as_(ones(2, 3))),
        (matrix(), lambda x: x.resize_as_(ones(3, 2, names="N C"))),
        (matrix(), lambda x: x.resize_as_(np.ones((2, 3)))),
    ],
}
"""Methods that write no numbers: calls that each fail."""


def test_every_method_that_writes_is_tried() -> None:
    assert {name for name in OPS if takes_out(name)} == set(CALLS)
    in_place = {name for name in OPS if name.endswith("_")}
    twins = {name for name in in_place if OPS[name].twin_of}
    assert {OPS[name].twin_of for name in twins} <= set(CALLS)
    assert in_place - twins == {*FILLS, *OWN_CHECKS}


def dtype_for(name: str) -> type:
    return int if name.rstrip("_") in INTEGERS else float


def in_dtype(arguments: tuple[Any, ...], dtype: type) -> tuple[Any, ...]:
    return tuple(x.to(dtype) if isinstance(x, ne.NamedTensor) and x.dtype != bool else x for x in arguments)


TWINS = [name for name in OPS if OPS[name].twin_of]


def twin_call(name: str) -> tuple[ne.NamedTensor, tuple[Any, ...]]:
    """Return a tensor and arguments with which a method in place works."""
    make, arguments = CALLS[OPS[name].twin_of]
    return make(dtype_for(name)), in_dtype(arguments(), dtype_for(name))


@pytest.mark.parametrize("name", TWINS)
def test_what_the_following_tests_spoil_works_in_place(name: str) -> None:
    target, arguments = twin_call(name)
    array, names = target.numpy(), target.names
    with np.errstate(all="ignore"):
        assert getattr(target, name)(*arguments) is target
    assert target.numpy() is array and target.names == names


@pytest.mark.parametrize("name", [*TWINS, *FILLS])
def test_a_read_only_tensor_is_left_alone(name: str) -> None:
    target, arguments = twin_call(name) if name in TWINS else (matrix(), FILLS[name]())
    with np.errstate(all="ignore"):
        fault = fails(getattr(ne.NamedTensor, name), frozen(target), *arguments)
    assert fault.code == "NE576" and str(fault).startswith(f"OperandError[NE576]: {name}")


@pytest.mark.parametrize("name", [f"{name}_" for name in PAIRED if f"{name}_" in OPS])
def test_names_and_sizes_that_do_not_fit_leave_both_tensors_alone(name: str) -> None:
    method, dtype = getattr(ne.NamedTensor, name), dtype_for(name)
    target = matrix(dtype)
    fails(method, target, ones(3, names="Z", dtype=dtype), code="NE470")
    fails(method, target, ones(3, 2, names=(None, "N"), dtype=dtype), code="NE470")
    fails(method, target, ones(3, names="N", dtype=dtype), code="NE470")
    fails(method, target, ones(4, names="C", dtype=dtype), code="NE370")
    fails(method, target, ones(5, 2, 3, dtype=dtype), code="NE371")
    fails(method, ones(1, 3, names="N C", dtype=dtype), target, code="NE371")
    partly = ones(2, 3, names=("N", None), dtype=dtype)
    fails(method, partly, target, code="NE472")
    fails(method, partly, ones(2, names="N", dtype=dtype), code="NE471")
    fails(method, target, "C", code="NE575")


DTYPES = ("bool", "int64", "float64", "complex128", "object")


@pytest.mark.parametrize(("name", "dtype"), [(name, dtype) for name in TWINS for dtype in DTYPES])
def test_a_dtype_either_works_or_changes_nothing(name: str, dtype: str) -> None:
    make, arguments = CALLS[OPS[name].twin_of]
    target = make("int64").to(dtype)
    tensors = [target, *tensors_in(*arguments())]
    before = state(tensors)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        try:
            getattr(target, name)(*arguments())
        except NameExprError:
            assert state(tensors) == before
    assert target.dtype == np.dtype(dtype)


REAL = ("sin", "cos", "exp", "log", "sqrt", "rsqrt", "reciprocal", "sigmoid", "erf", "digamma", "atanh")


@pytest.mark.parametrize("name", [f"{name}_" for name in REAL])
def test_a_float_is_not_written_into_integers(name: str) -> None:
    with np.errstate(all="ignore"):
        fails(getattr(ne.NamedTensor, name), matrix(int), code="NE570")


@pytest.mark.parametrize("name", ["add_", "sub_", "mul_", "div_", "pow_"])
def test_a_complex_number_is_not_written_into_floats(name: str) -> None:
    fails(getattr(ne.NamedTensor, name), matrix(), matrix("complex128"), code="NE570")
    fails(getattr(ne.NamedTensor, name), matrix(), 1j, code="NE570")


@pytest.mark.parametrize("name", OWN_CHECKS)
def test_a_check_of_its_own_comes_before_any_change(name: str) -> None:
    for target, call in OWN_CHECKS[name]:
        fails(call, target)


def out_call(name: str) -> tuple[Callable[..., Any], list[Any], ne.NamedTensor]:
    """Return a method, arguments with which it works, the tensor among them, and its result."""
    make, arguments = CALLS[name]
    dtype = dtype_for(name)
    rest = in_dtype(arguments(), dtype)
    method = getattr(ne.NamedTensor, name)
    with np.errstate(all="ignore"):
        return method, [make(dtype), *rest], method(make(dtype), *rest)


@pytest.mark.parametrize("name", CALLS)
def test_an_out_that_does_not_fit_is_left_alone(name: str) -> None:
    method, arguments, result = out_call(name)
    names = [f"d{at}" for at in range(result.ndim + 1)]
    wider = ne.zeros(*result.shape, 2, names=names, dtype=result.dtype)
    readonly = frozen(ne.zeros(result.shape, dtype=result.dtype))
    with np.errstate(all="ignore"):
        fails(method, *arguments, out=wider, code="NE371")
        fails(method, *arguments, out=readonly, code="NE576")
        with pytest.raises(ne.OptionError):
            method(*arguments, out=np.zeros(result.shape))
        if result.ndim:
            renamed = ne.zeros(result.shape, names=names[:-1], dtype=result.dtype)
            fails(method, *arguments, out=renamed, code="NE472")
        if result.dtype.kind in "if":
            lower = ne.zeros(result.shape, dtype="int64" if result.dtype.kind == "f" else "bool")
            fails(method, *arguments, out=lower, code="NE570")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "cat": lambda out: ne.cat([matrix(), matrix()], "N", out=out),
    "stack": lambda out: ne.stack([vector(), vector()], name="M", out=out),
    "zeros": lambda out: ne.zeros(2, names="N", out=out),
    "ones": lambda out: ne.ones(2, names="N", out=out),
    "empty": lambda out: ne.empty(2, names="N", out=out),
    "rand": lambda out: ne.rand(2, names="N", out=out),
    "randn": lambda out: ne.randn(2, names="N", out=out),
    "normal": lambda out: ne.normal(vector(), 1.0, out=out),
}


def test_every_function_that_writes_is_tried() -> None:
    functions = {
        name
        for name in OPS
        if not hasattr(ne.NamedTensor, name)
        and callable(function := getattr(ne, name, None))
        and "out" in inspect.signature(function).parameters
    }
    assert functions == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_out_of_a_function_that_does_not_fit_is_left_alone(name: str) -> None:
    call = FUNCTIONS[name]
    shape = call(None).shape
    names = [f"d{at}" for at in range(len(shape))]
    fails(call, out=ne.zeros(shape, names=names), code="NE472")
    fails(call, out=ne.zeros(*shape, 2, names=[*names, "last"]), code="NE371")
    fails(call, out=ne.zeros(shape, dtype=int), code="NE570")
    fails(call, out=frozen(ne.zeros(shape)), code="NE576")
    with pytest.raises(ne.OptionError):
        call(out=np.zeros(shape))
