"""``python -m benchmarks.on_torch``: tensors of PyTorch on one thread: nameexpr, `torch.einsum` and code
by hand, forward, and forward with backward.

Every figure is the time of a peer divided by that of nameexpr, the median of interleaved rounds in one
process. A result that differs by more than rounding ends the run. `torch.einsum` orders contractions with
opt_einsum; "left to right" is the same without it.
"""

from __future__ import annotations

import argparse
import math
import statistics
import timeit
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch

import nameexpr as ne
from benchmarks.networks import Network, canonical, chain, regular, ring, state_product, tucker

Call = Callable[..., Any]
SHORTEST = 0.01
"""The seconds that a round takes at least."""


class TorchWorkload(NamedTuple):
    """A text, the shapes of its operands, and other functions of them by name."""

    group: str
    name: str
    text: str
    shapes: Sequence[tuple[int, ...]]
    peers: Mapping[str, Call]


def workloads() -> Iterator[TorchWorkload]:
    """Yield all workloads."""
    for name, (text, pattern, *shapes) in SMALL.items():
        yield TorchWorkload("4x4", name, text, shapes, {**_einsum(pattern), "hand": BARE[name]})
    for name, (text, pattern, *shapes) in PAIRS.items():
        yield TorchWorkload("pairs", name, text, shapes, _einsum(pattern))
    for network in _networks():
        peers = {**_einsum(network.symbols), "left to right": _left_to_right(network.symbols)}
        yield TorchWorkload("networks", network.name, network.text, network.shapes, peers)
    for name, (text, shapes, hand) in FORMULAS.items():
        yield TorchWorkload("formulas", name, text, shapes, {"hand": hand})


SMALL = {
    "mm": ("a b, b c -> a c", "ab,bc->ac", (4, 4), (4, 4)),
    "bmm": ("n a b, n b c -> n a c", "nab,nbc->nac", (3, 4, 4), (3, 4, 4)),
    "transpose": ("a b -> b a", "ab->ba", (4, 4)),
    "dot": ("a, a ->", "a,a->", (4,), (4,)),
    "multiply": ("a b, a b -> a b", "ab,ab->ab", (4, 4), (4, 4)),
    "sum": ("a b -> a : sum", "ab->a", (4, 4)),
}
BARE: Mapping[str, Call] = {
    "mm": torch.mm,
    "bmm": torch.bmm,
    "transpose": torch.t,
    "dot": torch.dot,
    "multiply": torch.mul,
    "sum": lambda x: torch.sum(x, 1),
}
PAIRS = {
    "gemm": ("a b, b c -> a c", "ab,bc->ac", (300, 300), (300, 300)),
    "gemm nt": ("a b, c b -> a c", "ab,cb->ac", (300, 300), (300, 300)),
    "bmm": ("n a b, n b c -> n a c", "nab,nbc->nac", (32, 64, 64), (32, 64, 64)),
    "queries keys": ("b q h d, b k h d -> b h q k", "bqhd,bkhd->bhqk", (4, 128, 8, 64), (4, 128, 8, 64)),
    "weights values": ("b h q k, b k h d -> b q h d", "bhqk,bkhd->bqhd", (4, 8, 128, 128), (4, 128, 8, 64)),
    "heads": ("b t h d, h d k -> b h t k", "bthd,hdk->bhtk", (4, 128, 8, 64), (8, 64, 64)),
    "inner products": ("n d, n d -> n", "nd,nd->n", (20000, 16), (20000, 16)),
    "hadamard": ("a b, a b -> a b", "ab,ab->ab", (500, 500), (500, 500)),
    "outer": ("a, b -> a b", "a,b->ab", (1000,), (1000,)),
    "batch last": ("a b n, b c n -> a c n", "abn,bcn->acn", (16, 16, 256), (16, 16, 256)),
    "summed first": ("a b c, c d -> a d : sum", "abc,cd->ad", (64, 32, 64), (64, 64)),
    "tccg": ("a e b f, d f c e -> a b c d", "aebf,dfce->abcd", (16,) * 4, (16,) * 4),
    "matrix vector": ("a b, b -> a", "ab,b->a", (1000, 1000), (1000,)),
    "many 4x4": ("n a b, n b c -> n a c", "nab,nbc->nac", (20000, 4, 4), (20000, 4, 4)),
}
"""Texts of two operands, what `torch.einsum` takes, and shapes."""


def _networks() -> list[Network]:
    """Return networks that `torch.einsum` has letters for."""
    return [
        chain(10, 10, 300),
        ring(12, 4, 12),
        state_product(16, 16),
        regular(16, 2, 3),
        tucker(30, 8),
        canonical(30, 10),
    ]


def _attention(q: Any, k: Any, v: Any) -> Any:
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    weights = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1)
    return (weights @ v).transpose(1, 2)


def _layer_norm(x: Any, w: Any, b: Any) -> Any:
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt((centred * centred).mean(-1, keepdim=True) + 1e-5) * w + b


def _distances(x: Any, y: Any) -> Any:
    return torch.sqrt(((x[:, None] - y) ** 2).sum(-1) + 1e-6)


FORMULAS: Mapping[str, tuple[str, tuple[tuple[int, ...], ...], Call]] = {
    "attention": (
        """s[b h q k] = sum[d](q_[b q h d] * k_[b k h d]) / sqrt(size[d])
        p[b h q k] = softmax[k](s)
        y[b q h d] = sum[k](p * v_[b k h d])""",
        ((4, 256, 8, 64),) * 3,
        _attention,
    ),
    "layer norm": (
        """c[n d] = x[n d] - mean[d](x)
        y[n d] = c / sqrt(mean[d](c * c) + 1e-5) * w[d] + b[d]""",
        ((2048, 512), (512,), (512,)),
        _layer_norm,
    ),
    "distances": (
        "y[i j] = sqrt(sum[d]((x[i d] - z[j d]) ** 2) + 1e-6)",
        ((300, 64), (300, 64)),
        _distances,
    ),
    "perceptron": (
        "h[n k] = gelu(sum[d](x[n d] * w[d k]) + b[k]); y[n m] = sum[k](h * v[k m])",
        ((512, 256), (256, 1024), (1024,), (1024, 256)),
        lambda x, w, b, v: torch.nn.functional.gelu(x @ w + b) @ v,
    ),
}
"""Formulas, the shapes of their operands in order, and code by hand."""


def _einsum(pattern: str) -> dict[str, Call]:
    return {"torch.einsum": lambda *operands: torch.einsum(pattern, *operands)}


def _left_to_right(pattern: str) -> Call:
    def call(*operands: Any) -> Any:
        options = torch.backends.opt_einsum
        options.enabled = False  # type: ignore[assignment]
        try:
            return torch.einsum(pattern, *operands)
        finally:
            options.enabled = True  # type: ignore[assignment]

    return call


def ours(text: str) -> Call:
    """Return a text as a function of tensors by position; an expression is called by its text."""
    if "->" in text:
        return lambda *operands: ne.einsum(text, *operands)
    compiled = ne.compile(text)
    names = compiled.operands
    return lambda *operands: compiled(**dict(zip(names, operands, strict=True)))


def measure(workload: TorchWorkload, rounds: int, *, has_backward: bool) -> dict[str, float]:
    """Return the ratio of each peer by name, and as "ours" the seconds of nameexpr."""
    generator = torch.Generator().manual_seed(0)
    operands = [torch.rand(shape, generator=generator) for shape in workload.shapes]
    calls = {"ours": ours(workload.text), **workload.peers}
    expected = calls["ours"](*operands)
    for name, call in calls.items():
        scale = expected.abs().max()
        assert torch.allclose(call(*operands) / scale, expected / scale, 1e-3, 1e-4), (workload.name, name)
    if has_backward:
        operands = [one.requires_grad_() for one in operands]
        weights = torch.ones_like(expected)
        runs = {name: _gradients(call, operands, weights) for name, call in calls.items()}
    else:
        runs = {name: _applied(call, operands) for name, call in calls.items()}
    counts = {name: max(1, int(SHORTEST / timeit.timeit(run, number=1))) for name, run in runs.items()}
    found: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds):
        for name in list(runs)[:: 1 if number % 2 else -1]:
            found[name].append(timeit.timeit(runs[name], number=counts[name]) / counts[name])
    mine = found.pop("ours")
    pairs = {name: zip(times, mine, strict=True) for name, times in found.items()}
    ratios = {name: statistics.median([a / b for a, b in both]) for name, both in pairs.items()}
    return {**ratios, "ours": min(mine)}


def _applied(call: Call, operands: Sequence[Any]) -> Call:
    if len(operands) == 1:
        (only,) = operands
        return lambda: call(only)
    if len(operands) == 2:
        one, other = operands
        return lambda: call(one, other)
    return lambda: call(*operands)


def _gradients(call: Call, operands: Sequence[Any], weights: Any) -> Call:
    return lambda: torch.autograd.grad(call(*operands), operands, weights)


def geomean(ratios: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main() -> None:
    """Measure everything, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.on_torch", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: to look at, not to quote")
    parser.add_argument("--group", choices=["4x4", "pairs", "networks", "formulas"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    ratios: dict[tuple[str, str, str], list[float]] = {}
    for workload in workloads():
        if options.group not in (None, workload.group):
            continue
        for way in ("forward", "with backward"):
            found = measure(workload, 5 if options.quick else 31, has_backward=way != "forward")
            mine = found.pop("ours")
            for peer, ratio in found.items():
                ratios.setdefault((workload.group, way, peer), []).append(ratio)
            shown = ", ".join(f"{peer} {ratio:.2f}" for peer, ratio in found.items())
            title = f"{workload.group:9} {workload.name:16} {way:14}"
            print(f"{title} {mine * 1e6:10.2f} us  {shown}", flush=True)
    for (group, way, peer), every in ratios.items():
        print(f"{group}, {way}: {peer} takes {geomean(every):.2f} times as long (at least {min(every):.2f})")


if __name__ == "__main__":
    main()
