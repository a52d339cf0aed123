"""Exact contractions of integers: through floats where no sum can exceed their exact range."""

from __future__ import annotations

from collections.abc import Callable

from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.products import Pair, cast_to, emit_einsum, emit_matmul
from nameexpr.compiler.lowering.strategies import candidate_strategies
from nameexpr.records import replace

Contract = Callable[[Builder, Pair, Value, Value], Value]
EXACT_IN = {"float32": 2**24, "float64": 2**53}


def lower_integers(
    build: Builder, pair: Pair, one: Value, other: Value, compute: str, contract: Contract
) -> Value:
    """Emit an exact contraction of integers: in floats if no sum can exceed their exact range, else in 64
    bits (R21, R22).
    """
    work = build.size(pair.batch) * build.size(pair.left) * build.size(pair.right) * build.size(pair.summed)
    is_few = work < build.target.float_products or not (pair.left or pair.right)
    if "einsum" in build.target.native and is_few:
        return emit_einsum(build, pair, build.cast(one, compute), build.cast(other, compute))
    if one.bound is not None and other.bound is not None:
        bound = one.bound * other.bound * build.size(pair.summed)
        for dtype, limit in EXACT_IN.items():
            if bound < limit:
                product = contract(build, pair, cast_to(build, one, dtype), cast_to(build, other, dtype))
                return replace(build.cast(product, compute), bound=bound)
    if "integer_matmul" not in build.target.native:
        return contract(build, pair, cast_to(build, one, compute), cast_to(build, other, compute))
    if build.windows and not build.windows.keys().isdisjoint((one.number, other.number)):
        from nameexpr.compiler.lowering import windowed

        made = windowed.lower_integers(
            build, pair, cast_to(build, one, compute), cast_to(build, other, compute)
        )
        if made is not None:
            return made
    found = candidate_strategies(build, pair, replace(one, dtype="float64"), replace(other, dtype="float64"))
    strategy = build.choose([strategy for strategy in found if strategy.kind == "matmul"])
    return emit_matmul(build, strategy, one, other, wide=compute)
