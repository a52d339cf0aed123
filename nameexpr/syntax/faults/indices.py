r"""Indices as arrays of other libraries have them, `x[t-1]`, `x[1:]`, `table[ids[i] D]`, and how they are
written here: as positions and parts.

>>> written("x[N t-1]").hint
'a position is written after @: x[N _@(t-1)]'
>>> [written(text).use for text in ("x[1:-1]", "table[ids[i] D]", "x[..., -1]")]
['x[(1 + T + 1)]', 'table[_@ids[i] D]', 'x[... C@(size[C]-1)]']
"""

from __future__ import annotations

import re
from typing import NamedTuple

from nameexpr.errors import Span
from nameexpr.syntax.faults.stops import NAME

POSITION = "a position is written after @"
BRACKETS = "a position that is a sum has brackets"
SLICE = "a slice is written in parts"
WHOLE = "every dim has a name"
LAST = "negative positions do not count from the end"
SUMS = (POSITION, BRACKETS, LAST)
"""The advice about positions that are sums."""
MASK = "a mask selects with where: where(x > 0, x, 0)"
MISSING_PART = "write 1 for one element, as in (1 + T), or _ for the rest, as in (a=2 + _)"

_NAME = rf"{NAME}(?![\w'])"
_TERM = r"\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\]"
_ATOM = rf"(?:[0-9]+(?!\w)|{_NAME}(?:{_TERM})?)"
_SIGN = r"(?:\s*(?:\*|//?|%)\s*|(?<=\S)[-+]\s*|\s+[-+]\s+)"  # in `N -1` a sign begins another item
_SUM = rf"(?:-\s*)?{_ATOM}(?:{_SIGN}{_ATOM})*"
_ITEM = re.compile(
    rf"""(?P<slice>(?:(?P<sliced>{_NAME})\s*=\s*)?(?:(?P<start>{_SUM})(?=:))?\s*:\s*(?P<stop>{_SUM})?
                   (?:\s*:\s*(?P<step>{_SUM})?)?)
       | (?P<mask>{_SUM}\s*(?:[<>]=?|[!=]=)\s*{_SUM})
       | (?P<at>(?:{_NAME}|_|[0-9]+)\s*@\s*(?:{_ATOM}|\((?:[^()]|\([^()]*\))*\))(?!{_SIGN}))
       | (?P<loose>(?P<base>{_NAME}|_|[0-9]+)\s*@\s*(?P<place>{_SUM}))
       | (?P<plain>(?:{NAME})?\.\.\.|_(?!\w)
                   |(?:{_NAME}\s*=\s*)?(?:{_NAME}|[0-9]+(?!\w)|\((?:[^()*/%-]|\([^()*/%-]*\))*\))
                    (?!\s*[\[=]|{_SIGN}))
       | (?P<sum>(?:(?P<dim>{_NAME})\s*=\s*)?(?:(?P<value>{_SUM})|\((?P<inner>{_SUM})\)))""",
    re.VERBOSE,
)
_HEAD = re.compile(rf"(?<![\w'])({NAME})\s*\[")
_BETWEEN = re.compile(r"[\s,]*")
_MOST = 1000
"""The length of the longest term that is read."""


class Written(NamedTuple):
    """A use in the language: its text, "" for one that cannot be written so, the advice, and the span of the
    first item that is different.
    """

    use: str
    advice: str
    span: Span

    @property
    def hint(self) -> str:
        """The advice, with the use."""
        return f"{self.advice}: {self.use}" if self.use else self.advice


class _Item(NamedTuple):
    """An item in the language, None if it cannot be written so, and the advice, "" if it is unchanged."""

    text: str | None
    advice: str = ""


def written(text: str, start: int = 0) -> Written | None:
    """Return the use that begins at an index, in the language; None if that is not clear, or nothing is to be
    changed.
    """
    head = _HEAD.match(text, start)
    end = -1 if head is None else closing(text, head.end())
    found = None if head is None or end < 0 else written_term(text, head.end(), end)
    if head is None or found is None or not found.use:
        return found
    return found._replace(use=f"{head[1]}[{found.use}]")


def written_term(text: str, start: int, end: int) -> Written | None:
    """Return the term between two indices in the language, or None.

    >>> written_term("N h+dh, dh -> N h", 0, 6).use
    'N _@(h+dh)'
    """
    items, spans = _items(text, start, end) if end - start <= _MOST else ([], [])
    told = [place for place, item in enumerate(items) if item.advice]
    if not told:
        return None
    first = next((place for place in told if items[place].advice != WHOLE), told[0])
    words = [item.text for item in items if item.text is not None]
    return Written(" ".join(words) if len(words) == len(items) else "", items[first].advice, spans[first])


def _items(text: str, start: int, end: int) -> tuple[list[_Item], list[Span]]:
    """Return the items of a term in the language, and their spans; none if some are not understood."""
    labels, is_listed = _Labels(text), "," in text[start:end]
    items: list[_Item] = []
    spans: list[Span] = []
    while (start := _skipped(text, start)) < end:
        item = _ITEM.match(text, start, end)
        if item is None or item.end() == start:
            return [], []
        items.append(_translated(item, labels, is_listed=is_listed))
        spans.append(Span(*item.span()))
        start = item.end()
    return items, spans


def _skipped(text: str, start: int) -> int:
    between = _BETWEEN.match(text, start)
    return between.end() if between else start


def closing(text: str, start: int) -> int:
    """Return where the square bracket closes that opened before an index, -1 if it does not."""
    depth = 1
    for bracket in re.finditer(r"[\[\]]", text[start:]):
        depth += 1 if bracket[0] == "[" else -1
        if not depth:
            return start + bracket.start()
    return -1


class _Labels:
    """Labels that a text does not have yet."""

    def __init__(self, text: str) -> None:
        self.taken = set(re.findall(NAME, text))

    def new(self, *names: str) -> str:
        """Return the first name that is not taken."""
        name = next((name for name in names if name not in self.taken), f"{names[0]}{len(self.taken)}")
        self.taken.add(name)
        return name

    def dim(self) -> str:
        """Return a label for a dim."""
        return self.new("T", "U", "V")

    def index(self) -> str:
        """Return a label for positions along a dim."""
        return self.new("t", "u", "v")


def _translated(item: re.Match[str], labels: _Labels, *, is_listed: bool) -> _Item:
    """Return an item in the language."""
    text = item[0]
    if item["slice"] is not None:
        return _slice(item["sliced"], (item["start"], item["stop"], item["step"]), labels)
    if item["mask"] is not None:
        return _Item(None, MASK)
    if item["loose"] is not None:
        found = _position(item["base"], item["place"], labels)
        return found._replace(advice=BRACKETS) if found.advice == POSITION else found
    if item["sum"] is not None:
        return _position(item["dim"] or "_", item["value"] or item["inner"], labels)
    if item["plain"] is not None and is_listed and text.isdigit():
        return _Item(f"_@{text}", POSITION)
    return _Item(text)


def _position(base: str, place: str, labels: _Labels) -> _Item:
    """Return a dim at a place, which has brackets if it is a sum; one before 0 counts from the end."""
    from_end = re.fullmatch(r"-\s*([0-9]+)", place)
    if from_end:
        dim = labels.new("C", "D", "E") if base == "_" or base.isdigit() else base
        return _Item(f"{dim}@(size[{dim}]-{from_end[1]})", LAST)
    size = re.match(rf"size\s*\[\s*({NAME})\s*\]", place)
    base = size[1] if size and base == "_" else base
    is_plain = re.fullmatch(_ATOM, place) is not None and not size
    inner = _HEAD.search(place)
    inside = written(place, inner.start()) if inner else None
    if inner and inside:
        end = closing(place, inner.end()) + 1
        place = f"{place[: inner.start()]}{inside.use}{place[end:]}"
    text = f"{base}@{place if is_plain else f'({place})'}"
    return _Item(None if inside and not inside.use else text, POSITION)


_Bounds = tuple[str | None, str | None, str | None]


def _slice(dim: str | None, bounds: _Bounds, labels: _Labels) -> _Item:
    """Return a slice in parts, one with a step as positions."""
    start, stop, step = ((bound or "").replace(" ", "") for bound in bounds)
    if step not in ("", "1"):
        return _strided(dim, (start, stop, step), labels)
    if not all(bound.removeprefix("-").isdigit() for bound in (start, stop) if bound):
        return _Item(f"{dim or '_'}@({start or 0}+{labels.index()})", POSITION)
    dim = dim or labels.dim()
    if start in ("", "0") and not stop:
        return _Item(dim, WHOLE)
    first, last = int(start or 0), int(stop) if stop else None
    if (last is None or first >= 0) or last < 0:
        return _Item(f"({' + '.join(_parts(dim, first, last))})", SLICE)
    return _Item(None, SLICE)


def _parts(dim: str, first: int, last: int | None) -> list[str]:
    """Return what is skipped before a slice, the slice, and what is skipped after it."""
    before = [str(first)] if first > 0 else ["_"] * (first < 0)
    if last is None:
        return [*before, f"{dim}={-first}" if first < 0 else dim]
    if last < 0:
        return [*before, f"{dim}={max(0, last - first)}" if first < 0 else dim, str(-last)]
    return [*before, f"{dim}={max(0, last - first)}", "_"]


def _strided(dim: str | None, bounds: tuple[str, str, str], labels: _Labels) -> _Item:
    """Return a slice with a step that goes to the end."""
    start, stop, step = bounds
    index = labels.index()
    if step == "-1" and not (start or stop):
        dim = dim or labels.dim()
        return _Item(f"{dim}@(size[{dim}]-1-{index})", POSITION)
    if stop or not step.isdigit() or (start and not start.isdigit()):
        return _Item(None, POSITION)
    return _Item(f"{dim or '_'}@({step}*{index}{f'+{start}' if int(start or 0) else ''})", POSITION)
