"""Recurrences as they are written elsewhere, `h[t] = 0.9 * h[t-1] + x[t]`, and how they are written here.

>>> recurrence("h[t] = 0.9 * h[t-1] + x[t]")
'h[(1 + t)] = 0, 0.9 * h[_@t] + x[t]'
>>> recurrence("h = 0.9 * h[t-1] + x[t]")
'h[(1 + t)] = 0, 0.9 * h[_@t] + x[t]'
>>> recurrence("f[n+2] = f[n+1] + f[n]")
'f[(2 + n)] = 0, f[_@(n+1)] + f[_@n]'
"""

from __future__ import annotations

import re

from nameexpr.syntax.faults.indices import written
from nameexpr.syntax.faults.stops import NAME

START = "write a start, and read the row before"
_TARGET = re.compile(rf"\s*({NAME})\s*(?:\[([^\[\]=]*)\]\s*)?=(?!=)")
_AHEAD = re.compile(rf"({NAME})\s*\+\s*([0-9]{{1,3}})(?!\w)")
_EARLIER = re.compile(rf"(?<![\w'])({NAME})\s*-\s*[0-9]{{1,3}}(?!\w)")
_BEGUN = re.compile(rf"\(\s*([0-9]{{1,3}})\s*\+\s*({NAME})\s*\)")
_MOST = 2000
"""The length of the longest statement that is read."""


def recurrence(statement: str) -> str:
    """Return a statement that reads its own rows as a recurrence, "" if it is none, or not clear."""
    target = _TARGET.match(statement) if len(statement) <= _MOST else None
    if target is None:
        return ""
    name, left, value = target[1], target[2] or "", statement[target.end() :].strip()
    own = re.compile(rf"(?<![\w'.]){re.escape(name)}\s*\[([^\[\]]*)\]")
    uses = [use[1] for use in own.finditer(value)]
    begun, ahead = _BEGUN.search(left), _AHEAD.search(left)
    earlier = next(filter(None, map(_EARLIER.search, uses)), None)
    label = begun[2] if begun else ahead[1] if ahead else earlier[1] if earlier else ""
    if target[2] is None:  # the other values must have the dim, so that the statement has it, too
        left = label if re.search(rf"(?<![\w']){re.escape(label)}(?![\w'])", own.sub("", value)) else ""
    if not label or not re.search(rf"(?<![\w']){re.escape(label)}(?![\w'])", left):
        return ""
    step = _step(label)
    shift = int(ahead[2]) if ahead and not begun else 0
    lags = [shift + int(item[1] or 0) if (item := step.search(use)) else 0 for use in uses]
    start = int(begun[1]) if begun else max(lags, default=0)
    if not lags or min(lags) < 1 or max(lags) > start:
        return ""
    places = iter([label if lag == start else f"({label}+{start - lag})" for lag in lags])
    value = own.sub(lambda use: f"{name}[{step.sub(f'_@{next(places)}', use[1], count=1)}]", value)
    if begun:
        return f"{name}[{left}] = {_mended(value)}"
    whole = re.escape(ahead[0] if ahead else label)
    left = re.sub(rf"(?<![\w']){whole}(?![\w'])", f"({start} + {label})", left, count=1)
    return f"{name}[{left}] = 0, {_mended(value)}"


def _step(label: str) -> re.Pattern[str]:
    """Return the pattern of an item that reads an earlier step: `t-1`, `T=t-1`, `_@(t - 1)`, `t`."""
    return re.compile(
        rf"(?:(?:{NAME}|_)\s*[=@]\s*)?(?<![\w'])\(?\s*{re.escape(label)}(?![\w'])(?:\s*-\s*([0-9]+))?(?:\s*\))?"
    )


def _mended(value: str) -> str:
    """Return a value with the indices of all its uses in the language."""
    start = 0
    while head := re.compile(rf"(?<![\w'.])({NAME})\s*\[").search(value, start):
        use = written(value, head.start())
        start = head.end()
        if use is not None and use.use:
            end = value.index("]", use.span.end) + 1
            value = f"{value[: head.start()]}{use.use}{value[end:]}"
    return value
