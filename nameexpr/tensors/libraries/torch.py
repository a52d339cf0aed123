"""NamedTensors around tensors of PyTorch: gradients, devices, hooks, and PyTorch's own functions.

>>> import torch
>>> w = ne.tensor(torch.ones(2, 3, requires_grad=True), names="out in")
>>> (w * 2).sum().backward()
>>> w.grad
tensor([[2., 2., 2.],
        [2., 2., 2.]],
       names=('out', 'in'), shape=(2, 3), dtype=torch.float32, device='cpu')
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, ClassVar, Self

import torch
from torch.utils import _pytree

from nameexpr.backends.torch import tensors as kernels
from nameexpr.backends.torch.pointwise import BINARY, UNARY
from nameexpr.rules.remembered import TRACERS
from nameexpr.rules.writing import check_written
from nameexpr.tensors.core import Core
from nameexpr.tensors.libraries.classes import LibraryTensor
from nameexpr.tensors.libraries.torch_functions import applied, bare
from nameexpr.tensors.ops import checked


class TorchTensor(LibraryTensor):
    """A NamedTensor whose elements are a tensor of PyTorch: on any device, and in PyTorch's graph."""

    __slots__ = ()

    _data: Any
    _kernels: ClassVar[Any] = kernels
    _unary: ClassVar[Any] = UNARY
    _binary: ClassVar[Any] = BINARY
    _reducers: ClassVar[Any] = kernels.REDUCTIONS

    @property
    def tensor(self) -> torch.Tensor:
        """The tensor of PyTorch itself: writing to it writes to this one."""
        return self._data  # type: ignore[no-any-return]

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dims."""
        return tuple(self._data.shape)

    @property
    def requires_grad(self) -> bool:
        """Whether PyTorch records what is done with this tensor; may be set."""
        return self._data.requires_grad  # type: ignore[no-any-return]

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @checked
    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Record what is done with this tensor, or no longer; return it."""
        self._tried("requires_grad_", lambda: self._data.requires_grad_(requires_grad))
        return self

    @property  # type: ignore[override]
    def grad(self) -> Self | None:
        """The gradient, with the names of this tensor, None if there is none; may be set."""
        grad = self._data.grad
        return None if grad is None else self._wrap(grad, self._names)

    @grad.setter
    def grad(self, value: Any) -> None:
        self._data.grad = None if value is None else self._like_this(value, "grad")

    def _like_this(self, value: Any, verb: str) -> torch.Tensor:
        """Return a gradient, whose names must be those of this tensor if it has any (NE371, NE472)."""
        given: Core = self._as_core(value, verb)
        check_written(self._dims, given._names if any(given._names) else self._names, given.shape, verb)
        return given._data  # type: ignore[return-value]

    @property
    def is_leaf(self) -> bool:  # type: ignore[override]
        """Whether the tensor was not computed from others that require gradients."""
        return self._data.is_leaf  # type: ignore[no-any-return]

    @property
    def grad_fn(self) -> Any:
        """The node of PyTorch's graph that computed the tensor, None for a leaf."""
        return self._data.grad_fn

    @checked
    def retain_grad(self) -> None:
        """Keep the gradient of a tensor that is not a leaf."""
        self._tried("retain_grad", self._data.retain_grad)

    @checked
    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradients of this tensor to `grad` of the leaves of its graph.

        `gradient`, for a tensor of more than one element, has the names of this tensor.
        """
        given = None if gradient is None else self._like_this(gradient, "backward")
        leaves = None if inputs is None else [bare(each) for each in _listed(inputs)]
        self._tried("backward", lambda: self._data.backward(given, retain_graph, create_graph, leaves))

    def _tried(self, verb: str, compute: Callable[[], Any]) -> Any:
        try:
            return compute()
        except Exception as fault:
            raise self._refusal(fault, verb, (self,)) from fault

    @checked
    def detach(self) -> Self:
        """Return a view that is outside of the graph."""
        return self._wrap(self._data.detach(), self._names)

    @checked
    def detach_(self) -> Self:
        """Take the tensor out of its graph, and return it."""
        self._tried("detach_", self._data.detach_)
        return self

    @checked
    def register_hook(self, hook: Any) -> Any:
        """Call a function with each gradient, a tensor with these names; what it returns replaces it."""
        names, kind = self._names, type(self)

        def call(grad: torch.Tensor) -> Any:
            return bare(hook(kind._wrap(grad, names)))  # type: ignore[arg-type]

        return self._tried("register_hook", lambda: self._data.register_hook(call))

    @checked
    def register_post_accumulate_grad_hook(self, hook: Any) -> Any:
        """Call a function with this tensor after a gradient was added to `grad`."""
        names, kind = self._names, type(self)

        def call(leaf: torch.Tensor) -> None:
            hook(kind._wrap(leaf, names))  # type: ignore[arg-type]

        verb = "register_post_accumulate_grad_hook"
        return self._tried(verb, lambda: self._data.register_post_accumulate_grad_hook(call))

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The device of the elements."""
        return self._data.device  # type: ignore[no-any-return]

    @checked
    def get_device(self) -> int:
        """Return the number of the GPU, -1 for the CPU."""
        return self._data.get_device()  # type: ignore[no-any-return]

    @checked
    def cpu(self, memory_format: Any = None) -> Self:
        """Return the tensor on the CPU: itself if it is there."""
        return self.to(device="cpu")

    @checked
    def cuda(self, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Self:  # type: ignore[override]
        """Return the tensor on a GPU, the current one by default: itself if it is there."""
        number = f"cuda:{device}" if isinstance(device, int) else device
        return self.to(device="cuda" if device is None else number)

    @checked
    def is_contiguous(self, memory_format: Any = torch.contiguous_format) -> bool:
        """Return whether the elements are contiguous in memory, in the order of the memory format."""
        return self._data.is_contiguous(memory_format=memory_format or torch.contiguous_format)  # type: ignore[no-any-return]

    @checked
    def contiguous(self, memory_format: Any = torch.contiguous_format) -> Self:
        """Return the tensor itself if its elements are in the order of the memory format, else a copy."""
        data = self._data.contiguous(memory_format=memory_format or torch.contiguous_format)
        return self if data is self._data else self._wrap(data, self._names)

    @checked
    def stride(self, dim: Any = None) -> Any:
        """Return the distance in elements between neighbours along a dim, or along each."""
        strides = self._data.stride()
        return tuple(strides) if dim is None else strides[self._position(dim, "stride")]

    @checked
    def data_ptr(self) -> int:
        """Return the address of the first element: equal for views that start there."""
        return self._data.data_ptr()  # type: ignore[no-any-return]

    @checked
    def is_pinned(self) -> bool:
        """Return whether the memory is pinned, for copies to a GPU."""
        return self._data.is_pinned()  # type: ignore[no-any-return]

    @checked
    def is_shared(self) -> bool:
        """Return whether processes share the memory."""
        return self._data.is_shared()  # type: ignore[no-any-return]

    @checked
    def share_memory_(self) -> Self:
        """Move the elements into memory that processes share, and return the tensor."""
        self._data.share_memory_()
        return self

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Iterable[Any] = (), kwargs: Any = None
    ) -> Any:
        """Return the result of a PyTorch function, by nameexpr's operator of that name."""
        return applied(cls, func, tuple(args), kwargs or {})


for _name in (
    "is_cuda",
    "is_sparse",
    "is_sparse_csr",
    "nbytes",
    "itemsize",
    "is_mps",
    "is_meta",
    "retains_grad",
):
    setattr(TorchTensor, _name, property(attrgetter(f"_data.{_name}"), doc=f"PyTorch's `{_name}`."))


def _listed(inputs: Any) -> list[Any]:
    return [inputs] if isinstance(inputs, Core | torch.Tensor) else list(inputs)


def _flatten(x: TorchTensor) -> tuple[list[Any], Any]:
    return [x._data], (type(x), x._names)


def _unflatten(leaves: Iterable[Any], context: Any) -> Any:
    """Return a tensor around any leaf; without names if it has another number of dims.

    Within `torch.func.vmap` a dim is hidden, and its name with it.
    """
    (leaf,), (kind, names) = leaves, context
    if isinstance(leaf, torch.Tensor) and leaf.ndim != len(names):
        hidden = kernels.hidden_axis(leaf)
        if hidden is not None and leaf.ndim == len(names) - 1:
            names = (*names[:hidden], *names[hidden + 1 :])
        else:
            names = (None,) * leaf.ndim
    return kind._wrap(leaf, names)


_pytree.register_pytree_node(TorchTensor, _flatten, _unflatten, serialized_type_name="nameexpr.TorchTensor")
TRACERS.append(torch.compiler.is_compiling)
CLASS = TorchTensor
