"""The tape: gradients of what is computed with tensors, step by step (`x.requires_grad_()`, `backward`).

It is loaded by the first `requires_grad_`, and is for arrays of NumPy: tensors of PyTorch have its autograd.

- `recorded`: the classes of recorded tensors; `recording`: what their families of methods share
- `operators`, `reductions`, `movement`, `selecting`, `products`: what they override of plain tensors, and the
  derivatives; those of pointwise functions and reductions are texts, most of which formulas have, too
- `node`, `engine`: the tape, and the backward pass over it
- `inplace`, `versions`: writing over tensors, and over arrays that the tape has saved
- `mode`: `no_grad`, `enable_grad`; `controls`, `hooks`: the methods for users
"""

from __future__ import annotations

from typing import Any

from nameexpr.errors import Diagnostic, error
from nameexpr.tensors.tape import functions, recorded  # noqa: F401  they enter what others call
from nameexpr.tensors.tape.node import Leaf
from nameexpr.tensors.tape.recording import has_gradient, promoted


def start(tensor: Any) -> Any:
    """Make a plain tensor one that requires a gradient, and return it (NE679 unless it is of floats)."""
    if not has_gradient(tensor):
        message = f"a tensor of {tensor.dtype} has no gradient: only floats and complex numbers have one"
        raise error(Diagnostic("NE679", message, hint="x.double().requires_grad_() converts it first"))
    return promoted(tensor, Leaf(tensor))
