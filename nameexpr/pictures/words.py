"""The width of text, its shortening and escaping, and the format of counts.

Widths are estimated: a monospaced column is 0.61 of the font's size, a wide character takes two. Text that is
not ASCII is later drawn at exactly that width in any font.

>>> short("a_very_long_name_of_a_dim", 12)
'a_very_…_dim'
>>> counted(1536), counted(16_777_216), counted(0)
('1,536', '16.8 M', '0')
>>> power(1_234_567), power(10**400)
('1.23 × 10^6', '10^400')
"""

from __future__ import annotations

from decimal import Decimal

from nameexpr.carets import visible, width

COLUMN = 0.61
"""The width of a column, in units of the font's size."""
DIM_COLUMNS = 20
"""The number of columns of a dim's name next to a line."""
LEAST = 12
"""The number of columns of a long word that are always kept."""
EXACT = 100_000
"""Counts from here are written with three digits and a letter."""
LARGEST = 10**15
"""Counts from here are written as powers of ten."""
_MILLION = 10**6
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_STEPS = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
_MARKS = 3
"""The number of characters that may share a column: letters with their accents."""


def pixels(text: str, size: int = 12) -> int:
    """Estimate the width of a text in a font of this size."""
    return round(width(text) * size * COLUMN + 0.5)


def escaped(text: str) -> str:
    r"""Escape a text for HTML or XML, in text and in attributes: unprintable characters as backslash
    escapes, markup as entities. The result cannot close an element, attribute or comment. Newlines are kept.

    >>> escaped('<b title="x">\x1b[31m')
    '&lt;b title=&quot;x&quot;&gt;\\x1b[31m'
    """
    return visible(text).translate(_ENTITIES)


def flat(text: str) -> str:
    """Return a text on one line, with unprintable characters escaped; statements on separate lines are joined
    by semicolons.
    """
    return "; ".join(line.strip() for line in visible(text).splitlines() if line.strip())


def short(text: str, columns: int) -> str:
    """Return a text on one line. If it takes more than `columns`, first long words are shortened in the
    middle, then the whole text.
    """
    text = flat(text)
    if _fits(text, columns):
        return text
    most = max(LEAST, columns // 3)
    return _without_middle(" ".join(_without_middle(word, most) for word in text.split(" ")), columns)


def _fits(text: str, columns: int) -> bool:
    return width(text) <= columns and len(text) <= _MARKS * columns


def _without_middle(text: str, columns: int) -> str:
    if _fits(text, columns):
        return text
    tail = columns // 3
    return _cut(text, columns - tail - 1) + "…" + _cut(text[::-1], tail)[::-1]


def _cut(text: str, columns: int) -> str:
    """Truncate a text to the columns that fit."""
    taken = text[: _MARKS * columns]
    while width(taken) > columns:
        taken = taken[:-1]
    return taken


def dim_words(name: str | None, size: int, columns: int = DIM_COLUMNS) -> str:
    """Format a dim: its name with its size, or its size alone if it has no other name.

    >>> dim_words("N", 2), dim_words("3", 3), dim_words(None, 4)
    ('N=2', '3', '4')
    """
    shown = str(size) if name is None else short(name, columns)
    return shown if shown == str(size) else f"{shown}={size}"


def counted(value: int) -> str:
    """Format a count: in full up to five digits, then three digits and a letter, finally a power of ten."""
    if value < EXACT:
        return f"{value:,}"
    if value >= LARGEST:
        return power(value)
    step, letter = next(row for row in _STEPS if value >= row[0])
    digits = f"{value / step:.3g}" if value < 999.5 * step else "999"
    return f"{digits} {letter}"


def power(value: int | Decimal) -> str:
    """Format a large number as a power of ten with three digits."""
    digits, _, exponent = f"{Decimal(value):.2e}".partition("e")
    shown = f"10^{int(exponent)}"
    return shown if digits == "1.00" else f"{digits.rstrip('0').rstrip('.')} × {shown}"


def ratio_text(large: int, small: int) -> str:
    """Format the ratio of two counts: three digits, and a power of ten from a million.

    >>> ratio_text(3, 2), ratio_text(18_000, 10), ratio_text(10**100, 7)
    ('1.5', '1,800', '1.43 × 10^99')
    """
    ratio = Decimal(large) / Decimal(small)
    if ratio >= _MILLION:
        return power(ratio)
    return f"{float(ratio):.3g}" if ratio < 999 else f"{float(f'{ratio:.2e}'):,.0f}"  # noqa: PLR2004


def full_or_power(value: int) -> str:
    """Format a count with all of its digits, from 10^12 as a power of ten.

    >>> full_or_power(1_234_567), full_or_power(6 * 10**12)
    ('1,234,567', '6 × 10^12')
    """
    return f"{value:,}" if value < 10**12 else power(value)


def bytes_text(value: int) -> str:
    """Format bytes, such as "64 B" and "1.05 MB"."""
    return counted(value) + ("B" if EXACT <= value < LARGEST else " B")


def flops_text(value: int) -> str:
    """Format flops, such as "48 flops" and "16.8 Mflops"."""
    return counted(value) + ("flops" if EXACT <= value < LARGEST else " flops")
