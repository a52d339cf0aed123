"""Random expressions and formulas on Dask arrays in random chunks, compared with nested loops."""

from __future__ import annotations

import random
import warnings
from typing import Any

import dask
import dask.array as da
import numpy as np
import xarray as xr

import nameexpr as ne
from nameexpr.records import replace
from oracle.generate import expressions, formulas
from oracle.reference import expressions as reference
from oracle.reference import formulas as formula_reference
from oracle.reference.match import Named

SKIPPED = "skipped"
"""What cases are that cannot be passed as Dask arrays: those with dims that have no name next to named ones.
"""
REFUSED = frozenset({"NE308", "NE526"})
"""What the pages say is rejected, and the reference computes."""


def wrong_expression(seed: int) -> str:
    """Return what is wrong with the expression of a seed on Dask arrays; nothing if it is right."""
    rng, case = random.Random(f"chunks {seed}"), expressions.seeded_case(seed)
    operands = lazy_operands(rng, case.operands)
    if operands is None:
        return SKIPPED
    with quiet():
        expected = case.run(reference.einsum)
        limit = rng.choice([None, None, 100_000, 3_000])
        options = {} if limit is None else {"memory_limit": limit}
        try:
            found = replace(case, operands=tuple(operands)).run(
                lambda text, *given, **own: ne.einsum(text, *given, **own, **options)
            )
        except ne.LimitError:
            if limit is None:
                raise
            return ""
        is_right = expressions.same(computed(found, expected), expected, case)
    return "" if is_right else f"wrong result of {case.text!r}, limit {limit}"


def wrong_formula(seed: int) -> str:
    """Return what is wrong with the formula of a seed on Dask arrays; nothing if it is right."""
    rng, case = random.Random(f"chunks {seed}"), formulas.seeded_case(seed)
    operands = lazy_operands(rng, case.operands.values())
    if operands is None:
        return SKIPPED
    with quiet():
        answers = case.run(formula_reference.answers)
        limit = rng.choice([None, None, 100_000, 3_000])
        options = {} if limit is None else {"memory_limit": limit}
        given = dict(zip(case.operands, operands, strict=True))
        try:
            found = replace(case, operands=given).run(lambda text, **own: ne.evaluate(text, **own, **options))
        except ne.NameExprError as wrong:
            if wrong.code in REFUSED or (limit is not None and isinstance(wrong, ne.LimitError)):
                return ""
            raise
        results = [found] if case.outputs is None else list(found)
        pairs = zip(results, answers, strict=True)
        is_right = all(formulas.same(computed(one, answer), answer) for one, answer in pairs)
    return "" if is_right else f"wrong result of {case.text!r}, limit {limit}"


class quiet(warnings.catch_warnings):  # noqa: N801  a context, as its base
    """Without warnings of NumPy, which depend on the order of operations."""

    def __enter__(self) -> Any:
        entered = super().__enter__()
        warnings.simplefilter("ignore")
        self._errors = np.errstate(all="ignore")
        self._errors.__enter__()
        return entered

    def __exit__(self, *fault: Any) -> None:
        self._errors.__exit__(*fault)
        super().__exit__(*fault)


def lazy_operands(rng: random.Random, operands: Any) -> list[Any] | None:
    """Return operands as Dask arrays and DataArrays, some as they are; None if they cannot be."""
    operands = list(operands)
    named = [one for one in operands if isinstance(one, Named)]
    if any(None in one.names or not one.names for one in named):
        return None
    arrays = [place for place, one in enumerate(operands) if isinstance(one, Named | np.ndarray)]
    if not arrays:
        return None
    lazy = {rng.choice(arrays), *[place for place in arrays if rng.random() < 0.8]}
    return [_lazy(rng, one, is_lazy=place in lazy) for place, one in enumerate(operands)]


def _lazy(rng: random.Random, operand: Any, *, is_lazy: bool) -> Any:
    if not isinstance(operand, Named | np.ndarray):
        return operand
    array = operand.array if isinstance(operand, Named) else operand
    if is_lazy:
        array = da.from_array(np.asarray(array), chunks=tuple([_chunks(rng, size) for size in array.shape]))
    return xr.DataArray(array, dims=operand.names) if isinstance(operand, Named) else array


def _chunks(rng: random.Random, size: int) -> tuple[int, ...]:
    """Return random chunks of a dim, of any sizes, some of them empty."""
    if rng.random() < 0.3:
        return (size,)
    cuts = sorted(rng.randint(0, size) for _ in range(rng.randint(1, 3)))
    return tuple([stop - start for start, stop in zip([0, *cuts], [*cuts, size], strict=True)])


def computed(result: Any, expected: Any) -> Any:
    """Return a lazy result as an array, named like the expected one; nothing else may be returned."""
    if isinstance(result, tuple):
        return tuple([computed(one, own) for one, own in zip(result, expected, strict=True)])
    names = getattr(expected, "names", None)
    data = result.data if isinstance(result, xr.DataArray) else result
    assert isinstance(data, da.Array), f"a {type(data)} was returned"
    (array,) = dask.compute(data, scheduler="synchronous")
    assert data.shape == np.shape(array), f"{data.shape} was announced, and {np.shape(array)} computed"
    assert data.dtype == array.dtype, f"{data.dtype} was announced, and {array.dtype} computed"
    array = np.asarray(array)
    if names is None:
        return array
    assert isinstance(result, xr.DataArray), "a result lost its names"
    own = tuple(
        [
            None if want is None and str(dim).startswith("dim_") else dim
            for dim, want in zip(result.dims, names, strict=True)
        ]
    )
    return Named(array, own)
