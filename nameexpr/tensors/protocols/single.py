"""NumPy's functions of one operand: those that combine dims away or go along one (sum, quantile, cumsum), and
those that keep, move, add, drop and split dims (round, transpose, squeeze, take, split).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from nameexpr.dims import Names
from nameexpr.rules.calls import ShownCall
from nameexpr.rules.indexing import IndexItem, indexed_names
from nameexpr.rules.lookup import dims_in, positions, removed
from nameexpr.tensors.protocols.calls import FAULTS, FunctionCall, implements
from nameexpr.tensors.protocols.operands import Part, nameless, refused, side_by_side, unified_names


@implements("sum prod mean std var max min amax amin any all median ptp count_nonzero linalg.norm")
@implements("nansum nanprod nanmean nanstd nanvar nanmax nanmin nanmedian linalg.vector_norm")
@implements("argmax argmin nanargmax nanargmin")
def _reduced(call: FunctionCall) -> Any:
    x = call.together(call.operand(), "where", "mean", "initial")
    return call.result(removed(x.names, call.axes(x), keepdim=bool(call["keepdims"])))


@implements("average")
def _averaged(call: FunctionCall) -> Any:
    x = call.operand()
    gone = call.axes(x)
    x = _weighted(call, x, gone)
    names = removed(x.names, gone, keepdim=bool(call["keepdims"]))
    return call.results(names) if call["returned"] else call.result(names)


@implements("quantile percentile nanquantile nanpercentile")
def _quantiles(call: FunctionCall) -> Any:
    x, q = call.operand(), call.operand("q")
    gone = call.axes(x)
    x = _weighted(call, x, gone)
    stay = removed(x.names, gone, keepdim=bool(call["keepdims"]))
    return call.result(side_by_side(q, x, (*q.names, *stay), call.verb))


def _weighted(call: FunctionCall, x: Part, over: tuple[int, ...]) -> Part:
    """Return x with the names that its weights add: they have its dims, or those that are combined."""
    if call["weights"] is None:
        return x
    weights = call.operand("weights")
    if len(weights.names) == len(x.names):
        return x._replace(names=unified_names((x, weights), call.verb))
    shape = tuple(x.data.shape[at] for at in over)
    combined = Part(np.broadcast_to(0, shape), tuple(x.names[at] for at in over), x.role)
    unified_names((combined, weights), call.verb)
    return x


@implements("trace linalg.trace")
def _traced(call: FunctionCall) -> Any:
    x = call.operand()
    return call.result(removed(x.names, matrix_axes(call, x)))


def matrix_axes(call: FunctionCall, x: Part) -> tuple[int, ...]:
    """Return the two dims of the matrices: axis1 and axis2, or the last two for a function without these."""
    if "axis1" not in call.parameters:
        return positions(x.dims, ShownCall(call.verb, (-2, -1), (x.dims,)))
    pair = positions(x.dims, ShownCall(call.verb, (call["axis1"], call["axis2"]), (x.dims,)))
    call["axis1"], call["axis2"] = pair
    return pair


@implements("linalg.matrix_norm")
def _matrix_norm(call: FunctionCall) -> Any:
    x = call.operand()
    return call.result(removed(x.names, matrix_axes(call, x), keepdim=bool(call["keepdims"])))


@implements("cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod")
@implements("sort argsort partition argpartition repeat delete")
def _along(call: FunctionCall) -> Any:
    """Return what keeps all names, and goes along one dim."""
    x = call.operand()
    call.axis(x)
    return call.result(x.names)


@implements("diff unwrap")
def _differences(call: FunctionCall) -> Any:
    x = call.operand()
    call.axis(x)
    return call.result(call.together(x, "prepend", "append").names)


@implements("round around fix real imag angle real_if_close nan_to_num sinc i0 copy astype")
@implements("isreal iscomplex isneginf isposinf tril triu flipud fliplr")
def _kept(call: FunctionCall) -> Any:
    return call.result(call.operand().names)


@implements("flip roll gradient")
def _kept_along(call: FunctionCall) -> Any:
    """Return a result, or one for each dim, with the names of the operand; `axis=` may be several dims."""
    x = call.operand()
    several = len(call.axes(x)) > 1 and call.verb == "np.gradient"
    return call.results(x.names) if several else call.result(x.names)


@implements("zeros_like ones_like empty_like full_like")
def _made_like(call: FunctionCall) -> Any:
    """Return a new tensor with the names of another; in another shape, if that has as many dims."""
    x = call.together(call.operand(), "fill_value")
    shape = call["shape"]
    if shape is not None and np.ndim(np.empty(shape, np.bool_)) != len(x.names):
        raise nameless(f"{call.verb} with a shape of other dims", "ne.zeros(*sizes, names=...) makes tensors")
    return call.result(x.names)


@implements("transpose")
def _transposed(call: FunctionCall) -> Any:
    x = call.operand()
    order = tuple(range(len(x.names)))[::-1]
    if call["axes"] is not None:
        order = call["axes"] = positions(x.dims, ShownCall(call.verb, dims_in(call["axes"]), (x.dims,)))
    return call.result(tuple(x.names[at] for at in order))


@implements("swapaxes matrix_transpose linalg.matrix_transpose")
def _swapped(call: FunctionCall) -> Any:
    x = call.operand()
    names = list(x.names)
    a, b = matrix_axes(call, x)
    names[a], names[b] = names[b], names[a]
    return call.result(tuple(names))


@implements("moveaxis")
def _moved(call: FunctionCall) -> Any:
    x = call.operand()
    source, destination = (
        positions(x.dims, ShownCall(call.verb, dims_in(call[parameter]), (x.dims,)))
        for parameter in ("source", "destination")
    )
    call["source"], call["destination"] = source, destination
    order = [at for at in range(len(x.names)) if at not in source]
    for to, at in sorted(zip(destination, source, strict=False)):
        order.insert(to, at)
    return call.result(tuple(x.names[at] for at in order))


@implements("squeeze")
def _squeezed(call: FunctionCall) -> Any:
    x = call.operand()
    gone = [at for at in call.axes(x) if call["axis"] is not None or x.data.shape[at] == 1]
    return call.result(removed(x.names, gone))


@implements("expand_dims")
def _expanded(call: FunctionCall) -> Any:
    x = call.operand()
    rest = iter(x.names)
    new = new_positions(call, x.names)
    return call.result(tuple(None if at in new else next(rest) for at in range(len(x.names) + len(new))))


def new_positions(call: FunctionCall, names: Names) -> tuple[int, ...]:
    """Return where the dims that `axis=` adds stand in the result (NE661)."""
    wanted = call["axis"] if isinstance(call["axis"], list | tuple) else (call["axis"],)
    try:
        return normalize_axis_tuple(wanted, len(names) + len(wanted))
    except FAULTS as fault:
        raise refused(call.verb, fault) from fault


@implements("broadcast_to")
def _broadcast(call: FunctionCall) -> Any:
    x = call.operand()
    shape = call["shape"]
    new = (1 if np.ndim(shape) == 0 else len(shape)) - len(x.names)
    return call.result((None,) * new + x.names)


@implements("diagonal linalg.diagonal")
def _diagonal(call: FunctionCall) -> Any:
    """Return a view of the diagonal of two dims, which becomes a last dim without a name."""
    x = call.operand()
    return call.result((*removed(x.names, matrix_axes(call, x)), None))


@implements("take")
def _taken(call: FunctionCall) -> Any:
    x = call.operand()
    at = call.axis(x)
    indices = call.operand("indices")
    item = IndexItem("array", 1, indices.names) if indices.names else IndexItem("int", 1)
    items = [item if index == at else IndexItem("slice", 1) for index in range(len(x.names))]
    return call.result(indexed_names(x.dims, items, call.verb))


@implements("take_along_axis")
def _taken_along(call: FunctionCall) -> Any:
    """Return the elements that indices with the same other dims point at along a dim."""
    x = call.operand()
    at = call.axis(x)
    indices = call.operand("indices")
    others = tuple(x.names[at] if index == at else name for index, name in enumerate(indices.names))
    return call.result(unified_names((x, indices._replace(names=others)), call.verb))


@implements("split array_split")
def _split(call: FunctionCall) -> Any:
    x = call.operand()
    call.axis(x)
    return call.results(x.names)


@implements("hsplit vsplit dsplit")
def _split_at_fixed_dim(call: FunctionCall) -> Any:
    return call.results(call.operand().names)


@implements("unstack")
def _unstacked(call: FunctionCall) -> Any:
    x = call.operand()
    return call.results(removed(x.names, [call.axis(x)]))


@implements("atleast_1d atleast_2d atleast_3d")
def _at_least(call: FunctionCall) -> Any:
    rank = int(call.verb[-2])
    parts = call.arguments()
    names = [padded_names(part.names, rank) for part in parts]
    return call.result(names[0]) if len(names) == 1 else call.results(*names)


def padded_names(names: Names, rank: int) -> Names:
    """Return names with those of the new dims that `atleast_1d`, `_2d` and `_3d` add: in front, or around.

    >>> padded_names(("C",), 2), padded_names(("N", "C"), 3), padded_names(("C",), 3)
    ((None, 'C'), ('N', 'C', None), (None, 'C', None))
    """
    if rank == 3 and names:  # noqa: PLR2004  NumPy puts the last of three dims behind the others
        names = (*padded_names(names, 2), None) if len(names) < rank else names
    return (None,) * (rank - len(names)) + names
