"""Expressions: an `Entry` for texts whose operands are passed by position."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import number_name, promoted
from nameexpr.compiler.analysis.infer import Typed, build_expression, type_expression
from nameexpr.compiler.analysis.operands import Operand, describe
from nameexpr.compiler.compilation import Compilation, Options
from nameexpr.compiler.ir.axes import CUSTOM, Names
from nameexpr.compiler.ir.dtypes import FLOATING_RESULT, Dtypes, choose_dtypes, swapped
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.pipeline import compile_expression, read
from nameexpr.errors import Diagnostic, Mark, error
from nameexpr.ops import SUMMING
from nameexpr.runtime.entry import DEFAULT, CallOptions, Entry
from nameexpr.runtime.operands import OperandSpec, unwrap
from nameexpr.syntax.ast import Expression, Label

UNPRINTED = 2**62


class ExpressionEntry(Entry):
    """A checked expression with options."""

    __slots__ = ()
    is_called_by_text = True
    tree: Expression

    def __init__(
        self,
        text: str,
        options: CallOptions = DEFAULT,
        fixed: Mapping[int, Any] | None = None,
        tree: Expression | None = None,
    ) -> None:
        if tree is None:
            tree = read(text, dict(options.sizes), has_reduce=options.reduce is not None)
            if tree.outputs is None:
                from nameexpr.compiler.analysis.faults.misuse import needs_arrow

                raise error(needs_arrow(text))
        super().__init__(text, options, tree, len(tree.inputs), fixed, structure_of(tree))

    def bind(self, operands: Mapping[int, Any]) -> ExpressionEntry:  # noqa: D102
        return ExpressionEntry(self.text, self.options, {**self.fixed, **operands}, self.tree)

    def unwrap(self, operands: Sequence[Any]) -> list[Any]:  # noqa: D102
        return unwrap(operands, self.text, self.dtype)

    def merge(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Return all operands in the order of the text (NE501 and NE502 for too few and too many)."""
        if not self.is_bound or len(operands) == len(self.free):
            return super().merge(operands)
        from nameexpr.syntax.unparse import unparse_term

        terms, count, left = self.tree.inputs, len(operands), len(self.free)
        wants = f"{left or 'no'} {'operand' if left == 1 else 'operands'} not counting bound ones"
        got = f"{count or 'no'} {'operands were' if count > 1 else 'operand was'} given"
        listed = " and ".join(f"'{unparse_term(terms[position])}'" for position in self.free)
        hint = f"give one array for {listed}" if left else "call it without operands"
        marks = tuple(Mark(terms[position].span) for position in self.free)
        code = "NE501" if count < left else "NE502"
        raise error(Diagnostic(code, f"the text takes {wants}, but {got}", self.text, marks, hint=hint))

    def compile(
        self, specs: Sequence[OperandSpec], ranks: tuple[int, ...] = (), same: tuple[int, ...] = ()
    ) -> Compilation[Expression]:
        """Return the expression compiled for operands like these; if some are bound, with the order of
        contractions that is cheapest per call.
        """
        own = self.options
        operands = [Operand(spec.shape, spec.names) for spec in specs]
        layouts = [spec.layout for spec in specs]
        typed, dtypes = self.typed(specs)
        options = Options(
            self.target, own.optimize, own.memory_limit, own.order == "C", ranks, same, tuple(self.fixed)
        )
        compiled = compile_expression(self.tree, typed, dtypes, layouts, options)
        _check_addressable(compiled, operands)
        return compiled

    def typed(self, specs: Sequence[OperandSpec]) -> tuple[Typed, Dtypes]:
        """Return the expression with the sizes and dtypes that operands like these give it."""
        operands = [Operand(spec.shape, spec.names) for spec in specs]
        typed = self.labelled(operands)
        return typed, self._dtypes(typed, operands, tuple([spec.dtype for spec in specs]))

    def labelled(self, operands: Sequence[Operand]) -> Typed:
        """Return the expression with the labels and sizes that operands like these give it."""
        own = self.options
        reducer = CUSTOM if callable(own.reduce) else own.reduce
        return type_expression(self.tree, operands, dict(own.sizes), reducer=reducer)

    def graph(self, specs: Sequence[OperandSpec]) -> tuple[Graph, tuple[int, ...], tuple[Names, ...]]:
        """Return the graph for operands like these, its results, and the names of each."""
        typed, dtypes = self.typed(specs)
        names = (typed.names, *(() if typed.blocks is None else typed.blocks.names))
        return (*build_expression(typed, dtypes), names)

    def _dtypes(self, typed: Typed, operands: Sequence[Operand], dtypes: tuple[np.dtype[Any], ...]) -> Dtypes:
        wanted = self.dtype
        if wanted is not None:
            _check_wanted(self.text, dtypes, wanted, typed.reducer)
        is_moved = typed.blocks is not None
        if is_moved:
            chosen = _dtypes_of_blocks(dtypes, wanted)
        else:
            chosen = _dtypes_of_product(dtypes, wanted, typed.reducer, bool(typed.dropped))
        if chosen is not None:
            return chosen
        pairs = zip(describe(self.tree.inputs, operands), dtypes, strict=False)
        infos = tuple(info._replace(labels=(str(dtype),)) for info, dtype in pairs)
        listed = " and ".join(dict.fromkeys(str(dtype) for dtype in dtypes))
        message = f"elements of dtype {listed} cannot be {'in one array' if is_moved else 'multiplied'}"
        hint = "convert the operands to numbers first"
        raise error(Diagnostic("NE505", message, self.text, (), infos, hint))


def _dtypes_of_blocks(dtypes: tuple[np.dtype[Any], ...], wanted: np.dtype[Any] | None) -> Dtypes | None:
    """Return the dtypes of an expression that moves values, or None if no array can hold all of them."""
    common = wanted or promoted(dtypes)
    if common is None:
        return None
    is_cast = [wanted is not None and not dtype.isnative for dtype in dtypes]
    names = [
        swapped(number_name(one)) if cast else number_name(one)
        for one, cast in zip(dtypes, is_cast, strict=True)
    ]
    return Dtypes(tuple(names), "", number_name(common))


@lru_cache(maxsize=4096)
def _dtypes_of_product(
    dtypes: tuple[np.dtype[Any], ...], wanted: np.dtype[Any] | None, reducer: str | None, drops: bool
) -> Dtypes | None:
    """Return the dtypes in which operands are combined, or None if NumPy defines no product of them."""
    product, names = wanted or promoted(dtypes), tuple(map(number_name, dtypes))
    if product is None:
        return None
    name = number_name(product)
    if wanted is not None:
        pairs = zip(names, dtypes, strict=True)
        names = tuple(name if dtype.isnative else swapped(name) for name, dtype in pairs)
    elif len(dtypes) > 1:
        # A product of timedeltas is not a timedelta, and NumPy's sums of products lose the unit.
        times = sum(dtype.kind == "m" for dtype in dtypes)
        is_summed = drops if reducer is None else reducer in SUMMING
        if (is_summed or times > 1) if product.kind == "m" else not name and product.kind != "O":
            return None
    return choose_dtypes(names, name, reducer, drops=drops, is_asked=wanted is not None)


def structure_of(tree: Expression) -> Any:
    """Return the structure of a text that consists of labels only, independent of their names; None for other
    texts.
    """
    numbers: dict[str, int] = {}
    terms = []
    for term in (*tree.inputs, *(tree.outputs or ())):
        numbered = []
        for item in term.items:
            if type(item) is not Label:
                return None
            numbered.append(numbers.setdefault(item.name, len(numbers)))
        terms.append(tuple(numbered))
    if not terms[0] and tree.leaves_inputs_out:
        return None
    return tuple(terms), tree.reducer and tree.reducer.name


def _check_wanted(
    text: str, dtypes: Sequence[np.dtype[Any]], wanted: np.dtype[Any], reducer: str | None
) -> None:
    """Reject dtype= if it would lose information of the operands, or cannot hold the result (NE610)."""
    for position, dtype in enumerate(dtypes):
        if not np.can_cast(dtype, wanted, "same_kind"):
            message = f"dtype={wanted} cannot hold operand {position}, of dtype {dtype}, without loss"
            hint = f"if that is intended, convert it first: operand.astype('{wanted}')"
            raise error(Diagnostic("NE610", message, text, hint=hint))
    if reducer in FLOATING_RESULT and wanted.kind in "biu":
        message = f"a {reducer} is not a whole number, so dtype={wanted} cannot hold it"
        hint = "use a floating dtype, or convert the result"
        raise error(Diagnostic("NE610", message, text, hint=hint))


def _check_addressable(compiled: Compilation[Expression], operands: Sequence[Operand]) -> None:
    """Reject values that exceed the address space, before NumPy allocates them."""
    for shape in (compiled.shapes[compiled.program.result], *compiled.shapes[len(operands) :]):
        if prod(size for size in shape if size) * 16 > sys.maxsize:
            message = f"an array of shape {shape} would be needed, which no machine can hold"
            if prod(shape) > UNPRINTED:
                message = "an array larger than any machine can hold would be needed"
            infos = describe(compiled.tree.inputs, operands)
            raise error(Diagnostic("NE706", message, compiled.tree.text, operands=infos))
