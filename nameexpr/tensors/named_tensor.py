"""`NamedTensor`, assembled from its families of methods, and the functions that create one.

`tensor` copies its data, `as_tensor` and `from_numpy` share memory with an array. `wrap` is for code that has
already computed the names: it neither copies nor checks.

>>> x = tensor([[1.0, 2.0], [3.0, 4.0]], names="N C")
>>> x.rename(N="batch").align_to("C", ...).names
('C', 'batch')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from nameexpr.dims import dims_of
from nameexpr.errors import Diagnostic, error
from nameexpr.rules import remembered
from nameexpr.rules.targets import checked_names
from nameexpr.tensors.along import AlongDim
from nameexpr.tensors.arguments import as_array, check_kept, checked_device
from nameexpr.tensors.arithmetic import ArithmeticMethods
from nameexpr.tensors.casts import Casts
from nameexpr.tensors.contraction import MatrixProducts
from nameexpr.tensors.core import Core
from nameexpr.tensors.display import Display
from nameexpr.tensors.fills import Fills
from nameexpr.tensors.indexing import Indexing
from nameexpr.tensors.info import Info
from nameexpr.tensors.movement import Movement
from nameexpr.tensors.ops import RECORDED, checked, op
from nameexpr.tensors.protocols import Protocols
from nameexpr.tensors.shapes import Shapes
from nameexpr.tensors.without_nan import WithoutNan

if TYPE_CHECKING:
    import numpy.typing as npt

    from nameexpr.tensors.core import Dtype


class NamedTensor(
    Movement,
    Shapes,
    AlongDim,
    Indexing,
    ArithmeticMethods,
    WithoutNan,
    MatrixProducts,
    Fills,
    Casts,
    Info,
    Display,
    Protocols,
):
    """A NumPy array whose dims have names; created by `tensor`, `as_tensor` and `from_numpy`.

    A name is None or an identifier, and is unique within a tensor. Every method that takes dims accepts their
    names, checks them and infers the names of its result. The array itself is `x.numpy()`, at no cost.

    Notes
    -----
    The rules are those of PyTorch's named tensors (pages "Named Tensors" and "Named Tensors operator
    coverage"), which had them from 1.3 to 2.12.

    Examples
    --------
    >>> x = ne.tensor([[1, 2, 3], [4, 5, 6]], names="N C")
    >>> x.align_to("C", "N")
    tensor([[1, 4],
            [2, 5],
            [3, 6]], names=('C', 'N'), shape=(3, 2))
    """

    __slots__ = ()

    def __new__(cls, *args: object, **kwargs: object) -> NamedTensor:
        """Raise an error that refers to `tensor`, which documents what is copied and what is checked."""
        hint = "tensor(data, names='N C') copies the data, from_numpy(array, names='N C') shares it"
        message = "a NamedTensor is made by tensor(), as_tensor() or from_numpy()"
        raise error(Diagnostic("NE653", message, hint=hint))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to recreate this tensor, for pickle and deepcopy; its names are checked again."""
        return from_numpy, (self._data, self._names)

    @op("names")
    def rename(self, /, *names: object, **rename_map: str | None) -> Self:
        """Return a view with other names: all of them in order, or some as old=new.

        In a list, `...` keeps the names at its position, and a single None drops all. With old=new all
        changes are made at once, so that names can be swapped. The array is shared.

        Parameters
        ----------
        *names
            One name or None per dim, `...` at most once; or all in one string, "N C ... W"; or in one list.
        **rename_map
            New names by old ones.

        Raises
        ------
        DimNameError
            If a name is malformed or repeated, an old one is unknown, or there is not one per dim.

        Notes
        -----
        `Tensor.rename` of PyTorch's page "Named Tensors".

        Examples
        --------
        >>> x = ne.tensor([[1, 2]], names="N C")
        >>> x.rename(N="C", C="N").names
        ('C', 'N')
        >>> x.rename(..., "features").names
        ('N', 'features')
        """
        given = tuple(rename_map.items())
        new = remembered.renamed(self._names, self._data.shape, "rename", given, *names)
        return self._wrap(self._data, new)

    @op("names")
    def rename_(self, /, *names: object, **rename_map: str | None) -> Self:
        """Change the names of this tensor as `rename` does, and return it.

        Raises
        ------
        DimNameError
            As for `rename`; the tensor then keeps its names.

        Examples
        --------
        >>> x = ne.tensor([[1, 2]], names="N C")
        >>> x.rename_(None).names, x.names
        ((None, None), (None, None))
        """
        given = tuple(rename_map.items())
        self._names = remembered.renamed(self._names, self._data.shape, "rename_", given, *names)
        return self

    @op("names")
    def refine_names(self, *names: object) -> Self:
        """Return a view with names for unnamed dims; a dim that has a name must keep it.

        Parameters
        ----------
        *names
            One name or None per dim; `...` keeps the names at its position. One string "N ... C" or one list
            is also accepted.

        Raises
        ------
        DimNameError
            If a dim would change or lose its name, a name is malformed or repeated, or there is not one per
            dim.

        Notes
        -----
        `Tensor.refine_names` of PyTorch's page "Named Tensors".

        Examples
        --------
        >>> ne.tensor([[1, 2]], names=(None, "C")).refine_names("N", ...).names
        ('N', 'C')
        """
        return self._wrap(self._data, remembered.refined(self._names, self._data.shape, *names))


Core._tensor_class = NamedTensor
wrap = NamedTensor._wrap
"""`wrap(data, names)`: a tensor around an array, unchecked, for code that has already validated the names."""


@op("makes")
def tensor(
    data: object,
    names: object = None,
    dtype: Dtype = None,
    *,
    device: Any = None,
    requires_grad: bool = False,
) -> NamedTensor:
    """Return a new tensor with a copy of the data; arrays of other libraries than NumPy are shared.

    Parameters
    ----------
    data
        Nested lists, a number, an array, or a NamedTensor, whose names are kept.
    names
        One name or None per dim: "N C", ("N", None), or None for no names at all. In a string `_` is a dim
        without a name.
    dtype
        The dtype of the result; that of the data by default. One of PyTorch makes a tensor of PyTorch.
    device
        The device, for a tensor of PyTorch: `torch.device("cuda")` makes one; others are on the CPU.
    requires_grad
        Whether what is done with the tensor is recorded, as by `requires_grad_`.

    Raises
    ------
    DimNameError
        If a name is malformed or repeated, there is not one per dim, or the data already has other names.
    OptionError
        If the data is not an array of numbers, or a masked array or matrix, or names or dtype are of the
        wrong type.

    Notes
    -----
    `torch.tensor` of PyTorch's page "Named Tensors operator coverage".

    Examples
    --------
    >>> tensor([[1, 2, 3]], names="N C").shape
    (1, 3)
    """
    new = made(data, names, dtype, copy=True, device=device)
    return new.requires_grad_() if requires_grad else new


@checked
def as_tensor(data: object, names: object = None, dtype: Dtype = None, *, device: Any = None) -> NamedTensor:
    """Return the data as a tensor that shares memory with it if it is an array of that dtype, else a copy.

    A NamedTensor that needs no change is returned itself. Arguments and errors are those of `tensor`.

    >>> array = np.zeros(2)
    >>> as_tensor(array, names="N").numpy() is array
    True
    """
    result = made(data, names, dtype, copy=False, device=device)
    if isinstance(data, NamedTensor) and data._kernels is RECORDED:
        recorded = data.to(result.dtype)
        return recorded if recorded.names == result.names else recorded.rename(*result.names)
    is_same = isinstance(data, NamedTensor) and result._data is data._data and result.names == data.names
    return data if is_same else result  # type: ignore[return-value]


@checked
def from_numpy(array: npt.NDArray[Any], names: object = None) -> NamedTensor:
    """Return a tensor that shares memory with a NumPy array: writing to one writes to the other.

    Raises
    ------
    OptionError
        If it is not an array.
    DimNameError
        If a name is malformed or repeated, or there is not one per dim.

    Examples
    --------
    >>> array = np.zeros((2, 3))
    >>> x = from_numpy(array, names="N C")
    >>> array[0, 0] = 7
    >>> x
    tensor([[7., 0., 0.],
            [0., 0., 0.]], names=('N', 'C'), shape=(2, 3))
    """
    if not isinstance(array, np.ndarray):
        hint = "tensor(data) and as_tensor(data) take lists, numbers and NamedTensors as well"  # type: ignore[unreachable]
        raise error(Diagnostic("NE653", f"from_numpy takes an array, not {type(array).__name__}", hint=hint))
    return made(array, names, None, copy=False)


def made(data: object, names: object, dtype: object, *, copy: bool, device: Any = None) -> NamedTensor:
    """Return the data as a tensor: the implementation of `tensor` and `as_tensor`."""
    is_usual = type(data) is np.ndarray and device is None
    if not is_usual or not (dtype is None or isinstance(dtype, str | type | np.dtype)):
        from nameexpr.tensors import by_option, foreign  # imported here: most data are arrays

        library = foreign.library_for(data, dtype, device)
        if library is not None:
            return by_option.makers().made(library, data, names, dtype, device)  # type: ignore[no-any-return]
        checked_device(device)
    found = None if type(data) is np.ndarray or isinstance(data, NamedTensor) else foreign.foreign(data)
    old = data if isinstance(data, NamedTensor) else found and wrap(found.array, found.names)
    array = as_array(data if old is None else old._data, dtype, copy=copy)
    coordinates: Any = () if old is None else old._coordinates if found is None else found.coordinates
    if names is None and old is not None:
        return with_labels(wrap(array, old.names), coordinates)
    old_names = (None,) * array.ndim if old is None else old.names
    new_names = checked_names(names, dims_of(old_names, array.shape))
    if old is not None and old.has_names():
        check_kept(old, new_names, type(data).__name__, has_all=found is None)
    return with_labels(wrap(array, new_names), coordinates)


def with_labels(tensor: NamedTensor, coordinates: Any) -> NamedTensor:
    """Return a tensor with coordinates; those of an array of another library may still need its names."""
    if callable(coordinates):
        coordinates = coordinates(tensor.names)
    if not coordinates:
        return tensor
    from nameexpr.tensors.labelled import attach  # imported here: few tensors have coordinates

    return attach(tensor, coordinates)  # type: ignore[no-any-return]
