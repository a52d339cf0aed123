"""Gradients as functions of one vector: the form in which SciPy's optimizers call them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.backends.dispatch import has_foreign
from nameexpr.backends.numpy.arrays import NUMBERS
from nameexpr.dims import Names, normalised
from nameexpr.errors import Diagnostic, did_you_mean, error
from nameexpr.records import record
from nameexpr.runtime import public
from nameexpr.runtime.operands import array_of, names_of
from nameexpr.runtime.second_order import SecondOrder, blocks, products

if TYPE_CHECKING:
    from nameexpr.runtime.compiled_formula import CompiledFormula
    from nameexpr.runtime.differentiated import Differentiated

Vector = np.ndarray[tuple[int], np.dtype[np.float64]]
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


@record
class Stretch:
    """The part of the vector that is an operand, and the first value of the operand."""

    start: int
    stop: int
    value: Any

    @property
    def dims(self) -> Names:
        """The names of its dims; None for those of an array."""
        return names_of(self.value) or (None,) * np.ndim(array_of(self.value))

    def read(self, vector: Any) -> Any:
        """Return the operand at a vector: with the names and the dtype that it has at the start."""
        if type(self.value) in NUMBERS:
            return float(vector[self.start])
        array, names = array_of(self.value), names_of(self.value)
        part = vector[self.start : self.stop].astype(array.dtype, copy=False).reshape(array.shape)
        return part if names is None else self.value._named(part, names)

    def spread(self, value: Any) -> Vector:
        """Return a number for each element of the stretch, from one or from an array of the shape."""
        shape = np.shape(array_of(self.value))
        return np.ravel(np.broadcast_to(np.asarray(array_of(value), np.float64), shape))


class Packed:
    """A value and its gradients as functions of one vector. Made by `GradientFunction.packed`.

    SciPy's optimizers call `fun`, and those that use second derivatives `hessp` or `hess`. Vectors contain
    the operands that the value is differentiated by, one after the other, in float64.

    Attributes
    ----------
    x0 : numpy.ndarray
        The vector of the first values.

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> from scipy.optimize import minimize
    >>> x = np.array([0.0, 1.0, 2.0])
    >>> step = ne.value_and_grad("mean[N]((a * x[N] + b - y[N]) ** 2)", "a b")
    >>> line = step.packed(a=0.0, b=0.0, x=x, y=2 * x + 1)
    >>> best = minimize(line.fun, line.x0, jac=True, hessp=line.hessp, method="Newton-CG")
    >>> {name: round(value, 6) for name, value in line.unpack(best.x).items()}
    {'a': 2.0, 'b': 1.0}
    """

    __slots__ = ("_data", "_formula", "_function", "_made", "_second", "_stretches", "x0")

    def __init__(
        self,
        function: Callable[..., tuple[Any, dict[str, Any]]],
        formula: CompiledFormula,
        made: Differentiated,
        given: Mapping[str, Any],
    ) -> None:
        self._function, self._formula, self._made = function, formula, made
        names = [name for name, _ in made.gradients]
        _check(formula, names, given)
        self._stretches = _stretches({name: _start(formula, name, given[name]) for name in names})
        self._data = {name: value for name, value in given.items() if name not in names}
        self._second: dict[str, tuple[CompiledFormula, SecondOrder]] = {}
        self.x0: Vector = _joined([stretch.value for stretch in self._stretches.values()])

    def __repr__(self) -> str:
        """Return the operands in the vector, with their shapes, and the text."""
        values = {name: stretch.value for name, stretch in self._stretches.items()}
        parts = ", ".join(f"{name} {np.shape(array_of(value))}" for name, value in values.items())
        return f"<nameexpr.Packed of {parts}: {self._made.origin!r}>"

    @public
    def fun(self, x: Vector) -> tuple[float, Vector]:
        """Return the value and its gradient at a vector, as `scipy.optimize.minimize(..., jac=True)` expects.

        Raises
        ------
        NameExprError
            NE538 if the vector does not have the length of `x0`; or as the function that was packed.
        """
        value, gradients = self._function(operands={**self._data, **self._read(x)})
        return float(value), _joined(gradients.values())

    @public
    def hessp(self, x: Vector, p: Vector) -> Vector:
        """Return the Hessian at x times the vector p: for the methods Newton-CG, trust-ncg, trust-krylov and
        trust-constr. It takes about twice the time of a gradient, and the Hessian is not computed.

        Raises
        ------
        NameExprError
            As `fun`; NE536 if no second derivative is known.
        """
        formula, second = self._second_order(products)
        named = {second.directions[name]: array_of(value) for name, value in self._read(p).items()}
        return _joined(formula(operands={**self._data, **self._read(x), **named}))

    @public
    def hess(self, x: Vector) -> Matrix:
        """Return the Hessian at a vector, of shape (n, n): for trust-exact, dogleg and Newton's method.

        Raises
        ------
        NameExprError
            As `hessp`.
        """
        parts = self._second_order(blocks)[0](operands={**self._data, **self._read(x)})
        hessian = np.empty((len(self.x0), len(self.x0)))
        pairs = combinations_with_replacement(self._stretches.values(), 2)
        for (one, other), part in zip(pairs, parts, strict=True):
            row, column = slice(one.start, one.stop), slice(other.start, other.stop)
            hessian[row, column] = block = np.reshape(array_of(part), (row.stop - row.start, -1))
            hessian[column, row] = (block + block.T) / 2 if one is other else block.T
        return hessian

    @public
    def bounds(self, **limits: tuple[Any, Any]) -> Matrix:
        """Return the lowest and highest value of each element, of shape (n, 2), for `minimize(bounds=...)`;
        operands that are not given are unbounded.

        Parameters
        ----------
        **limits
            For an operand a pair of numbers, or of arrays of its shape; None for no limit.

        Raises
        ------
        NameExprError
            NE534 if a name is not that of an operand in the vector, NE538 if the limits are not such a pair.

        Examples
        --------
        >>> import numpy as np, nameexpr as ne
        >>> step = ne.value_and_grad("sum[N]((scale * x[N] + shift[N]) ** 2)", "scale shift")
        >>> packed = step.packed(scale=1.0, shift=np.zeros(2), x=np.ones(2))
        >>> packed.bounds(scale=(0, None))
        array([[  0.,  inf],
               [-inf,  inf],
               [-inf,  inf]])
        """
        found = np.tile([-np.inf, np.inf], (len(self.x0), 1))
        for name, pair in limits.items():
            stretch = self._stretches.get(normalised(name))
            if stretch is None:
                hint = did_you_mean(name, self._stretches) or f"they are {', '.join(self._stretches)}"
                raise error(Diagnostic("NE534", f"'{name}' is not an operand in the vector", hint=hint))
            try:
                for column, limit in zip((0, 1), pair, strict=True):
                    if limit is not None:
                        found[stretch.start : stretch.stop, column] = stretch.spread(limit)
            except (TypeError, ValueError) as reason:
                message = f"the bounds of '{name}' are not a pair of numbers or of arrays of its shape"
                raise error(Diagnostic("NE538", message, hint=f"such as {name}=(0, None)")) from reason
        return found

    @public
    def unpack(self, x: Vector) -> dict[str, Any]:
        """Return the operands at a vector by name: arrays and tensors with the shape, the names and the dtype
        of the first ones, and floats for numbers.

        Raises
        ------
        NameExprError
            NE538 if the vector does not have the length of `x0`.
        """
        return self._read(np.array(x, np.float64))  # a copy, which the optimizer does not write to

    def _read(self, x: Any) -> dict[str, Any]:
        vector = np.asarray(x, np.float64)
        if vector.shape != self.x0.shape:
            message = f"the vector has the shape {vector.shape}, and x0 {self.x0.shape}"
            raise error(Diagnostic("NE538", message, hint="pass one number for each element of x0"))
        return {name: stretch.read(vector) for name, stretch in self._stretches.items()}

    def _second_order(
        self, write: Callable[[Differentiated, Mapping[str, Names]], SecondOrder]
    ) -> tuple[CompiledFormula, SecondOrder]:
        if write.__name__ not in self._second:
            dims = {name: stretch.dims for name, stretch in self._stretches.items()}
            second = write(self._made, dims)
            self._second[write.__name__] = self._formula._followed(second.text, second.results), second
        return self._second[write.__name__]


def _check(formula: CompiledFormula, names: Sequence[str], given: Mapping[str, Any]) -> None:
    """Check that operands are given, and that those in the vector are not bound."""
    entry = formula._entry
    for name in names:
        if name in entry.bound:
            message = f"'{name}' is bound, and cannot vary"
            raise error(Diagnostic("NE538", message, hint=f"bind the others, and start with {name}=..."))
    if given.keys() | entry.bound.keys() != set(entry.tree.operands):
        entry.refuse(given)


def _start(formula: CompiledFormula, name: str, value: Any) -> Any:
    """Return the first value of an operand: an array or a tensor of floats, or a float."""
    if has_foreign((value,)):
        message = f"'{name}' is not an array of NumPy, which the vectors of SciPy's optimizers are"
        raise error(
            Diagnostic(
                "NE538",
                message,
                formula.text,
                formula._entry._marks(name),
                hint=f"convert it first: np.asarray({name})",
            )
        )
    operand = formula._entry.unwrapped(value, name)
    array, names = np.asarray(array_of(operand)), names_of(operand)
    if array.dtype.kind == "c":
        message = f"'{name}' is complex, and the vectors of SciPy's optimizers are real"
        hint = f"make its parts operands, and write real + 1j * imag for {name} in the formula"
        raise error(Diagnostic("NE538", message, formula.text, formula._entry._marks(name), hint=hint))
    if array.dtype.kind not in "iu":
        return operand
    if type(operand) is int:
        return float(operand)
    return array.astype(np.float64) if names is None else operand._named(array.astype(np.float64), names)


def _stretches(values: Mapping[str, Any]) -> dict[str, Stretch]:
    ends = np.cumsum([0, *[np.size(array_of(value)) for value in values.values()]]).tolist()
    return {
        name: Stretch(start, stop, value)
        for (name, value), start, stop in zip(values.items(), ends, ends[1:], strict=False)
    }


def _joined(values: Iterable[Any]) -> Vector:
    """Return arrays, tensors and numbers one after the other, in a vector of float64."""
    return np.concatenate([np.ravel(array_of(value)) for value in values], dtype=np.float64)
