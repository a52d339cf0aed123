"""What binding needs of both expressions and formulas: operands by value, values that are computed once, and
the words for what cannot be bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from mmap import mmap
from operator import index
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import NUMBERS, as_operand
from nameexpr.compiler.analysis.infer import infer_sizes
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Program
from nameexpr.errors import Diagnostic, NameExprError, did_you_mean, error
from nameexpr.runtime.cache import Generations
from nameexpr.runtime.specialise import Function, run_values
from nameexpr.syntax.ast import LABELLED, Expression, atoms
from nameexpr.syntax.unparse import unparse_term
from nameexpr.tensors import NamedTensor, wrap

KEPT = 16
"""Preludes whose values one bound text keeps: those of as many kinds of operands, if each needs others."""
CONTRADICTIONS = frozenset({"NE302", "NE304", "NE305", "NE306", "NE307", "NE309", "NE310", "NE330", "NE401"})
"""Mistakes that the bound operands show by themselves, whatever the others are."""


def array_of(operand: Any) -> Any:
    """Return the array of an unwrapped operand."""
    return operand._data if isinstance(operand, NamedTensor) else operand


def read_operand(value: Any, position: int, text: str) -> Any:
    """Return an operand to hold: a number of Python stays one, which is weak against the others."""
    if type(value) in NUMBERS:
        return value
    if isinstance(value, NamedTensor):
        return owned(value)
    return owned(as_operand(value, position, text))


def shape_of(value: Any) -> Operand:
    """Return shape and names of an unwrapped operand."""
    if type(value) in NUMBERS:
        return Operand(())
    return Operand(value.shape, value.names if isinstance(value, NamedTensor) else None)


def owned(operand: Any) -> Any:
    """Return an unwrapped operand whose elements nobody writes to: a dense copy, unless it is read-only."""
    if isinstance(operand, NamedTensor):
        return wrap(_owned_array(operand.data), operand.names)
    return operand if type(operand) in NUMBERS else _owned_array(operand)


def _owned_array(array: Any) -> Any:
    if _is_constant(array):
        return array
    # What is broadcast stays so: one cell along each axis of stride 0 is copied.
    sizes = zip(array.shape, array.strides, strict=True)
    part = array[(..., *(slice(0, 1) if size > 1 and not stride else slice(None) for size, stride in sizes))]
    copy = np.array(part)
    copy.flags.writeable = False
    return copy if copy.shape == array.shape else np.broadcast_to(copy, array.shape)


def _is_constant(array: Any) -> bool:
    """Whether neither this array nor what it is a view of can be written to."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return array is None or isinstance(array, bytes | mmap)


def sealed(operand: Any) -> Any:
    """Return an operand that is ours already, made read-only: pickles forget that it was."""
    array = array_of(operand)
    if isinstance(array, np.ndarray):
        array.flags.writeable = False
    return operand


class Prepared:
    """The values of preludes: each is computed once, for all kinds of operands that want the same one."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: Generations[Any, tuple[Any, ...]] = Generations(KEPT)

    def values(
        self, prelude: Program | None, operands: Sequence[Any], explain: Callable[[Exception], Exception]
    ) -> tuple[Any, ...]:
        """Return what a prelude gives for the bound operands; `explain` makes an error of a fault."""
        if prelude is None:
            return ()
        kinds = tuple(getattr(one, "dtype", type(one)) for one in operands)
        key = (prelude.operands, prelude.instructions, prelude.results, kinds)

        def compute() -> tuple[Any, ...]:
            return tuple(map(sealed, run_values(prelude, shapes_of(prelude), operands, explain)))

        return self._values.get_or_make(key, compute)


def hold(function: Function, count: int, values: Iterable[Any]) -> Function:
    """Return a generated function of `count` operands that finds the values as the operands after those."""
    names: dict[str, Any] = function.__globals__
    names.update({f"a{place}": value for place, value in enumerate(values, count)})
    return function


def read_positions(tree: Expression, fixed: Mapping[int, Any], operands: Any) -> list[int]:
    """Return the positions in the text of operands given by position among those not fixed (NE624)."""
    free = [place for place in range(len(tree.inputs)) if place not in fixed]
    terms = [unparse_term(tree.inputs[place]) for place in free]
    listed = ", ".join(f"{number} '{term}'" for number, term in enumerate(terms))
    hint = f"the operands are {listed}" if free else "all operands are bound"
    if len(free) == 1:
        hint = f"the only operand that is left is {listed}" if fixed else f"the only operand is {listed}"
    if tree.leaves_inputs_out:
        message = "bind: the operands of this text are known only when it is called"
        raise error(Diagnostic("NE624", message, tree.text, hint="write their terms left of the arrow"))
    if not isinstance(operands, Mapping):
        message = f"bind takes a mapping from positions to operands, and not a {type(operands).__name__}"
        raise error(Diagnostic("NE624", message, tree.text, hint=f"such as bind({{0: ...}}); {hint}"))
    places: list[int] = []
    for key in operands:
        place = free[_position(key, terms, tree.text, hint)]
        if place in places:
            message = f"bind: operand {free.index(place)} is given twice"
            raise error(Diagnostic("NE624", message, tree.text, hint="give it once"))
        places.append(place)
    return places


def _position(key: Any, terms: Sequence[str], text: str, hint: str) -> int:
    """Return a position that is one of the operands'; negative ones count from the end."""
    try:
        if isinstance(key, bool):
            raise TypeError
        position = index(key)
    except TypeError:
        message = f"bind: {key!r:.60} is no position of an operand"
        near = did_you_mean(key, terms) if isinstance(key, str) else ""
        given = f"{terms.index(key)} is '{key}'" if isinstance(key, str) and key in terms else near
        found = f"{given}; {hint}" if given else hint
        raise error(Diagnostic("NE624", message, text, hint=found)) from None
    if -len(terms) <= position < len(terms):
        return position % len(terms)
    raise error(Diagnostic("NE624", f"bind: there is no operand {position}", text, hint=hint))


def check_fits(tree: Expression, operands: Mapping[int, Operand], sizes: Mapping[str, int]) -> None:
    """Raise what contradicts the text, or each other, whatever the operands that are not bound yet are."""
    if not operands:
        return
    places = list(operands)
    terms = tuple(tree.inputs[place] for place in places)
    labels = {atom.name for term in terms for atom in atoms(term.items) if isinstance(atom, LABELLED)}
    known = {label: size for label, size in sizes.items() if label in labels}
    try:
        infer_sizes(replace(tree, inputs=terms, outputs=None, reducer=None), list(operands.values()), known)
    except NameExprError as fault:
        raise_contradictions(fault, places)


def raise_contradictions(fault: NameExprError, places: Sequence[int] | None = None) -> None:
    """Raise of an error what no other operands could mend; `places` are the operands' positions in the whole
    text, if it says positions.
    """
    found = [one for one in fault.diagnostics if one.code in CONTRADICTIONS]
    if places is not None:
        found = [_placed(one, places) for one in found]
    if found:
        raise error(*found) from None


def _placed(one: Diagnostic, places: Sequence[int]) -> Diagnostic:
    message, hint = one.message, one.hint
    for number in reversed(range(len(places))):  # from the last, since positions only grow
        message = message.replace(f"operand {number}", f"operand {places[number]}")
        hint = hint.replace(f"operand {number}", f"operand {places[number]}")
    infos = tuple(info._replace(position=places[info.position]) for info in one.operands)
    return one._replace(message=message, operands=infos, hint=hint)
