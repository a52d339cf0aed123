"""One text with its options, and the functions made of it so far: unwrap, run, wrap.

An `Entry` is what the cache holds. Its `call` is the function of the latest operands; when that one's guard
fails, `miss` looks for one made earlier, and else compiles.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import NUMBERS, as_operand, number_name, promoted, weak_numbers
from nameexpr.backends.numpy.target import TARGET
from nameexpr.compiler.analysis.faults.misuse import needs_arrow
from nameexpr.compiler.analysis.operands import Operand, describe
from nameexpr.compiler.ir.axes import Typed
from nameexpr.compiler.ir.dtypes import FLOATING_RESULT, Dtypes, choose_dtypes, swapped
from nameexpr.compiler.pipeline import Compilation, compile_expression, read, type_expression
from nameexpr.compiler.pipeline import Options as CompilerOptions
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.runtime import fast_path as hot
from nameexpr.runtime.aliases import repeats
from nameexpr.runtime.cache import Generations
from nameexpr.runtime.faults.call import run_fault
from nameexpr.runtime.layouts import layout_of
from nameexpr.runtime.options import DEFAULT, Options
from nameexpr.runtime.specialise import Function, Template, function_of, template
from nameexpr.syntax.ast import Expression, Label
from nameexpr.tensors import NamedTensor, wrap

Described = tuple[
    Sequence[Operand], Sequence[np.dtype[Any]], Sequence[tuple[int, ...] | None], tuple[int, ...]
]
"""Shapes and names, dtypes and strides of operands, and the ways chosen for them."""
Latest = tuple[
    Sequence[Operand],
    Sequence[np.dtype[Any]],
    Sequence[tuple[int, ...] | None],
    tuple[int, ...],
    tuple[int, ...],
]
"""The same, and which operands are the same array."""
PROGRAMS = 64
"""Shapes, dtypes and names for which one text keeps its functions."""

UNPRINTED = 2**62


class Entry:
    """A checked text with options.

    `call` runs it on operands; `tree` is its syntax; `latest` are the operands that were compiled for last.
    """

    __slots__ = (
        "_is_hot",
        "_is_limited",
        "call",
        "latest",
        "options",
        "programs",
        "structure",
        "text",
        "tree",
    )

    def __init__(self, text: str, options: Options) -> None:
        self.text = text
        self.options = options
        self.tree: Expression = read(text, dict(options.sizes), has_reduce=options.reduce is not None)
        _check_arrow(self.tree)
        self.programs: Generations[Any, Function] = Generations(PROGRAMS)
        self.call: Function = self.miss
        self._is_hot = options is DEFAULT or options == DEFAULT
        self._is_limited = options.memory_limit is not None
        self.structure = structure_of(self.tree)
        self.latest: Latest | None = None

    def miss(self, *values: Any) -> Any:
        """Run operands that the latest function is not for."""
        operands = arrays = [value for value in values if value is not hot.MISSING]
        kinds: tuple[Any, ...]
        if [type(value) for value in operands] == [np.ndarray] * len(operands):
            kinds = tuple([array.dtype for array in arrays])
        else:
            operands = unwrap(operands, self.text, self.options.dtype)
            arrays = [one._data if isinstance(one, NamedTensor) else one for one in operands]
            kinds = tuple((one.dtype, getattr(one, "names", None)) for one in operands)
        ranks = (kinds, tuple([array.ndim for array in arrays]))
        shapes = (kinds, tuple([array.shape for array in arrays]))
        strides = [layout_of(array) if self._is_limited else array.strides for array in arrays]
        layouts = (*shapes, tuple(strides))
        same = repeats(arrays)
        whole = (*layouts, same) if same else layouts
        # What is for all sizes has nothing to share; what is for different arrays is right for equal ones.
        keys: tuple[Any, ...] = (ranks, whole) if same else (ranks, shapes, layouts)
        function = next(filter(None, map(self.programs.get, keys)), None) if self.latest else None
        if function is None:
            described: Latest = (
                [_described(operand) for operand in operands],
                [array.dtype for array in arrays],
                strides,
                (),
                same,
            )
            made = self._template(whole, described, operands)
            function = function_of(made, self.miss, self._explain)
            if not made.same:
                self.programs.put({"ranks": ranks, "shapes": shapes, "layouts": layouts}[made.key], function)
            if same and made.key != "ranks":
                self.programs.put(whole, function)
        self.call = function
        if self._is_hot:
            hot.remember(self.text, function)
        return function(*operands)

    def _template(self, kind: Any, described: Latest, operands: Sequence[Any]) -> Template:
        """Return the code for operands: that of another text, if it is this one in other words."""
        is_shared = self._is_hot and self.structure is not None
        key = (self.structure, kind)
        made = hot.templates.get(key) if is_shared else None
        if made is None:
            described, made = self._made(described, operands)
            if is_shared and made.constants["names"] is None:
                hot.templates.put(key, made)
        self.latest = described
        return made

    def _made(self, described: Latest, operands: Sequence[Any]) -> tuple[Latest, Template]:
        """Compile for operands like these; with `tune=True` the ways to compute are timed on them."""
        shapes, dtypes, strides, ranks, same = described
        if self.options.tune and not callable(self.options.reduce):
            from nameexpr.runtime.tuning import best_ranks

            def make(tried: tuple[int, ...]) -> tuple[Callable[[], Any], Sequence[int]]:
                compiled = self.compile(shapes, dtypes, strides, tried, same)
                function = function_of(self._written(compiled, operands), self.miss, self._explain)
                return lambda: function(*operands), compiled.program.offers

            ranks = best_ranks(make)
        described = (shapes, dtypes, strides, ranks, same)
        return described, self._written(self.compile(*described), operands)

    def _written(self, compiled: Compilation[Expression], operands: Sequence[Any]) -> Template:
        return template(
            compiled.program,
            compiled.shapes,
            operands,
            compiled.names if any(isinstance(operand, NamedTensor) for operand in operands) else None,
            reduce=self.options.reduce if callable(self.options.reduce) else None,
            same=compiled.same,
            has_shapes=not self._fits_all_sizes(compiled),
        )

    def _fits_all_sizes(self, compiled: Compilation[Expression]) -> bool:
        is_free = not self.options.sizes and self.options.memory_limit is None
        return is_free and compiled.fits_all_sizes

    def _explain(self, fault: Exception, *operands: Any) -> Exception:
        """Return the error for what NumPy raised: operands of the right ranks may have sizes that do
        not fit.
        """
        shapes = [_described(operand) for operand in operands]
        dtypes = [operand.dtype for operand in operands]
        try:
            compiled = self.compile(shapes, dtypes, [None] * len(operands))
        except NameExprError as wrong:
            return wrong
        return run_fault(fault, compiled, operands)

    def compile(
        self,
        operands: Sequence[Operand],
        dtypes: Sequence[np.dtype[Any]],
        strides: Sequence[tuple[int, ...] | None],
        ranks: tuple[int, ...] = (),
        same: tuple[int, ...] = (),
    ) -> Compilation[Expression]:
        """Return the expression compiled for operands like these."""
        typed = type_expression(self.tree, operands, dict(self.options.sizes), reducer=self.options.reducer)
        chosen = self._dtypes(typed, operands, dtypes)
        own = self.options
        options = CompilerOptions(TARGET, own.optimize, own.memory_limit, own.order == "C", ranks, same)
        compiled = compile_expression(self.tree, typed, chosen, strides, options)
        _check_addressable(compiled, operands)
        return compiled

    def _dtypes(self, typed: Typed, operands: Sequence[Operand], dtypes: Sequence[np.dtype[Any]]) -> Dtypes:
        wanted = self.options.dtype
        product = wanted or promoted(dtypes)
        if product is None or (len(dtypes) > 1 and _is_no_factor(product, dtypes, is_summed=typed.is_summed)):
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
        names = tuple(map(number_name, dtypes))
        if wanted is not None:
            _check_castable(self.text, dtypes, wanted)
            _check_holds(self.text, wanted, typed.reducer)
            pairs = zip(names, dtypes, strict=True)
            names = tuple(name if dtype.isnative else swapped(name) for name, dtype in pairs)
        return choose_dtypes(
            names,
            number_name(product),
            is_summed=typed.is_summed,
            reducer=typed.reducer,
            is_asked=wanted is not None,
        )


def _is_no_factor(product: np.dtype[Any], dtypes: Sequence[np.dtype[Any]], *, is_summed: bool) -> bool:
    """Whether no product is known of these dtypes: times times times are no times, and NumPy's sums of
    products lose the unit.
    """
    if product.kind == "m":
        return is_summed or sum(dtype.kind == "m" for dtype in dtypes) > 1
    return not number_name(product) and product.kind != "O"


def _described(operand: Any) -> Operand:
    return Operand(operand.shape, operand.names if isinstance(operand, NamedTensor) else None)


def structure_of(tree: Expression) -> Any:
    """Return what a text of nothing but labels says, whatever they are called; None for other texts."""
    numbers: dict[str, int] = {}
    terms = []
    for term in (*tree.inputs, *(tree.outputs or ())):
        names = [item.name for item in term.items if isinstance(item, Label)]
        if len(names) != len(term.items):
            return None
        terms.append(tuple([numbers.setdefault(name, len(numbers)) for name in names]))
    return None if tree.leaves_inputs_out else (tuple(terms), tree.reducer and tree.reducer.name)


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
        raise error(needs_arrow(tree.text))


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


def _check_addressable(compiled: Compilation[Expression], operands: Sequence[Operand]) -> None:
    """Refuse what no machine can hold, before NumPy meets it."""
    for shape in (compiled.result_shape, *compiled.shapes[len(operands) :]):
        if prod(size for size in shape if size) * 16 > sys.maxsize:
            message = f"an array of shape {shape} would be needed, which no machine can hold"
            if prod(shape) > UNPRINTED:
                message = "an array larger than any machine can hold would be needed"
            infos = describe(compiled.tree.inputs, operands)
            raise error(Diagnostic("NE706", message, compiled.tree.text, operands=infos))
