"""Backward passes from one value or several: what they are called with, and what they return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nameexpr.dims import Names
from nameexpr.errors import Diagnostic, error
from nameexpr.tensors.core import Core
from nameexpr.tensors.faults import not_recorded, wrong_kind
from nameexpr.tensors.ops import checked
from nameexpr.tensors.tape.engine import Pass, accumulate
from nameexpr.tensors.tape.hooks import checked_gradient
from nameexpr.tensors.tape.node import Leaf
from nameexpr.tensors.tape.recording import is_recorded


def second_order(verb: str) -> Exception:
    """Return the error for a gradient that should be recorded itself (NE696)."""
    hint = "grad(grad(loss, w[C]), w[D]) in a formula is a second derivative: docs/gradients.md"
    return error(Diagnostic("NE696", f"{verb}: gradients of the tape are not recorded themselves", hint=hint))


def backward_pass(
    values: Sequence[Any], seeds: Sequence[Any], retains: bool, inputs: Any, wants: bool = False
) -> dict[int, Any]:
    """Go back from values with their gradients; return what was found, or add to the `grad` of leaves."""
    wanted = None
    if inputs is not None:
        listed = listed_inputs(inputs)
        wanted = frozenset(each._node.number for each in listed)
    run = Pass(wanted, retains=retains)
    for value, seed in zip(values, seeds, strict=True):
        if not is_recorded(value):
            raise not_recorded("backward")
        run.add(value._node, seed_of(value, seed), is_own=False)
    run.run()
    if inputs is not None and not wants:
        for each in listed:
            if each._node.number in run.found:
                added(each, run.found[each._node.number])
    return run.found


def seed_of(value: Any, seed: Any) -> Any:
    """Return the gradient of a value to start from: 1 for a single element (NE696)."""
    if seed is not None:
        return checked_gradient(seed, value, "gradient=")
    if value._data.size != 1:
        names: Names = value._names
        message = f"backward of a tensor of {value._data.size} elements, names {names}, needs gradient="
        hint = "reduce it first, such as x.sum().backward(); or give the gradient of x, a tensor like x"
        raise error(Diagnostic("NE696", message, hint=hint))
    return np.ones(value._data.shape, value._data.dtype)


def added(tensor: Any, gradient: Any) -> None:
    """Add to the `grad` of a tensor, also of one that was computed."""
    if type(tensor._node) is Leaf:
        accumulate(tensor._node, gradient, is_own=False)
    elif tensor.grad is None:
        tensor.grad = np.array(gradient)
    else:
        tensor.grad._data += gradient


def listed_inputs(inputs: Any) -> list[Any]:
    """Return the tensors to differentiate by, one or several, as a list (NE677, NE696)."""
    listed = [inputs] if isinstance(inputs, Core) else inputs
    if not isinstance(listed, list | tuple):
        raise wrong_kind("grad_of", "inputs", "a tensor, or a list of tensors", inputs)
    return [checked_input(each, at) for at, each in enumerate(listed)]


def checked_input(tensor: Any, at: int) -> Any:
    """Return a tensor to differentiate by, which must be recorded (NE696)."""
    if is_recorded(tensor):
        return tensor
    message = f"input {at} does not require a gradient"
    raise error(Diagnostic("NE696", message, hint="call requires_grad_() before the computation"))


def values_and_seeds(value: Any, gradient: Any) -> tuple[list[Any], list[Any]]:
    """Return the values to go back from, and for each its gradient or None (NE677, NE696)."""
    if isinstance(value, Core):
        return [value], [gradient]
    if not isinstance(value, list | tuple):
        raise wrong_kind("grad_of", "the value", "a tensor, or a list of tensors", value)
    seeds = [None] * len(value) if gradient is None else gradient
    if not isinstance(seeds, list | tuple) or len(seeds) != len(value):
        raise wrong_kind("grad_of", "gradient", f"a list of {len(value)}, as the values", gradient)
    return list(value), list(seeds)


@checked
def grad_of(
    value: Any,
    inputs: Any,
    gradient: Any = None,
    *,
    retain_graph: bool | None = None,
    allow_unused: bool = False,
    create_graph: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of a recorded value by some tensors, without touching their `grad`.

    Parameters
    ----------
    value
        A tensor that was computed from the inputs, or several.
    inputs
        A tensor that requires a gradient, or was computed from one; or several.
    gradient
        The gradient of the value, with its names: needed unless it has one element.
    retain_graph
        Whether to keep what was recorded, for another backward pass.
    allow_unused
        Whether an input that the value does not depend on has the gradient None; else it is an error.
    create_graph
        Not supported: a second derivative is a formula.

    Returns
    -------
    tuple of NamedTensor
        One gradient for each input, with its names.

    Raises
    ------
    OptionError
        NE696 if something was not recorded, or the value does not depend on an input; NE693 if an array that
        is needed has been written to.

    Examples
    --------
    >>> w = ne.tensor([1.0, 3.0], names="C").requires_grad_()
    >>> ne.grad_of((w * w).sum(), [w])
    (tensor([2., 6.], names=('C',), shape=(2,)),)
    """
    if create_graph:
        raise second_order("grad_of(create_graph=True)")
    values, seeds = values_and_seeds(value, gradient)
    listed = listed_inputs(inputs)
    found = backward_pass(values, seeds, bool(retain_graph), listed, wants=True)
    results = []
    for at, each in enumerate(listed):
        if each._node.number in found:
            results.append(each._like(np.array(found[each._node.number])))
        elif allow_unused:
            results.append(None)
        else:
            message = f"grad_of: the value does not depend on input {at}"
            hint = "leave it out, or allow_unused=True gives None for it"
            raise error(Diagnostic("NE696", message, hint=hint))
    return tuple(results)
