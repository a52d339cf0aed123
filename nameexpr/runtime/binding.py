"""`bind`: operands that do not change between calls, copied and checked as far as possible.

>>> import numpy as np, nameexpr as ne
>>> layer = ne.compile("y[N K] = sum[C](x[N C] * w[C K]) + b[K]").bind(w=np.ones((3, 4)), b=np.zeros(4))
>>> layer(x=np.ones((2, 3))).shape
(2, 4)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from importlib import import_module
from mmap import mmap
from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.backends.numpy.arrays import NUMBERS
from nameexpr.compiler.analysis.faults.binding import no_operand, read_positions
from nameexpr.compiler.analysis.infer import infer_sizes
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.records import replace
from nameexpr.runtime.entry import Entry
from nameexpr.runtime.operands import BARE, array_of, names_of, unwrapped
from nameexpr.syntax.ast import LABELLED, Term
from nameexpr.syntax.walk import atoms

if TYPE_CHECKING:
    from nameexpr.runtime.expression import ExpressionEntry
    from nameexpr.runtime.formula import FormulaEntry

CONTRADICTIONS = frozenset({"NE302", "NE304", "NE305", "NE306", "NE307", "NE309", "NE310", "NE330", "NE401"})
"""Errors of the bound operands that do not depend on the others."""


def bind_expression(entry: ExpressionEntry, operands: Mapping[int, Any]) -> ExpressionEntry:
    """Return an expression with more operands bound, by their positions among the unbound ones (NE624 for
    invalid positions; other errors if they contradict the text, or each other, regardless of the other
    operands).
    """
    tree = entry.tree
    pairs = zip(read_positions(tree, entry.fixed, operands), operands.values(), strict=True)
    # A Python number is kept, as it is weak in promotion with the others.
    bound = entry.bind({position: _held(value, unwrapped, position, entry.text) for position, value in pairs})
    carry(entry, bound, operands.values())
    fixed = bound.fixed
    # Operands that are not bound yet are scalars with empty terms here, which determine nothing.
    terms = tuple(term if place in fixed else Term(()) for place, term in enumerate(tree.inputs))
    labels = {atom.name for term in terms for atom in atoms(term.items) if isinstance(atom, LABELLED)}
    known = {label: size for label, size in entry.options.sizes if label in labels}
    every = [_operand(fixed[place]) if place in fixed else Operand(()) for place in range(len(terms))]
    try:
        infer_sizes(replace(tree, inputs=terms, outputs=None, reducer=None), every, known)
    except NameExprError as fault:
        raise_contradictions(fault, fixed)
    return bound


def bind_formula(entry: FormulaEntry, operands: Mapping[str, Any]) -> FormulaEntry:
    """Return a formula with more operands bound (NE624 for names that are not operands; other errors if they
    cannot fit, regardless of the other operands).
    """
    from nameexpr.compiler.analysis.scope import Scope
    from nameexpr.compiler.analysis.views import read_views

    scope, names = entry.tree, entry.tree.operands
    for name in operands:
        if name not in names:
            raise error(no_operand(name, names, entry.text))
    bound = entry.bind(
        {names.index(name): _held(value, entry.unwrapped, name) for name, value in operands.items()}
    )
    carry(entry, bound, operands.values())
    shapes = {name: _operand(value) for name, value in bound.bound.items()}
    try:
        part = Scope(scope.tree, {name: scope.uses[name] for name in shapes})
        read_views(part, shapes, dict(entry.options.sizes))
    except NameExprError as fault:
        raise_contradictions(fault)
    return bound


def carry(entry: Entry, bound: Entry, operands: Iterable[Any]) -> None:
    """Give an entry the coordinates of the operands that were bound to it."""
    given = list(operands)
    if entry.coordinates or not BARE.issuperset(map(type, given)):
        from nameexpr.runtime.coordinates import coordinates_of, understood

        bound.coordinates = coordinates_of(entry.tree, list(map(understood, given)), entry.coordinates)


def _operand(value: Any) -> Operand:
    return Operand(tuple(getattr(array_of(value), "shape", ())), names_of(value))


def _held(value: Any, unwrapped: Callable[..., Any], *place: Any) -> Any:
    """Return an operand that cannot change; an array of a library that never writes to arrays as it is."""
    if type(value) not in BARE:
        from nameexpr.backends.dispatch import NEVER_WRITTEN, SUPPORTED, array_within, library_name

        if hasattr(type(value), "_unrecorded"):
            message = "a recorded tensor cannot be bound: no gradient would go through it"
            raise error(Diagnostic("NE695", message, hint="bind x.detach(), or pass x to the call"))
        kind: Any = type(array_within(value))
        name = library_name(kind)
        if name in NEVER_WRITTEN:
            return value
        if name is not None and name in SUPPORTED:
            return _of_library(value, name)
    return frozen_copy(unwrapped(value, *place))


def _of_library(operand: Any, name: str) -> Any:
    """Return a copy of an array of another library, or of a tensor with names that holds one."""
    library = import_module(f"nameexpr.backends.{name}.library").library_for([operand])
    names = names_of(operand)
    if names is None:
        return library.copied(operand)
    return type(operand)._wrap(library.copied(operand._data), names)


def frozen_copy(operand: Any) -> Any:
    """Return an unwrapped operand that cannot change: a dense copy, unless it is read-only."""
    if type(operand) in NUMBERS:
        return operand
    if type(operand) is np.ndarray:
        return _copied(operand)
    from nameexpr.tensors import wrap

    return wrap(_copied(operand.data), operand.names)


def _copied(array: Any) -> Any:
    if _is_constant(array):
        return array
    # Broadcast axes are kept: one element along each axis of stride 0 is copied.
    sizes = zip(array.shape, array.strides, strict=True)
    part = array[(..., *(slice(0, 1) if size > 1 and not stride else slice(None) for size, stride in sizes))]
    copy = np.array(part)
    copy.flags.writeable = False
    return copy if copy.shape == array.shape else np.broadcast_to(copy, array.shape)


def _is_constant(array: Any) -> bool:
    """Return whether neither this array nor the array that it is a view of is writable."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return array is None or isinstance(array, bytes | mmap)


def raise_contradictions(fault: NameExprError, positions: Collection[int] | None = None) -> None:
    """Raise the errors that no other operands could resolve; `positions` are those of the operands
    to list.
    """
    found = [one for one in fault.diagnostics if one.code in CONTRADICTIONS]
    if positions is not None:
        found = [
            one._replace(operands=tuple(info for info in one.operands if info.position in positions))
            for one in found
        ]
    if found:
        raise error(*found) from None
