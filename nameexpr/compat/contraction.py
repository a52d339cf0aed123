"""Entries of subscripts: sums of products as `numpy.einsum` defines them, computed by this package.

The dtype is that of NumPy's promotion: sums of int8 are int8, and sums of bools tell whether any is true.
What the compiler does not compute, such as Python objects, is passed to the library whose function is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from string import ascii_letters
from typing import Any

import numpy as np

from nameexpr.backends.dispatch import NUMPY, library_name
from nameexpr.backends.numpy.arrays import number_name
from nameexpr.backends.numpy.kernels import c_einsum
from nameexpr.compat.labels import label_dims
from nameexpr.compat.memory_order import in_kept_order
from nameexpr.compat.subscripts import ELLIPSIS, word
from nameexpr.compiler.analysis.infer import Typed
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.ir.dtypes import Dtypes, choose_dtypes
from nameexpr.records import replace
from nameexpr.runtime.cache import MISSING
from nameexpr.runtime.entry import CallOptions
from nameexpr.runtime.expression import ExpressionEntry
from nameexpr.runtime.operands import OperandSpec
from nameexpr.syntax.ast import Expression

Function = Callable[..., Any]
COMPUTED = frozenset("?bhilqBHILQefdFD")
"""The characters of the dtypes that the compiler computes with."""


class SubscriptsEntry(ExpressionEntry):
    """Subscripts, which are called with arrays; `peer` computes what the compiler does not."""

    __slots__ = ("is_general", "peer")
    is_called_by_text = False

    def __init__(
        self,
        tree: Expression,
        peer: Function,
        path: tuple[tuple[int, ...], ...] | None = None,
        fixed: Mapping[int, Any] | None = None,
        *,
        is_general: bool = False,
    ) -> None:
        super().__init__(tree.text, CallOptions(optimize=path), fixed, tree)
        self.structure = None  # the functions are not those of expressions of the same structure
        self.peer, self.is_general = peer, is_general
        if is_view(tree) and not self.is_bound:
            self.call = partial(view, self, spelled(tree))

    def bind(self, operands: Mapping[int, Any]) -> SubscriptsEntry:
        """Return the subscripts with operands that do not change."""
        path, is_general = self.options.optimize, self.is_general
        return SubscriptsEntry(self.tree, self.peer, path, operands, is_general=is_general)

    def slow_call(self, *values: Any) -> Any:
        """Return the result for operands that the latest function does not apply to."""
        given = [value for value in values if value is not MISSING]
        if any(map(is_foreign, given)):
            return super().slow_call(*given) if self.is_general and are_run(given) else self.peer(*given)
        arrays = [value if type(value) is np.ndarray else np.asarray(value) for value in given]
        if not all(array.dtype.char in COMPUTED for array in arrays):
            return self.peer(*given)
        result = super().slow_call(*arrays)
        if result.ndim == 0:
            self.call = partial(scalar, self.call)
            return result[()]
        if result.ndim > 1 and not self.is_bound:
            self.call = partial(in_kept_order, self.tree, self.call)
            return in_kept_order(self.tree, lambda *_: result, *arrays)
        return result

    def typed(self, specs: Sequence[OperandSpec]) -> tuple[Typed, Dtypes]:
        """Return the labels, sizes and dtypes that operands like these give the subscripts."""
        typed = self.labelled([Operand(spec.shape) for spec in specs])
        dtypes = [spec.dtype for spec in specs]
        product = np.result_type(*dtypes)
        if product == np.bool_ and typed.dropped:
            typed = replace(typed, reducer="any")
        names, drops = tuple(map(number_name, dtypes)), bool(typed.dropped)
        return typed, choose_dtypes(names, number_name(product), typed.reducer, drops=drops, is_asked=True)

    def labelled(self, operands: Sequence[Operand]) -> Typed:  # noqa: D102
        return label_dims(self.tree, operands)


def scalar(function: Function, *operands: Any) -> Any:
    """Return the result of a function; one without dims as a NumPy scalar, as NumPy's functions do."""
    result = function(*operands)
    return result[()] if type(result) is np.ndarray and not result.ndim else result


def view(entry: SubscriptsEntry, text: str, *operands: Any) -> Any:
    """Return a view of the operand: NumPy's function makes it faster than a function that checks shapes."""
    if len(operands) == 1 and type(operands[0]) is np.ndarray:
        try:
            return c_einsum(text, operands[0])
        except ValueError:
            pass
    given = [one for one in operands if one is not MISSING]
    if any(map(is_foreign, given)):
        return entry.slow_call(*given)
    entry.labelled([Operand(np.shape(one)) for one in given])
    return entry.peer(*given)


def is_view(tree: Expression) -> bool:
    """Return whether the result has the elements of one operand, each as it is."""
    (output,) = tree.outputs or ()
    return len(tree.inputs) == 1 and set(tree.inputs[0].items) <= set(output.items)


def spelled(tree: Expression) -> str:
    """Return subscripts with letters as labels, for NumPy's own function."""
    names = dict.fromkeys([word(item) for term in tree.inputs for item in term.items]).keys() - {ELLIPSIS}
    letters = dict(zip(sorted(names), ascii_letters, strict=False)) | {ELLIPSIS: ELLIPSIS}
    left, right = (
        ",".join(["".join([letters.get(word(item), "?") for item in term.items]) for term in terms])
        for terms in (tree.inputs, tree.outputs or ())
    )
    return f"{left}->{right}"


def are_run(operands: Sequence[Any]) -> bool:
    """Return whether operands are arrays of one library that texts run on, or numbers."""
    kinds: set[Any] = {type(one) for one in operands if is_foreign(one)}
    names = set(map(library_name, kinds))
    return len(names) == 1 and names <= {"torch", "jax", "dask"}


def is_foreign(operand: Any) -> bool:
    """Return whether an operand is an array of another library, or a class with rules of its own."""
    kind: Any = type(operand)
    if kind is np.ndarray or isinstance(
        operand, np.ndarray | np.generic | int | float | complex | list | tuple
    ):
        return False
    return library_name(kind) not in (None, NUMPY) or hasattr(kind, "__array_function__")
