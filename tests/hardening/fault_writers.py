"""Every way to write into a tensor, each made again: the tensors that are written, and the call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import nameexpr as ne
from oracle.operators import BINARY, UNARY
from unit.tensors.test_writing_out import CALLS

LARGE = 10_000
"""Elements of a tensor over which kernels write directly."""


class Writer(NamedTuple):
    """One way to write: its name, and what makes the tensors and the call that writes into them."""

    name: str
    make: Callable[[], tuple[list[ne.NamedTensor], Callable[[], Any]]]


def writers() -> list[Writer]:
    """Return every way to write into a tensor."""
    return [*in_place(), *by_methods(), *by_out(), *by_numpy(), *by_programs()]


def tensor(*shape: int, names: object = None, dtype: object = float, low: float = 0.25) -> ne.NamedTensor:
    """Return a tensor of distinct numbers between 0 and 1."""
    count = int(np.prod(shape, dtype=int))
    return ne.tensor(np.linspace(low, low + 0.5, count).reshape(shape).astype(dtype), names=names)


def writer(name: str, make: Callable[[], ne.NamedTensor], call: Callable[[ne.NamedTensor], Any]) -> Writer:
    """Return a way to write into a single tensor."""

    def both() -> tuple[list[ne.NamedTensor], Callable[[], Any]]:
        target = make()
        return [target], partial(call, target)

    return Writer(name, both)


def in_place() -> Iterator[Writer]:
    """Twins of operators: into a tensor with the names of the result, without any, and into a large one."""
    matrix, named = partial(tensor, 2, 3), partial(tensor, 2, 3, names="N C")
    for name in sorted(UNARY):
        method = getattr(ne.NamedTensor, name + "_", None)
        if method is not None and name != "bitwise_not":
            yield writer(f"{name}_", named, method)
    for name in ("add", "sub", "mul", "div", "pow", "remainder", "atan2", "maximum", "floor_divide", "hypot"):
        method = getattr(ne.NamedTensor, name + "_", None)
        if method is not None:
            yield writer(f"{name}_", matrix, lambda x, m=method: m(x, tensor(2, 3, names="N C")))
    large = partial(tensor, LARGE, names="N")
    yield writer("large add_", large, lambda x: x.add_(1.5))
    yield writer("large exp_", large, lambda x: x.exp_())
    yield writer("large isub", large, lambda x: x.__isub__(tensor(LARGE, names="N")))
    yield writer("large add_ names", partial(tensor, LARGE), lambda x: x.add_(tensor(LARGE, names="N")))
    yield writer("isub", matrix, lambda x: x.__isub__(tensor(2, 3, names="N C")))
    yield writer("imatmul", partial(tensor, 2, 2), lambda x: x.__imatmul__(tensor(2, 2, names="A B")))
    yield writer("integers", partial(tensor, 3, dtype="float32"), lambda x: x.add_(tensor(3, names="N")))


def by_methods() -> Iterator[Writer]:
    """Assignments, fills, copies, other sizes, other names."""
    matrix, named = partial(tensor, 2, 3), partial(tensor, 2, 3, names="N C")
    mask = np.array([[True, False, True], [False, True, True]])
    named_mask = ne.tensor(mask, names="N C")
    seeded = partial(np.random.default_rng, 5)
    yield writer("item", named, lambda x: x.__setitem__(0, tensor(3, names="C", low=2)))
    yield writer("items", named, lambda x: x.__setitem__((slice(None), [0, 2]), 7))
    yield writer("masked items", named, lambda x: x.__setitem__(mask, 7))
    yield writer("fill_", named, lambda x: x.fill_(7))
    yield writer("zero_", named, lambda x: x.zero_())
    yield writer("copy_", matrix, lambda x: x.copy_(tensor(3, names="C", low=2)))
    yield writer(
        "copy_ cast", partial(tensor, 2, 3, dtype=int), lambda x: x.copy_(tensor(3, names="C", low=2))
    )
    yield writer("masked_fill_", matrix, lambda x: x.masked_fill_(named_mask, 7))
    yield writer("masked_fill_ named", named, lambda x: x.masked_fill_(named_mask, 7))
    yield writer("index_fill_", named, lambda x: x.index_fill_("C", [0, 2], 7))
    yield writer("clamp_", named, lambda x: x.clamp_(0.3, 0.4))
    yield writer("addmm_", matrix, lambda x: x.addmm_(tensor(2, 2, names="A B"), tensor(2, 3, names="C D")))
    yield writer("normal_", named, lambda x: x.normal_(generator=seeded()))
    yield writer("uniform_", named, lambda x: x.uniform_(generator=seeded()))
    yield writer("bernoulli_", named, lambda x: x.bernoulli_(generator=seeded()))
    yield writer("random_", named, lambda x: x.random_(9, generator=seeded()))
    yield writer("resize_", matrix, lambda x: x.resize_(3, 2))
    yield writer("resize_as_", matrix, lambda x: x.resize_as_(tensor(3, 2, names="A B")))
    yield writer("resize_as_ same", matrix, lambda x: x.resize_as_(named()))
    yield writer("rename_", named, lambda x: x.rename_("A", "B"))
    yield writer("names", named, lambda x: setattr(x, "names", "A B"))


def by_out() -> Iterator[Writer]:
    """`out=` of every operator: resized, without names, with those of the result, of another dtype."""
    for name, (function, call) in out_calls().items():
        if name == "empty":  # whose elements are whatever was in memory
            continue
        ne.manual_seed(3)
        wanted = call(function)
        wide = np.promote_types(wanted.dtype, np.float64)
        blanks = {
            "resized": lambda w=wanted: ne.tensor(np.empty(0, w.dtype)),
            "unnamed": lambda w=wanted: ne.from_numpy(np.full(w.shape, 1).astype(w.dtype)),
            "named": lambda w=wanted: ne.from_numpy(np.full(w.shape, 1).astype(w.dtype), names=w.names),
            "other dtype": lambda w=wanted, wide=wide: ne.from_numpy(np.full(w.shape, 1).astype(wide)),
        }
        for which, blank in blanks.items():
            yield writer(f"{name}, out= {which}", blank, partial(seeded_call, function, call))


def seeded_call(function: Callable[..., Any], call: Callable[..., Any], out: ne.NamedTensor) -> Any:
    """Call an operator with `out=`, such that random numbers are the same each time."""
    ne.manual_seed(3)
    return call(function, out=out)


def out_calls() -> dict[str, tuple[Any, Any]]:
    """Return a call of everything that takes `out=`."""
    x = tensor(2, 3, names="N C")
    calls = dict(CALLS)
    for name in ("exp", "abs", "erf", "sigmoid", "round", "isnan", "logical_not"):
        calls[name] = getattr(ne.NamedTensor, name), lambda call, **o: call(x, **o)
    for name in ("mul", "pow", "lt", "maximum", "logical_and"):
        if name in BINARY:
            calls[name] = getattr(ne.NamedTensor, name), lambda call, **o: call(x, x, **o)
    return calls


def by_numpy() -> Iterator[Writer]:
    """NumPy's own functions with a tensor as `out=`."""
    x = tensor(2, 3, names="N C")
    matrix, row = partial(tensor, 2, 3), partial(tensor, 3)
    yield writer("np.add", matrix, lambda out: np.add(x, x, out=out))
    yield writer("np.add where", matrix, lambda out: np.add(x, x, out=out, where=x.numpy() > 0.5))
    yield writer("np.add named", partial(tensor, 2, 3, names="N C"), lambda out: np.add(x, x, out=out))
    yield writer("np.add.reduce", row, lambda out: np.add.reduce(x, axis=0, out=out))
    yield writer("np.matmul", partial(tensor, 2), lambda out: np.matmul(x, tensor(3, names="C"), out=out))
    for name in ("sum", "mean", "var", "std", "amax", "median", "nanmean", "nanmedian", "prod"):
        yield writer(f"np.{name}", row, lambda out, name=name: getattr(np, name)(x, axis=0, out=out))
    yield writer("np.cumsum", matrix, lambda out: np.cumsum(x, axis=0, out=out))
    yield writer("np.round", matrix, lambda out: np.round(x, out=out))
    yield writer("np.clip", matrix, lambda out: np.clip(x, 0.3, 0.5, out=out))
    yield writer("np.quantile", row, lambda out: np.quantile(x, 0.5, axis=0, out=out))

    def several() -> tuple[list[ne.NamedTensor], Callable[[], Any]]:
        outs = tensor(2, 3), tensor(2, 3)
        return list(outs), lambda: np.modf(x, out=outs)

    yield Writer("np.modf", several)


def by_programs() -> Iterator[Writer]:
    """Expressions and formulas with `out=`: by text, compiled, bound."""
    x, w = tensor(2, 3, names="N C"), tensor(3, 4, names="C K")
    product, formula = "N C, C K -> N K", "sum[C](x[N C] * w[C K])"
    targets = {"unnamed": partial(tensor, 2, 4), "float32": partial(tensor, 2, 4, dtype="float32")}
    for which, make in targets.items():
        yield writer(f"einsum, {which}", make, lambda out: ne.einsum(product, x, w, out=out))
        compiled, bound = ne.compile(product), ne.compile(product).bind({1: w})
        compiled_formula = ne.compile(formula)
        yield writer(f"formula, {which}", make, lambda out, f=compiled_formula: f(x=x, w=w, out=out))
        yield writer(f"compiled, {which}", make, lambda out, f=compiled: f(x, w, out=out))
        yield writer(f"bound, {which}", make, lambda out, f=bound: f(x, out=out))
        bound_formula = ne.compile(formula).bind(w=w)
        yield writer(f"bound formula, {which}", make, lambda out, f=bound_formula: f(x=x, out=out))
