"""NumPy's functions that combine dims away, or go along one: sum, quantile, cumsum, sort, norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from nameexpr.rules.calls import Call
from nameexpr.rules.lookup import positions
from nameexpr.rules.removing import removed
from nameexpr.tensors.array_calls import FunctionCall, implements
from nameexpr.tensors.nameless import Part, side_by_side, unified_names


@implements("sum prod mean std var max min amax amin any all median ptp count_nonzero linalg.norm")
@implements("nansum nanprod nanmean nanstd nanvar nanmax nanmin nanmedian linalg.vector_norm")
@implements("argmax argmin nanargmax nanargmin")
def reduced(call: FunctionCall) -> Any:
    """Return the result over some dims, or over all."""
    x = call.together(call.operand(), "where", "mean", "initial")
    return call.result(removed(x.names, call.axes(x), keepdim=bool(call["keepdims"])))


@implements("average")
def averaged(call: FunctionCall) -> Any:
    """Return a mean with weights, and where asked the sums of the weights."""
    x = call.operand()
    gone = call.axes(x)
    x = _weighted(call, x, gone)
    names = removed(x.names, gone, keepdim=bool(call["keepdims"]))
    return call.results(names) if call["returned"] else call.result(names)


@implements("quantile percentile nanquantile nanpercentile")
def quantiles(call: FunctionCall) -> Any:
    """Return quantiles, whose dims are those of q and then those of x that stay."""
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
def traced(call: FunctionCall) -> Any:
    """Return the sum of a diagonal, without its two dims."""
    x = call.operand()
    return call.result(removed(x.names, matrix_axes(call, x)))


def matrix_axes(call: FunctionCall, x: Part) -> tuple[int, ...]:
    """Return the two dims of the matrices: axis1 and axis2, or the last two for a function without these."""
    if "axis1" not in call.parameters:
        return positions(x.dims, Call(call.verb, (-2, -1), (x.dims,)))
    found = positions(x.dims, Call(call.verb, (call["axis1"], call["axis2"]), (x.dims,)))
    call["axis1"], call["axis2"] = found
    return found


@implements("linalg.matrix_norm")
def matrix_norm(call: FunctionCall) -> Any:
    """Return the norms of the matrices in the last two dims."""
    x = call.operand()
    return call.result(removed(x.names, matrix_axes(call, x), keepdim=bool(call["keepdims"])))


@implements("cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod")
@implements("sort argsort partition argpartition repeat delete")
def along(call: FunctionCall) -> Any:
    """Return what keeps all names, and goes along one dim."""
    x = call.operand()
    call.axis(x)
    return call.result(x.names)


@implements("diff unwrap")
def differences(call: FunctionCall) -> Any:
    """Return differences along a dim, with what is put before and after it."""
    x = call.operand()
    call.axis(x)
    return call.result(call.together(x, "prepend", "append").names)
