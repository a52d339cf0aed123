"""The peers: how each computes the value and gradients of a workload written in `Functions`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from string import ascii_letters
from typing import Any, NamedTuple

import numpy as np

from benchmarks.gradients.base import Arrays, Functions, GradientWorkload

Run = Callable[[], Any]


class Peer(NamedTuple):
    """A library: `prepared` returns a call for a workload and operands; None if it cannot compute it."""

    name: str
    module: str
    prepared: Callable[[GradientWorkload, Arrays], Run | None]
    is_slow: bool = False


def flat(results: Any) -> list[Any]:
    """Return results as one list of arrays, whatever they are nested in."""
    if isinstance(results, Mapping):
        results = list(results.values())
    if isinstance(results, (list, tuple)):
        return [array for result in results for array in flat(result)]
    return [np.asarray(results.detach() if hasattr(results, "detach") else results)]


def contracted(einsum: Callable[..., Any]) -> Callable[..., Any]:
    """Return a contraction by pairs of values, which are numbered operands first, by calls of
    `einsum`.
    """

    def contract(symbols: str, operands: Sequence[Any], path: Sequence[tuple[int, int]]) -> Any:
        inputs, result = symbols.split("->")
        values = dict(enumerate(zip(inputs.split(","), operands, strict=True)))
        for number, pair in enumerate(path, len(operands)):
            (left, x), (right, y) = values.pop(pair[0]), values.pop(pair[1])
            rest = {*result, *(label for term, _ in values.values() for label in term)}
            kept = (
                "".join(dict.fromkeys(label for label in left + right if label in rest)) if values else result
            )
            letters = dict(zip(dict.fromkeys(left + right), ascii_letters, strict=False))
            pattern = ["".join(letters[label] for label in term) for term in (left, right, kept)]
            values[number] = kept, einsum("{},{}->{}".format(*pattern), x, y)
        return values[number][1]

    return contract


def _torch_functions() -> Functions:
    import torch
    from torch.func import grad, hessian, vmap

    functional = torch.nn.functional

    def per_sample(f: Any, parameters: Any, *batch: Any) -> Any:
        return vmap(grad(f), (None, *(0 for _ in batch)))(parameters, *batch)

    return Functions(
        np=torch,
        relu=torch.relu,
        softmax=lambda x: torch.softmax(x, -1),
        log_softmax=lambda x: torch.log_softmax(x, -1),
        logsumexp=lambda x: torch.logsumexp(x, -1),
        softplus=functional.softplus,
        cross_entropy=functional.cross_entropy,
        gradient=lambda f, x: grad(f)(x),
        hessian=lambda f, x: hessian(f)(x),
        per_sample=per_sample,
        contract=contracted(torch.einsum),
    )


def _torch(by_hand: Callable[[GradientWorkload], Any], compiled: bool = False) -> Any:
    def prepared(workload: GradientWorkload, operands: Arrays) -> Run | None:
        import torch

        torch.set_num_threads(1)
        function = by_hand(workload)
        if function is None:
            return None
        functions = _torch_functions()
        wrt = workload.wrt.split()
        tensors = {name: torch.from_numpy(x).requires_grad_(name in wrt) for name, x in operands.items()}
        given = [tensors[name] for name in wrt]

        def value(o: Any) -> Any:
            return function(functions, o)

        if compiled:
            value = torch.compile(value)
        if not wrt:
            return lambda: value(tensors)

        def run() -> Any:
            loss = value(tensors)
            return loss, torch.autograd.grad(loss, given)

        return run

    return prepared


def _jax_functions() -> Functions:
    import jax
    import jax.numpy as jnp

    def cross_entropy(s: Any, label: Any) -> Any:
        return -jnp.take_along_axis(jax.nn.log_softmax(s), label[:, None], -1).mean()

    def per_sample(f: Any, parameters: Any, *batch: Any) -> Any:
        return jax.vmap(jax.grad(f), (None, *(0 for _ in batch)))(parameters, *batch)

    return Functions(
        np=jnp,
        relu=jax.nn.relu,
        softmax=jax.nn.softmax,
        log_softmax=jax.nn.log_softmax,
        logsumexp=lambda x: jax.nn.logsumexp(x, -1),
        softplus=jax.nn.softplus,
        cross_entropy=cross_entropy,
        gradient=lambda f, x: jax.grad(f)(x),
        hessian=lambda f, x: jax.hessian(f)(x),
        per_sample=per_sample,
        contract=contracted(jnp.einsum),
    )


def _jax(workload: GradientWorkload, operands: Arrays) -> Run:
    import jax

    jax.config.update("jax_enable_x64", True)  # noqa: FBT003 (JAX takes it by position)
    functions = _jax_functions()
    wrt = workload.wrt.split()
    arrays = {name: jax.numpy.asarray(x) for name, x in operands.items()}
    given = {name: arrays[name] for name in wrt}
    rest = {name: x for name, x in arrays.items() if name not in wrt}

    def value(given: Any, rest: Any) -> Any:
        return workload.by_hand(functions, {**given, **rest})

    call = jax.jit(jax.value_and_grad(value) if wrt else value)

    def run() -> Any:
        result = jax.block_until_ready(call(given, rest))
        return (result[0], [result[1][name] for name in wrt]) if wrt else result

    return run


def _autograd_functions() -> Functions:
    import autograd
    import autograd.numpy as anp
    from autograd.scipy.special import logsumexp

    def log_softmax(x: Any) -> Any:
        return x - logsumexp(x, axis=-1, keepdims=True)

    def cross_entropy(s: Any, label: Any) -> Any:
        return -anp.mean(log_softmax(s)[np.arange(len(label)), label])

    def softmax(x: Any) -> Any:
        return anp.exp(log_softmax(x))

    return Functions(
        np=anp,
        relu=lambda x: anp.maximum(x, 0),
        softmax=softmax,
        log_softmax=log_softmax,
        logsumexp=lambda x: logsumexp(x, axis=-1),
        softplus=lambda x: anp.logaddexp(x, 0),
        cross_entropy=cross_entropy,
        gradient=lambda f, x: autograd.grad(f)(x),
        hessian=lambda f, x: autograd.hessian(f)(x),
        per_sample=None,  # type: ignore[arg-type]
        contract=contracted(anp.einsum),
    )


def _autograd(workload: GradientWorkload, operands: Arrays) -> Run | None:
    import autograd

    if workload.name in UNKNOWN_TO_AUTOGRAD:
        return None
    functions = _autograd_functions()
    wrt = workload.wrt.split()
    if not wrt:
        return lambda: workload.by_hand(functions, operands)

    def value(given: Any) -> Any:
        return workload.by_hand(functions, {**operands, **given})

    call = autograd.value_and_grad(value)
    given = {name: operands[name] for name in wrt}

    def run() -> Any:
        result, gradients = call(given)
        return result, [gradients[name] for name in wrt]

    return run


UNKNOWN_TO_AUTOGRAD = {"mixture", "per sample"}
"""A diagonal in an einsum, and the gradients of samples."""
PEERS = (
    Peer("torch", "torch", _torch(lambda workload: workload.by_hand)),
    Peer("torch fused", "torch", _torch(lambda workload: workload.fused)),
    Peer("jax.jit", "jax", _jax),
    Peer("autograd", "autograd", _autograd),
    Peer("torch.compile", "torch", _torch(lambda workload: workload.by_hand, compiled=True), is_slow=True),
)


def installed(names: Sequence[str] | None) -> list[Peer]:
    """Return the peers that are installed: those with these names, or the quick ones."""
    chosen = [peer for peer in PEERS if (peer.name in names if names is not None else not peer.is_slow)]
    return [peer for peer in chosen if importlib.util.find_spec(peer.module) is not None]
