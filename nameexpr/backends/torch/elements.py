"""The elements of a tensor of PyTorch as numbers, as an array and as text, and whether they are known."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def is_known(x: Tensor) -> bool:
    """Return whether elements can be read: not those of meta and fake tensors, nor in a trace or a vmap."""
    if torch.compiler.is_compiling() or type(x) not in _PLAIN or x.is_meta:
        return False
    return not _is_transformed(x)


def has_values(x: Tensor) -> bool:
    """Return whether elements can be read without waiting for another device."""
    return x.device.type == "cpu" and is_known(x)


_PLAIN = (torch.Tensor, torch.nn.Parameter)
_transforms = torch._C._functorch
_is_transformed = _transforms.is_functorch_wrapped_tensor


def hidden_axis(x: Tensor) -> int | None:
    """Return the axis that `torch.func.vmap` hides, None if it hides none."""
    return _transforms.maybe_get_bdim(x) if _transforms.is_batchedtensor(x) else None


def to_numpy(x: Tensor) -> Any:
    """Return the elements as an array to show them, wherever they are: bfloat16 as float32."""
    with torch.no_grad():
        shown = _SHOWN_AS.get(x.dtype, x.dtype)
        return x.detach().to(device="cpu", dtype=shown).resolve_conj().resolve_neg().numpy()


_SHOWN_AS = {torch.complex32: torch.complex64, torch.bfloat16: torch.float32} | {
    dtype: torch.float32 for name, dtype in vars(torch).items() if name.startswith("float8")
}


def corners(x: Tensor, edge: int) -> Tensor:
    """Return the elements near the ends of each axis, with one between: those that are shown."""
    for axis, size in enumerate(x.shape):
        if size > 2 * edge + 1:
            places = [*range(edge + 1), *range(size - edge, size)]
            x = torch.index_select(x.detach(), axis, torch.tensor(places, device=x.device))
    return x


def described(x: Tensor) -> list[str]:
    """Return what the repr shows after names and sizes."""
    parts = [f"dtype={x.dtype}", f"device={str(x.device)!r}"]
    if x.grad_fn is not None:
        return [*parts, f"grad_fn=<{x.grad_fn.name()}>"]
    return [*parts, "requires_grad=True"] if x.requires_grad else parts


def numpy_view(x: Tensor, is_forced: bool) -> Any:
    """Return the NumPy array that shares the memory of a tensor; a RuntimeError or TypeError if none can."""
    return x.numpy(force=is_forced)


def item(x: Tensor) -> Any:
    """Return the only element as a Python number."""
    return x.item()


def tolist(x: Tensor) -> Any:
    """Return the elements as nested lists of Python numbers."""
    return x.tolist()
