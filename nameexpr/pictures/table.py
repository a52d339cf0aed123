"""A small HTML table for notebooks: what a tensor is above it, its dims on its sides, some of its elements.

Texts come in and one text goes out: no NumPy here, and everything passes `escaped`. The styles are inline,
for notebooks strip style sheets, and set no colour: the table takes those of the page, light or dark.

>>> print(html_table(Table("x", (Line("0", ("1.5",)),), "N", "C", ("0",))))  # doctest: +ELLIPSIS
<table style="..."><caption style="...">x</caption><thead><tr><td></td><th ...>C</th></tr>...
"""

from __future__ import annotations

from dataclasses import dataclass

from nameexpr.pictures.markup import escaped

LONGEST_CELL = 24
LONGEST_CAPTION = 400
ELIDED = "…"

_TABLE = "border-collapse:collapse;margin:.3em 0;text-align:right;font-variant-numeric:tabular-nums"
_CAPTION = "caption-side:top;text-align:left;white-space:pre;padding:.2em 0"
_HEAD = "text-align:right;font-weight:normal;opacity:.75"
_DIM = "text-align:center;font-weight:bold"


@dataclass(frozen=True, slots=True)
class Line:
    """One row: its number (empty, if the rows have none) and its elements."""

    head: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """What a table shows.

    Attributes
    ----------
    caption : str
        What it is a table of, on a few lines.
    lines : tuple of Line
        The rows; none, and the caption stands alone.
    rows, columns : str
        The dims on its sides, empty for a side without one.
    heads : tuple of str
        The numbers of the columns.
    """

    caption: str
    lines: tuple[Line, ...] = ()
    rows: str = ""
    columns: str = ""
    heads: tuple[str, ...] = ()


def html_table(table: Table) -> str:
    """Return a table as HTML."""
    body = "".join(_row(line, table.rows) for line in table.lines)
    caption = "\n".join(shortened(line, LONGEST_CAPTION) for line in table.caption.split("\n"))
    return (
        f'<table style="{_TABLE}"><caption style="{_CAPTION}">{caption}</caption>'
        f"{_head(table)}<tbody>{body}</tbody></table>"
    )


def shortened(text: str, longest: int = LONGEST_CELL) -> str:
    """Return a text for HTML, its end cut off if it is long.

    Examples
    --------
    >>> shortened("<b>"), shortened("12345", 3)
    ('&lt;b&gt;', '12…')
    """
    # Cut before and after: an element may print megabytes, and an escape is longer than its character.
    short = text if len(text) <= longest else text[: longest - 1] + ELIDED
    return escaped(short.replace("\n", " "))


def _head(table: Table) -> str:
    if not table.heads:
        return ""
    corner = "<td></td>" if table.rows else ""
    side = f'<th scope="col" style="{_DIM}">{shortened(table.rows)}</th>' if table.rows else ""
    name = f'<th scope="colgroup" colspan="{len(table.heads)}" style="{_DIM}">{shortened(table.columns)}</th>'
    numbers = "".join(f'<th scope="col" style="{_HEAD}">{shortened(head)}</th>' for head in table.heads)
    return f"<thead><tr>{corner}{name}</tr><tr>{side}{numbers}</tr></thead>"


def _row(line: Line, rows: str) -> str:
    head = f'<th scope="row" style="{_HEAD}">{shortened(line.head)}</th>' if rows else ""
    cells = "".join(f"<td>{shortened(cell)}</td>" for cell in line.cells)
    return f"<tr>{head}{cells}</tr>"
