"""One text with its options, and the functions made of it so far: unwrap, run, wrap.

An `Entry` is what the cache holds. Its `call` is the function of the latest operands; when that one's guard
fails, `miss` looks for one made earlier, and else compiles.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from nameexpr.api.cache import Generations
from nameexpr.api.options import Options
from nameexpr.api.specialise import MISSING, Function, specialise
from nameexpr.backends.numpy.arrays import NUMBERS, as_operand, number_name, promoted, weak_numbers
from nameexpr.compiler.dtypes import FLOATING_RESULT, Dtypes, choose_dtypes
from nameexpr.compiler.operands import Operand, describe
from nameexpr.compiler.pipeline import Compiled, compile_typed, read, type_expression
from nameexpr.compiler.typed import Names, Typed
from nameexpr.errors import Diagnostic, error
from nameexpr.syntax.ast import Expression
from nameexpr.tensors import NamedTensor, wrap

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]
Described = tuple[Sequence[Operand], Sequence[np.dtype[Any]], Sequence[tuple[int, ...] | None]]
PROGRAMS = 64
"""Shapes, dtypes and names for which one text keeps its functions."""

UNPRINTED = 2**62


class Entry:
    """A checked text with options.

    `call` runs it on operands; `tree` is its syntax; `latest` are the operands that were compiled for last.
    """

    __slots__ = ("call", "latest", "options", "programs", "text", "tree")

    def __init__(self, text: str, options: Options) -> None:
        self.text = text
        self.options = options
        self.tree: Expression = read(text, dict(options.sizes), has_reduce=options.reduce is not None)
        _check_arrow(self.tree)
        self.programs: Generations[Any, Function] = Generations(PROGRAMS)
        self.call: Function = self.miss
        self.latest: Described | None = None

    def miss(self, *values: Any) -> Any:
        """Run operands that the latest function is not for."""
        given = tuple(value for value in values if value is not MISSING)
        operands = unwrap(given, self.text, self.options.dtype)
        arrays = [operand._data if isinstance(operand, NamedTensor) else operand for operand in operands]
        layout = tuple(array.strides for array in arrays)
        key = tuple((o.shape, o.dtype, o.names if isinstance(o, NamedTensor) else None) for o in operands)
        function = self.programs.get((key, None)) or self.programs.get((key, layout))
        if function is None:
            compiled, function = self._make(operands, arrays)
            self.programs.put((key, layout if compiled.program.depends_on_layout else None), function)
        self.call = function
        return function(*operands)

    def _make(self, operands: Sequence[Any], arrays: Sequence[Array]) -> tuple[Compiled, Function]:
        shapes = [Operand(a.shape, o.names if isinstance(o, NamedTensor) else None)
                  for o, a in zip(operands, arrays, strict=True)]  # fmt: skip
        compiled = self.compile(
            shapes, [array.dtype for array in arrays], [array.strides for array in arrays]
        )
        is_named = any(operand.names is not None for operand in shapes)
        names: Names | None = compiled.typed.names if is_named else None
        reduce = self.options.reduce if callable(self.options.reduce) else None
        self.latest = (shapes, [array.dtype for array in arrays], [array.strides for array in arrays])
        return compiled, specialise(compiled, shapes, arrays, names, reduce, self.miss)

    def compile(
        self,
        operands: Sequence[Operand],
        dtypes: Sequence[np.dtype[Any]],
        strides: Sequence[tuple[int, ...] | None],
    ) -> Compiled:
        """Return the expression compiled for operands of these shapes, names, dtypes and strides."""
        typed = type_expression(self.tree, operands, dict(self.options.sizes), reducer=self.options.reducer)
        chosen = self._dtypes(typed, operands, dtypes)
        compiled = compile_typed(self.tree, typed, chosen, strides, self.options.optimize)
        _check_addressable(compiled, operands)
        return compiled

    def _dtypes(self, typed: Typed, operands: Sequence[Operand], dtypes: Sequence[np.dtype[Any]]) -> Dtypes:
        wanted = self.options.dtype
        product = wanted or promoted(dtypes)
        if product is None or (len(dtypes) > 1 and product.kind not in "biufcOm"):
            infos = tuple(
                info._replace(labels=(str(dtype),))
                for info, dtype in zip(describe(self.tree.inputs, operands), dtypes, strict=False)
            )
            listed = " and ".join(dict.fromkeys(str(dtype) for dtype in dtypes))
            hint = "convert the operands to numbers first"
            raise error(
                Diagnostic(
                    "NE505", f"elements of dtype {listed} cannot be multiplied", self.text, (), infos, hint
                )
            )
        if wanted is not None:
            _check_castable(self.text, dtypes, wanted)
            _check_holds(self.text, wanted, typed.reducer)
        return choose_dtypes(
            tuple(map(number_name, dtypes)),
            number_name(product),
            is_summed=typed.is_summed,
            reducer=typed.reducer,
            is_asked=wanted is not None,
        )


def unwrap(values: Sequence[Any], text: str, dtype: np.dtype[Any] | None = None) -> list[Any]:
    """Return the operands as arrays and NamedTensors; numbers of Python become arrays last, for they are
    weak.

    Raises
    ------
    OperandError
        If an operand is nothing that an expression can work on.
    """
    operands = [_unwrapped(value, position, text) for position, value in enumerate(values)]
    if any(operand is None for operand in operands):
        arrays = [operand._data if isinstance(operand, NamedTensor) else operand for operand in operands]
        filled = weak_numbers(values, arrays, text, dtype)
        operands = [new if old is None else old for old, new in zip(operands, filled, strict=True)]
    return operands


def _unwrapped(value: Any, position: int, text: str) -> Any:
    """Return an array or a NamedTensor, of no subclass; None for a number of Python."""
    if isinstance(value, NamedTensor):
        return value if type(value) is NamedTensor else wrap(value.data, value.names)
    return None if type(value) in NUMBERS else as_operand(value, position, text)


def _check_arrow(tree: Expression) -> None:
    if tree.outputs is None:
        hint = "to compute, say what results: inputs -> result; to check shapes, call nameexpr.check"
        raise error(
            Diagnostic(
                "NE218", "an expression needs an arrow: this text is an assertion", tree.text, hint=hint
            )
        )


def _check_castable(text: str, dtypes: Sequence[np.dtype[Any]], wanted: np.dtype[Any]) -> None:
    for position, dtype in enumerate(dtypes):
        if not np.can_cast(dtype, wanted, "same_kind"):
            message = f"dtype={wanted} would lose what operand {position}, of dtype {dtype}, holds"
            hint = f"convert it first if that is meant: operand.astype('{wanted}')"
            raise error(Diagnostic("NE610", message, text, hint=hint))


def _check_holds(text: str, wanted: np.dtype[Any], reducer: str | None) -> None:
    if reducer in FLOATING_RESULT and wanted.kind in "biu":
        message = f"a {reducer} is no whole number, so dtype={wanted} cannot hold it"
        raise error(
            Diagnostic("NE610", message, text, hint="ask for a floating dtype, or convert the result")
        )


def _check_addressable(compiled: Compiled, operands: Sequence[Operand]) -> None:
    """Refuse what no machine can hold, before NumPy meets it."""
    for shape in (*compiled.shapes[len(operands) :], compiled.typed.result_shape):
        if prod(size for size in shape if size) * 16 > sys.maxsize:
            message = f"an array of shape {shape} would be needed, which no machine can hold"
            if prod(shape) > UNPRINTED:
                message = "an array larger than any machine can hold would be needed"
            infos = describe(compiled.tree.inputs, operands)
            raise error(Diagnostic("NE706", message, compiled.tree.text, operands=infos))
