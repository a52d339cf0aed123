"""NumPy's functions of one operand: those that reduce dims or work along one (sum, quantile, cumsum), and
those that keep, move, add, drop and split dims (round, transpose, squeeze, take, split).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from nameexpr.dims import Names
from nameexpr.rules.calls import ShownCall, dims_in, positions, removed
from nameexpr.rules.indexing import IndexItem, indexed_names
from nameexpr.tensors.protocols.calls import FAULTS, FunctionCall, implements
from nameexpr.tensors.protocols.operands import Part, nameless, refused, side_by_side, unified_names

NamesRule: TypeAlias = Callable[[FunctionCall, Part], Names]
"""The names of the result, from a call and its first argument."""


def names_of_result(functions: str) -> Callable[[NamesRule], NamesRule]:
    """Return the decorator that adds a rule for the names of functions with one result."""

    def enter(rule: NamesRule) -> NamesRule:
        implements(functions)(lambda call: call.result(rule(call, call.operand())))
        return rule

    return enter


def _without(call: FunctionCall, x: Part, gone: Iterable[int]) -> Names:
    return removed(x.names, tuple(gone), keepdim=bool(call["keepdims"]))


@names_of_result("sum prod mean std var max min amax amin any all median ptp count_nonzero linalg.norm")
@names_of_result("nansum nanprod nanmean nanstd nanvar nanmax nanmin nanmedian linalg.vector_norm")
@names_of_result("argmax argmin nanargmax nanargmin")
def _reduced(call: FunctionCall, x: Part) -> Names:
    return _without(call, call.together(x, "where", "mean", "initial"), call.axes(x))


@implements("average")
def _averaged(call: FunctionCall) -> Any:
    x = call.operand()
    gone = call.axes(x)
    names = _without(call, _weighted(call, x, gone), gone)
    return call.results(names) if call["returned"] else call.result(names)


@names_of_result("quantile percentile nanquantile nanpercentile")
def _quantiles(call: FunctionCall, x: Part) -> Names:
    q = call.operand("q")
    gone = call.axes(x)
    x = _weighted(call, x, gone)
    return side_by_side(q, x, (*q.names, *_without(call, x, gone)), call.verb)


def _weighted(call: FunctionCall, x: Part, over: tuple[int, ...]) -> Part:
    """Return x with the names that its weights add: they have its dims, or those that are reduced."""
    if call["weights"] is None:
        return x
    weights = call.operand("weights")
    if len(weights.names) == len(x.names):
        return x._replace(names=unified_names((x, weights), call.verb))
    shape = tuple(x.data.shape[at] for at in over)
    combined = Part(np.broadcast_to(0, shape), tuple(x.names[at] for at in over), x.role)
    unified_names((combined, weights), call.verb)
    return x


def _pair(call: FunctionCall, x: Part) -> tuple[int, ...]:
    """Return the two dims of the matrices: axis1 and axis2, or the last two for a function without these."""
    if "axis1" not in call.parameters:
        return positions(x.dims, ShownCall(call.verb, (-2, -1), (x.dims,)))
    pair = positions(x.dims, ShownCall(call.verb, (call["axis1"], call["axis2"]), (x.dims,)))
    call["axis1"], call["axis2"] = pair
    return pair


def _along(call: FunctionCall, x: Part, *others: str) -> Names:
    """Return all names, for functions along one dim; other operands may add some."""
    call.axis(x)
    return call.together(x, *others).names


def _squeezed(call: FunctionCall, x: Part) -> Names:
    axes = call.axes(x)
    return removed(x.names, [at for at in axes if call["axis"] is not None or x.data.shape[at] == 1])


def _broadcast(call: FunctionCall, x: Part) -> Names:
    rank = 1 if np.ndim(call["shape"]) == 0 else len(call["shape"])
    return (None,) * (rank - len(x.names)) + x.names


_ROWS: dict[str, NamesRule] = {
    "round around fix real imag angle real_if_close nan_to_num sinc i0 copy astype": lambda call, x: x.names,
    "isreal iscomplex isneginf isposinf tril triu flipud fliplr": lambda call, x: x.names,
    "cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod": _along,
    "sort argsort partition argpartition repeat delete": _along,
    "diff unwrap": lambda call, x: _along(call, x, "prepend", "append"),
    "trace linalg.trace linalg.matrix_norm": lambda call, x: _without(call, x, _pair(call, x)),
    "diagonal linalg.diagonal": lambda call, x: (*_without(call, x, _pair(call, x)), None),
    "squeeze": _squeezed,
    "broadcast_to": _broadcast,
}
for _functions, _rule in _ROWS.items():
    names_of_result(_functions)(_rule)


@implements("flip roll gradient")
def _kept_along(call: FunctionCall) -> Any:
    """Return a result, or one for each dim, with the names of the operand; `axis=` may be several dims."""
    x = call.operand()
    several = len(call.axes(x)) > 1 and call.verb == "np.gradient"
    return call.results(x.names) if several else call.result(x.names)


@names_of_result("zeros_like ones_like empty_like full_like")
def _made_like(call: FunctionCall, x: Part) -> Names:
    """Return the names of another tensor; for another shape, if it has as many dims."""
    x = call.together(x, "fill_value")
    shape = call["shape"]
    if shape is not None and np.ndim(np.empty(shape, np.bool_)) != len(x.names):
        raise nameless(f"{call.verb} with a shape of other dims", "ne.zeros(*sizes, names=...) makes tensors")
    return x.names


@names_of_result("transpose")
def _transposed(call: FunctionCall, x: Part) -> Names:
    order = tuple(range(len(x.names)))[::-1]
    if call["axes"] is not None:
        order = call["axes"] = positions(x.dims, ShownCall(call.verb, dims_in(call["axes"]), (x.dims,)))
    return tuple(x.names[at] for at in order)


@names_of_result("swapaxes matrix_transpose linalg.matrix_transpose")
def _swapped(call: FunctionCall, x: Part) -> Names:
    names = list(x.names)
    a, b = _pair(call, x)
    names[a], names[b] = names[b], names[a]
    return tuple(names)


@names_of_result("moveaxis")
def _moved(call: FunctionCall, x: Part) -> Names:
    source, destination = (
        positions(x.dims, ShownCall(call.verb, dims_in(call[parameter]), (x.dims,)))
        for parameter in ("source", "destination")
    )
    call["source"], call["destination"] = source, destination
    order = [at for at in range(len(x.names)) if at not in source]
    for to, at in sorted(zip(destination, source, strict=False)):
        order.insert(to, at)
    return tuple(x.names[at] for at in order)


@names_of_result("expand_dims")
def _expanded(call: FunctionCall, x: Part) -> Names:
    rest, new = iter(x.names), new_positions(call, x.names)
    return tuple(None if at in new else next(rest) for at in range(len(x.names) + len(new)))


def new_positions(call: FunctionCall, names: Names) -> tuple[int, ...]:
    """Return the positions of the dims that `axis=` adds to the result (NE661)."""
    wanted = call["axis"] if isinstance(call["axis"], list | tuple) else (call["axis"],)
    try:
        return normalize_axis_tuple(wanted, len(names) + len(wanted))
    except FAULTS as fault:
        raise refused(call.verb, fault) from fault


@names_of_result("take")
def _taken(call: FunctionCall, x: Part) -> Names:
    at = call.axis(x)
    indices = call.operand("indices")
    item = IndexItem("array", 1, indices.names) if indices.names else IndexItem("int", 1)
    items = [item if index == at else IndexItem("slice", 1) for index in range(len(x.names))]
    return indexed_names(x.dims, items, call.verb)


@names_of_result("take_along_axis")
def _taken_along(call: FunctionCall, x: Part) -> Names:
    """Return the names for indices with the same other dims, which refer to elements along a dim."""
    at = call.axis(x)
    indices = call.operand("indices")
    others = tuple(x.names[at] if index == at else name for index, name in enumerate(indices.names))
    return unified_names((x, indices._replace(names=others)), call.verb)


@implements("split array_split hsplit vsplit dsplit unstack")
def _parts(call: FunctionCall) -> Any:
    x = call.operand()
    at = call.axis(x) if "axis" in call.parameters else 0
    return call.results(removed(x.names, (at,)) if call.verb == "np.unstack" else x.names)


@implements("atleast_1d atleast_2d atleast_3d")
def _at_least(call: FunctionCall) -> Any:
    rank = int(call.verb[-2])
    names = [padded_names(part.names, rank) for part in call.arguments()]
    return call.result(names[0]) if len(names) == 1 else call.results(*names)


def padded_names(names: Names, rank: int) -> Names:
    """Return names with those of the new dims that `atleast_1d`, `_2d` and `_3d` add: before, or around.

    >>> padded_names(("C",), 2), padded_names(("N", "C"), 3), padded_names(("C",), 3)
    ((None, 'C'), ('N', 'C', None), (None, 'C', None))
    """
    if rank == 3 and names:  # noqa: PLR2004  NumPy puts the last of three dims after the others
        names = (*padded_names(names, 2), None) if len(names) < rank else names
    return (None,) * (rank - len(names)) + names
