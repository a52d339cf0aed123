"""Plain answers about a tensor: its memory, its kind of numbers, its only element.

Methods without a meaning for an array on the CPU return what a CPU tensor of PyTorch does, or raise an error
with advice.

>>> x = ne.tensor([[1.0, 2.0]], names="N C")
>>> x.numel(), x.stride("C"), x.is_contiguous()
(2, 1, True)
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self, TypeVar, overload

from nameexpr.backends.numpy.arrays import is_float
from nameexpr.errors import Diagnostic, error
from nameexpr.tensors.arguments import Device
from nameexpr.tensors.faults import not_one, not_recorded
from nameexpr.tensors.operators import Operators
from nameexpr.tensors.ops import called, op

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class _Answer(Protocol[T_co]):
    def __get__(self, tensor: Any, kind: Any) -> T_co: ...


def _fact(name: str, doc: str, *, value: T, setter: Callable[[Any, Any], Any] | None = None) -> _Answer[T]:
    """Return a property that is the same for every array on the CPU."""

    def answer(self: Info) -> T:
        return value

    answer.__doc__ = doc
    is_extra = name == "grad_fn"  # the page of PyTorch does not have it
    return property(op("answers", extra=is_extra, is_bare=True)(called(answer, "Info", name)), setter)


def _require_gradient(tensor: Any, value: bool) -> None:
    tensor.requires_grad_(value)


def _set_gradient(tensor: Any, value: Any) -> None:
    if value is not None:
        message = "x.grad = value: the tensor does not require a gradient"
        raise error(Diagnostic("NE696", message, hint="call x.requires_grad_() first"))


class Info(Operators):
    """numel, item, stride, nbytes and the like; devices; layouts; gradients."""

    __slots__ = ()

    if TYPE_CHECKING:  # of tensors of PyTorch
        tensor: Any

    @op("answers")
    def dim(self) -> int:
        """Return the number of dims."""
        return self._data.ndim

    @op("answers")
    def ndimension(self) -> int:
        """Return the number of dims."""
        return self._data.ndim

    @op("answers")
    def numel(self) -> int:
        """Return the number of elements."""
        return self._data.size

    nelement = numel

    @op("answers")
    def element_size(self) -> int:
        """Return the bytes of one element."""
        return self._data.itemsize

    @property
    @op("answers", is_bare=True)
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self._data.itemsize

    @property
    @op("answers", is_bare=True)
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self._data.nbytes

    @op("answers")
    def data_ptr(self) -> int:
        """Return the address of the first element: equal for views that start there."""
        return int(self._data.__array_interface__["data"][0])

    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...

    @overload
    def stride(self, dim: str | int) -> int: ...

    @op("answers")
    def stride(self, dim: str | int | None = None) -> int | tuple[int, ...]:
        """Return the distance in elements between neighbours along a dim, or along each.

        >>> ne.zeros(2, 3, names="N C").stride()
        (3, 1)
        """
        if dim is not None:
            return self._data.strides[self._position(dim, "stride")] // self._data.itemsize
        return tuple(step // self._data.itemsize for step in self._data.strides)

    @op("answers")
    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Return whether the elements are contiguous in memory, in row-major order."""
        return self._data.flags.c_contiguous

    @op("keeps", extra=True)
    def contiguous(self, memory_format: Any = None) -> Self:
        """Return the tensor itself if its elements are in row-major order, else a row-major copy."""
        return self if self._data.flags.c_contiguous else self._wrap(self._data.copy(order="C"), self._names)

    @op("answers")
    def is_floating_point(self) -> bool:
        """Return whether the elements are floats."""
        return is_float(self._data.dtype)

    @op("answers")
    def is_signed(self) -> bool:
        """Return whether elements can be negative: False for bool and unsigned dtypes."""
        return self._data.dtype.kind not in "bu"

    @op("answers", extra=True)
    def is_complex(self) -> bool:
        """Return whether the elements are complex."""
        return self._data.dtype.kind == "c"

    @op("answers")
    def item(self) -> Any:
        """Return the only element as a Python number.

        Raises
        ------
        SizeError
            NE382 unless there is exactly one.

        Examples
        --------
        >>> ne.tensor([[2.5]]).item()
        2.5
        """
        if self._data.size != 1:
            raise not_one(self._data.size, "item", self.shape, self._names)
        value = self._data.item()
        return value if isinstance(value, bool | int | float | complex) else float(value)

    @op("answers", extra=True)
    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers.

        >>> ne.tensor([[1, 2]], names="N C").tolist()
        [[1, 2]]
        """
        return self._data.tolist()

    @property
    @op("answers", is_bare=True)
    def device(self) -> Device:
        """The device, which is the CPU."""
        return Device("cpu")

    @op("answers")
    def get_device(self) -> int:
        """Return -1, which stands for the CPU."""
        return -1

    @op("keeps")
    def cpu(self, memory_format: Any = None) -> Self:
        """Return the tensor itself: it is on the CPU."""
        return self

    @op("keeps")
    def cuda(self, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> NoReturn:
        """Raise an error that explains how an array gets to another device (NE678)."""
        hint = "tensors of PyTorch have devices: "
        hint += "ne.tensor(torch.as_tensor(x.numpy(), device='cuda'), names=x.names)"
        raise error(Diagnostic("NE678", "NumPy's arrays are on the CPU and have no CUDA device", hint=hint))

    is_cuda = _fact("is_cuda", "False, for the array is on the CPU.", value=False)
    is_sparse = _fact("is_sparse", "False, for every element is stored.", value=False)
    is_sparse_csr = _fact("is_sparse_csr", "False, for every element is stored.", value=False)
    _doc = "Whether what is done with the tensor is recorded."
    requires_grad = _fact("requires_grad", _doc, value=False, setter=_require_gradient)
    _doc = "The gradient that `backward` has added up, or None."
    grad: _Answer[Any] = _fact("grad", _doc, value=None, setter=_set_gradient)
    del _doc
    is_leaf = _fact("is_leaf", "Whether the tensor was not computed from recorded ones.", value=True)
    grad_fn: _Answer[Any] = _fact("grad_fn", "The operator that computed the tensor, or None.", value=None)

    @op("answers")
    def is_pinned(self) -> bool:
        """Return False: no memory is pinned for a device."""
        return False

    @op("answers")
    def is_shared(self) -> bool:
        """Return False: NumPy does not know of shared memory."""
        return False

    @op("fills")
    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Record what is done with the tensor from now on, so that `backward` finds its gradient.

        Raises
        ------
        OptionError
            NE679 unless the elements are floats or complex numbers.

        Examples
        --------
        >>> w = ne.tensor([1.0, 3.0], names="C").requires_grad_()
        >>> (w * w).sum().backward()
        >>> w.grad
        tensor([2., 6.], names=('C',), shape=(2,))
        """
        if not requires_grad:
            return self
        tape = import_module("nameexpr.tensors.tape")  # here: most programs record nothing
        return tape.start(self)  # type: ignore[no-any-return]

    @op("keeps")
    def detach(self) -> Self:
        """Return a view of the tensor that does not require a gradient."""
        return self._wrap(self._data.view(), self._names)

    @op("fills")
    def detach_(self) -> Self:
        """Stop to record what is done with the tensor, and return it."""
        return self

    @op("answers", extra=True)
    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradients of a value to the `grad` of the tensors that require one: docs/gradients.md.

        Raises
        ------
        OptionError
            NE696 if the tensor was not computed from one that requires a gradient.
        """
        raise not_recorded("backward")

    @op("answers", extra=True)
    def retain_grad(self) -> None:
        """Keep the gradient of a tensor that was computed, in `grad`."""
        raise not_recorded("retain_grad")

    @op("answers", extra=True)
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradient that `backward` has added up."""

    @op("answers")
    def register_hook(self, hook: Any) -> Any:
        """Call a function with the gradient of the tensor in each backward pass."""
        raise not_recorded("register_hook")

    @op("answers")
    def register_post_accumulate_grad_hook(self, hook: Any) -> Any:
        """Call a function with the tensor whenever a backward pass has added to its `grad`."""
        raise not_recorded("register_post_accumulate_grad_hook")
