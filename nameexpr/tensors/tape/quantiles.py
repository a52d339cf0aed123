"""The derivatives of quantiles and of spreads without nan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nameexpr.tensors.tape.reductions import reduced
from nameexpr.tensors.tape.texts import Vjp

QUANTILES: dict[str, Callable[..., Any]] = {}


def _nanspread(verb: str) -> Callable[..., Any]:
    def rule(
        y: Any,
        x: Any,
        dim: Any = None,
        unbiased: Any = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Vjp:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if correction is None:
            correction = 1 if unbiased is None else int(unbiased)
        gone, kept = reduced(x, dim, verb)
        a, spread, found = x._data, y._data.reshape(kept), ~np.isnan(x._data)
        count = found.sum(axis=gone, keepdims=True)
        n = np.maximum(count - correction, 0)
        mean = np.where(found, a, 0).sum(axis=gone, keepdims=True) / np.maximum(count, 1)
        scale = n / 2 if verb == "nanvar" else n * np.where(spread == 0, 1, spread)
        return lambda g: np.where(found, g.reshape(kept) * (a - mean) / scale, 0)

    return rule


QUANTILES |= {verb: _nanspread(verb) for verb in ("nanstd", "nanvar")}


def _quantile(verb: str) -> Callable[..., Any]:
    def rule(
        y: Any, x: Any, q: Any, dim: Any = None, keepdim: bool = False, *, method: str = "linear"
    ) -> Vjp:
        gone, _ = reduced(x, dim, verb)
        levels = np.asarray(getattr(q, "_data", q), np.float64)
        a = x._data
        return lambda g: _back(np.asarray(g), a, gone, levels, method, skips_nan=verb == "nanquantile")

    return rule


QUANTILES |= {verb: _quantile(verb) for verb in ("quantile", "nanquantile")}


def _back(g: Any, a: Any, gone: tuple[int, ...], levels: Any, method: str, *, skips_nan: bool) -> Any:
    """Return the gradient of quantiles: a quantile lies between two elements of the sorted rows."""
    rest = [at for at in range(a.ndim) if at not in gone]
    moved = a.transpose([*rest, *gone])
    rows = moved.reshape(int(np.prod([a.shape[at] for at in rest], dtype=int)), -1)
    grads = g.reshape(levels.size, len(rows))
    order = np.argsort(rows, axis=-1, kind="stable")
    whole = np.zeros_like(rows)
    for number, row in enumerate(rows):
        found = int(np.count_nonzero(~np.isnan(row)))
        count = found if skips_nan else len(row)
        if not count or (found < count):
            whole[number] += np.nan if not skips_nan else 0
            continue
        at: Any = np.quantile(np.arange(float(count)), levels.reshape(-1), method=method)  # type: ignore[call-overload]
        low = np.floor(at).astype(int)
        part, high = at - low, np.minimum(low + 1, count - 1)
        np.add.at(whole[number], order[number, low], grads[:, number] * (1 - part))
        np.add.at(whole[number], order[number, high], grads[:, number] * part)
    return whole.reshape(moved.shape).transpose(np.argsort([*rest, *gone]))
