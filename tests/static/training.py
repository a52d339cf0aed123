"""Training, data with coordinates, and helpers around texts. Checked as `user_code.py` is, never executed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any, Protocol, TypeAlias, TypeVar, assert_type, overload

import numpy as np
import numpy.typing as npt
import xarray as xr

import nameexpr as ne
from nameexpr import NamedTensor
from nameexpr.typing import ArrayLike, Operand

Floats: TypeAlias = npt.NDArray[np.float64]
Params: TypeAlias = dict[str, NamedTensor]
T = TypeVar("T", Floats, NamedTensor)

FORWARD = ne.compile("""
    z[N K] = sum[C](x[N C] * w[C K]) + b[K]
    p = softmax[K](z[N K])
""")
LOSS = ne.compile("-mean[N](sum[K](y[N K] * log(p[N K] + eps)))")
GRADIENT: ne.Compiled = ne.compile("N C, N K -> C K")


class Model(Protocol):
    """What is trained: it has parameters, and gives probabilities."""

    @property
    def params(self) -> Params: ...

    def __call__(self, x: NamedTensor) -> NamedTensor: ...


@dataclass(frozen=True)
class Linear:
    """Softmax regression: its texts are fields, each compiled once."""

    params: Params
    forward: ne.Compiled = FORWARD
    normalise: ne.Compiled = field(default_factory=lambda: ne.compile("N C -> N C"), repr=False)

    def __call__(self, x: NamedTensor) -> NamedTensor:
        return self.forward(x=x, w=self.params["w"], b=self.params["b"])

    def updated(self, gradients: Mapping[str, NamedTensor], rate: float) -> Linear:
        new = {name: value - rate * gradients[name] for name, value in self.params.items()}
        return replace(self, params=new)


@dataclass
class Adam:
    """Moments by the name of their parameter."""

    rate: float = 1e-3
    first: Params = field(default_factory=dict[str, NamedTensor])
    second: Params = field(default_factory=dict[str, NamedTensor])

    def step(self, name: str, gradient: NamedTensor, at: int) -> NamedTensor:
        first = 0.9 * self.first.get(name, gradient * 0) + 0.1 * gradient
        second = 0.999 * self.second.get(name, gradient * 0) + 0.001 * gradient**2
        self.first[name], self.second[name] = first, second
        change = (first / (1 - 0.9**at)) / ((second / (1 - 0.999**at)).sqrt() + 1e-8)
        assert_type(change, NamedTensor)
        return self.rate * change


def batches(x: NamedTensor, y: NamedTensor, size: int) -> Iterator[tuple[NamedTensor, NamedTensor]]:
    order = np.random.default_rng(0).permutation(x.size("N"))
    for start in range(0, len(x), size):
        chosen = order[start : start + size]
        yield x[chosen], y.index_select("N", chosen)


def gradients(model: Linear, x: NamedTensor, y: NamedTensor) -> tuple[float, Params]:
    p = model(x)
    loss = LOSS(y=y, p=p, eps=1e-12)
    assert_type(loss, NamedTensor)
    error = (p - y) / x.size("N")
    found = {"w": GRADIENT(x, error), "b": error.sum("N")}
    assert_type(found, dict[str, NamedTensor])
    return loss.item(), found


def train(model: Linear, x: NamedTensor, y: NamedTensor, epochs: int = 3) -> Linear:
    optimiser, at = Adam(), 0
    for epoch in range(epochs):
        losses: list[float] = []
        for part, labels in batches(x, y, 32):
            at += 1
            loss, found = gradients(model, part, labels)
            steps = {name: optimiser.step(name, value, at) for name, value in found.items()}
            model = model.updated(steps, rate=1.0)
            losses.append(loss)
        right = model(x).max("K").indices == y.max("K").indices
        assert_type(right, NamedTensor)
        print(f"{epoch}: {np.mean(losses):.3f}, {float(right.double().mean()):.1%}")
    return model


def described(model: Linear, x: NamedTensor) -> str:
    sizes = ne.check("N C, C K", x, model.params["w"])
    assert_type(sizes["N"], int)
    plan = model.forward.plan(x=x, w=model.params["w"], b=model.params["b"])
    assert_type(plan.flops, int)
    assert_type(plan.peak_bytes, int)
    text = ne.explain("N C, C K -> N K", x.shape, model.params["w"].shape)
    return f"{text}\n{plan}\n{ne.compile('N C, C K -> N K').plan((2, 3), (3, 4)).code}\n{sizes['N']}"


def anomalies(data: xr.DataArray) -> xr.DataArray:
    """Return data with the same coordinates, computed with their names."""
    x = ne.from_xarray(data)
    assert_type(x, NamedTensor)
    centred = x.by_name - x.mean("month")
    scaled = ne.evaluate("y[station month] = c / std[month](c[station month])", c=centred)
    assert_type(scaled, NamedTensor)
    assert_type(ne.einsum("station month -> station : mean", data), NamedTensor)
    assert_type(x + data, NamedTensor)
    return scaled.to_xarray()


@overload
def halved(x: NamedTensor) -> NamedTensor: ...
@overload
def halved(x: ArrayLike) -> npt.NDArray[Any]: ...
def halved(x: Operand) -> Operand:
    return ne.evaluate("x / 2", x=x)


def kept(x: T, step: Callable[[T], T]) -> T:
    return step(step(x))


def fitted(line: ne.GradientFunction, x: Floats, y: Floats) -> dict[str, Any]:
    packed = line.bind(x=x, y=y).packed(a=0, b=1.0)
    assert_type(packed.fun(packed.x0)[0], float)
    step = np.linalg.solve(packed.hess(packed.x0), packed.fun(packed.x0)[1])
    assert_type(packed.bounds(a=(0, None)).shape, tuple[int, int])
    return packed.unpack(packed.x0 - step)


def mixed(array: Floats, x: NamedTensor, either: Floats | NamedTensor) -> None:
    assert_type(halved(x), NamedTensor)
    assert_type(halved(array), npt.NDArray[Any])
    assert_type(halved([1.0, 2.0]), npt.NDArray[Any])
    assert_type(kept(x, lambda t: t.exp()), NamedTensor)
    assert_type(x + either, NamedTensor)
    assert_type(x.where(x > 0, either), NamedTensor)
    assert_type(ne.maximum(array, x), NamedTensor)
    assert_type(ne.einsum("a b, b -> a", x, either), NamedTensor)
    assert_type(ne.stack([x, x], name="pair"), NamedTensor)
    assert_type(reduce(lambda a, b: a @ b, [x, x, x]), NamedTensor)
    assert_type(x.names, tuple[str | None, ...])
    assert_type(x.isel(N=0, C=slice(1, None)), NamedTensor)
    assert_type(x.sizes, dict[str | int, int])
    assert_type(x.unflatten("C", {"h": 2, "d": 4}), NamedTensor)
    assert_type(x.clamp(min=0).clip(max=array), NamedTensor)


def partially(x: NamedTensor, w: Floats, q: Floats) -> None:
    total = partial(NamedTensor.sum, dim="C")
    assert_type(total(x), NamedTensor)
    rowwise: list[Callable[[NamedTensor], NamedTensor]] = [NamedTensor.exp, lambda t: t.softmax("C")]
    assert_type([step(x) for step in rowwise], list[NamedTensor])
    apply: ne.Compiled = ne.compile("N C, C K -> N K")
    layer = apply.bind({1: w})
    assert_type(layer(x), NamedTensor)
    assert_type(layer(q), npt.NDArray[Any])
    texts: Mapping[str, ne.Compiled] = {
        "sum": ne.compile("N C -> N : sum"),
        "max": ne.compile("N C -> N : max"),
    }
    assert_type({name: text(x) for name, text in texts.items()}, dict[str, NamedTensor])


def ordered(models: Mapping[str, Model], x: NamedTensor) -> list[tuple[str, float]]:
    found = [(name, float(model(x).max("K").values.mean())) for name, model in models.items()]
    assert_type(found, list[tuple[str, float]])
    return sorted(found, key=lambda pair: pair[1])


def safely(text: str, *operands: Operand) -> NamedTensor | npt.NDArray[Any] | None:
    try:
        return ne.einsum(text, *operands)
    except (ne.SizeError, ne.DimNameError) as wrong:
        assert_type(wrong.code, str)
        print(wrong.code, wrong.hint)
        return None
