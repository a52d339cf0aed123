"""Plain answers about a tensor: its memory, its kind of numbers, its only element.

Methods without a meaning for an array on the CPU return what a CPU tensor of PyTorch does, or raise an error
with advice.

>>> x = ne.tensor([[1.0, 2.0]], names="N C")
>>> x.numel(), x.stride("C"), x.is_contiguous()
(2, 1, True)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self, TypeVar, overload

from nameexpr.backends.numpy.arrays import is_float
from nameexpr.dims import Names, dims_of
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.rules.calls import ShownCall, Verbatim, fault
from nameexpr.tensors.arguments import Device
from nameexpr.tensors.operators import Operators
from nameexpr.tensors.ops import called, op

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class _Answer(Protocol[T_co]):
    def __get__(self, tensor: Any, kind: Any) -> T_co: ...


def _fact(name: str, doc: str, *, value: T) -> _Answer[T]:
    """Return a property that is the same for every array on the CPU."""

    def answer(self: Info) -> T:
        return value

    answer.__doc__ = doc
    return property(op("answers", is_bare=True)(called(answer, "Info", name)))


class Info(Operators):
    """numel, item, stride, nbytes and the like; devices; layouts; gradients, which nothing records."""

    __slots__ = ()

    if TYPE_CHECKING:  # of tensors of PyTorch
        tensor: Any
        grad_fn: Any
        backward: Callable[..., None]
        retain_grad: Callable[[], None]

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
        """The device: the CPU."""
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

    is_cuda = _fact("is_cuda", "False: the array is on the CPU.", value=False)
    is_sparse = _fact("is_sparse", "False: every element is stored.", value=False)
    is_sparse_csr = _fact("is_sparse_csr", "False: every element is stored.", value=False)
    requires_grad = _fact("requires_grad", "False: no tensor records what is done with it.", value=False)
    grad: _Answer[Any] = _fact("grad", "None: no gradient is recorded.", value=None)
    is_leaf = _fact("is_leaf", "True: no tensor records where it came from.", value=True)

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
        """Return the tensor if no gradient is requested.

        Raises
        ------
        OptionError
            NE679 if one is.
        """
        if requires_grad:
            raise _no_gradients("requires_grad_")
        return self

    @op("keeps")
    def detach(self) -> Self:
        """Return a view of the tensor: there is no history to detach it from."""
        return self._wrap(self._data.view(), self._names)

    @op("fills")
    def detach_(self) -> Self:
        """Return the tensor: there is no history to detach it from."""
        return self

    @op("answers")
    def register_hook(self, hook: Any) -> NoReturn:
        """Raise an error (NE679): no gradient will ever call the hook."""
        raise _no_gradients("register_hook")

    @op("answers")
    def register_post_accumulate_grad_hook(self, hook: Any) -> NoReturn:
        """Raise an error (NE679): no gradient will ever call the hook."""
        raise _no_gradients("register_post_accumulate_grad_hook")


def _no_gradients(verb: str) -> NameExprError:
    return error(Diagnostic("NE679", f"{verb}: tensors do not record gradients", hint=_NO_GRADIENTS))


_NO_GRADIENTS = "tensors of PyTorch record them: ne.tensor(torch.as_tensor(x.numpy()), names=x.names)"


def not_one(size: int, verb: str, shape: tuple[int, ...], names: Names | None = None) -> NameExprError:
    """Return the error for a number requested from a tensor without exactly one element (NE382)."""
    message = f"{verb}: a tensor with {size} elements is not a single number"
    dims = dims_of((None,) * len(shape) if names is None else names, shape)
    call = ShownCall("item", (), (dims,)) if verb == "item" else ShownCall(verb, (Verbatim("x"),), (dims,))
    hint = "tolist() gives all elements, isel or x[...] picks one" if size else "tolist() gives all elements"
    return fault("NE382", message, call, hint=hint)
