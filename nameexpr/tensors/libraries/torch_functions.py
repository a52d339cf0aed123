"""PyTorch's functions on NamedTensors, `torch.sum(x, 1)` and `tensor + x`: by the operators of those names.

PyTorch asks `__torch_function__` of its arguments. Most of its functions read their arguments first, and take
no name for `dim`: those that are written in Python, as `torch.nn.functional.softmax` is, do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from nameexpr.errors import Diagnostic, error
from nameexpr.tensors import functions, joining
from nameexpr.tensors.core import Core
from nameexpr.tensors.ops import OPS


def applied(
    kind: type[Core], func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Return the result of a PyTorch function (NE658 if nameexpr has no operator of its name)."""
    if func in _BY_PYTORCH:
        return _BY_PYTORCH[func](*args, **kwargs)
    kwargs = {word: value for word, value in kwargs.items() if word[:1] != "_"}
    name = _SIGNS.get(func.__name__, func.__name__)
    function = getattr(joining, name, None) or getattr(functions, name, None)
    if function is not None and name in OPS:
        return function(*args, **kwargs)
    first = next((each for each in args if isinstance(each, kind)), None)
    if first is args[0] and name in OPS:
        return getattr(first, name)(*args[1:], **kwargs)
    message = f"torch.{func.__name__} does not support the names of a NamedTensor"
    hint = "x.tensor is the tensor of PyTorch, without names"
    raise error(Diagnostic("NE658", message, hint=hint))


_SIGNS = {
    **dict.fromkeys(("multiply", "__rmul__"), "mul"),
    **dict.fromkeys(("divide", "true_divide", "__rdiv__", "__rtruediv__"), "div"),
    "subtract": "sub",
    "absolute": "abs",
    "negative": "neg",
    "concat": "cat",
    "concatenate": "cat",
    "__radd__": "add",
    "clip": "clamp",
}
"""PyTorch functions that have another name here."""


def _gradients(outputs: Any, inputs: Any, grad_outputs: Any = None, **options: Any) -> tuple[Any, ...]:
    """Return `torch.autograd.grad`, whose results have the names of the inputs."""
    leaves = inputs if isinstance(inputs, tuple | list) else (inputs,)
    found = torch.autograd.grad(_bare(outputs), _bare(leaves), _bare(grad_outputs), **options)
    return tuple([
        type(leaf)._wrap(grad, leaf._names) if isinstance(leaf, Core) and grad is not None else grad
        for grad, leaf in zip(found, leaves, strict=True)
    ])  # fmt: skip


def _backward(tensors: Any, grad_tensors: Any = None, **options: Any) -> None:
    options = {word: _bare(value) for word, value in options.items()}
    torch.autograd.backward(_bare(tensors), _bare(grad_tensors), **options)


def bare(value: Any) -> Any:
    """Return the tensor of PyTorch of a NamedTensor, and other objects unchanged."""
    return value._data if isinstance(value, Core) else value


def _bare(values: Any) -> Any:
    return type(values)(map(bare, values)) if isinstance(values, tuple | list) else bare(values)


_BY_PYTORCH: dict[Any, Callable[..., Any]] = {
    torch.autograd.grad: _gradients,
    torch.autograd.backward: _backward,
}
"""PyTorch functions that are called with its own tensors."""
