"""HTML for notebooks: the small table of a tensor, and an expression or a formula in colours.

Texts come in and one text goes out: no NumPy here, and everything passes `escaped`. The styles are inline,
for notebooks strip style sheets. The table takes its colours from the page, light or dark; texts take theirs
from the notebook's own editor where it lends them (JupyterLab's CSS variables), and beside them weight, slant
and underlines tell tokens apart.

>>> print(html_table(HtmlTable("x", (HtmlRow("0", ("1.5",)),), "N", "C", ("0",))))  # doctest: +ELLIPSIS
<table style="..."><caption style="...">x</caption><thead><tr><td></td><th ...>C</th></tr>...
>>> coloured("N ->").count("<span")
2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nameexpr.pictures.words import escaped
from nameexpr.syntax.lexer.tokens import Kind, tokens

LONGEST_CELL = 24
LONGEST_CAPTION = 400
ELIDED = "…"

_TABLE = "border-collapse:collapse;margin:.3em 0;text-align:right;font-variant-numeric:tabular-nums"
_CAPTION = "caption-side:top;text-align:left;white-space:pre;padding:.2em 0"
_HEAD = "text-align:right;font-weight:normal;opacity:.75"
_DIM = "text-align:center;font-weight:bold"

LONGEST_TEXT = 4000
_FONT = "font-family:var(--jp-code-font-family,monospace)"
_STYLES = {
    "tensor": "font-weight:bold;color:var(--jp-mirror-editor-def-color,inherit)",
    "function": "font-style:italic;color:var(--jp-mirror-editor-builtin-color,inherit)",
    "name": "color:var(--jp-mirror-editor-variable-2-color,inherit)",
    "pack": "color:var(--jp-mirror-editor-variable-2-color,inherit)",
    "number": "color:var(--jp-mirror-editor-number-color,inherit)",
    "operator": "color:var(--jp-mirror-editor-operator-color,inherit)",
    "comment": "font-style:italic;opacity:.75;color:var(--jp-mirror-editor-comment-color,inherit)",
    "error": "text-decoration:underline wavy;color:var(--jp-mirror-editor-error-color,inherit)",
}


@dataclass(frozen=True, slots=True)
class HtmlRow:
    """One row: its number (empty, if the rows have none) and its elements."""

    head: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """What a table shows.

    Attributes
    ----------
    caption : str
        What it is a table of, on a few lines.
    lines : tuple of HtmlRow
        The rows; none, and the caption stands alone.
    rows, columns : str
        The dims on its sides, empty for a side without one.
    heads : tuple of str
        The numbers of the columns.
    """

    caption: str
    lines: tuple[HtmlRow, ...] = ()
    rows: str = ""
    columns: str = ""
    heads: tuple[str, ...] = ()


def html_table(table: HtmlTable) -> str:
    """Write a table as HTML."""
    body = "".join(_row(row, table.rows) for row in table.lines)
    caption = "\n".join(shortened(line, LONGEST_CAPTION) for line in table.caption.split("\n"))
    return (
        f'<table style="{_TABLE}"><caption style="{_CAPTION}">{caption}</caption>'
        f"{_head(table)}<tbody>{body}</tbody></table>"
    )


def shortened(text: str, longest: int = LONGEST_CELL) -> str:
    """Escape a text for HTML, its end cut off if it is long.

    Examples
    --------
    >>> shortened("<b>"), shortened("12345", 3)
    ('&lt;b&gt;', '12…')
    """
    # Cut before and after: an element may print megabytes, and an escape is longer than its character.
    short = text if len(text) <= longest else text[: longest - 1] + ELIDED
    return escaped(short.replace("\n", " "))


def _head(table: HtmlTable) -> str:
    if not table.heads:
        return ""
    corner = "<td></td>" if table.rows else ""
    side = f'<th scope="col" style="{_DIM}">{shortened(table.rows)}</th>' if table.rows else ""
    name = f'<th scope="colgroup" colspan="{len(table.heads)}" style="{_DIM}">{shortened(table.columns)}</th>'
    numbers = "".join(f'<th scope="col" style="{_HEAD}">{shortened(head)}</th>' for head in table.heads)
    return f"<thead><tr>{corner}{name}</tr><tr>{side}{numbers}</tr></thead>"


def _row(row: HtmlRow, rows: str) -> str:
    head = f'<th scope="row" style="{_HEAD}">{shortened(row.head)}</th>' if rows else ""
    cells = "".join(f"<td>{shortened(cell)}</td>" for cell in row.cells)
    return f"<tr>{head}{cells}</tr>"


def coloured(text: str, kind: Kind | None = None) -> str:
    """Write a text as HTML, a `span` with a style around each of its tokens; a very long one is cut.

    Parameters
    ----------
    text : str
        Any text, right or wrong.
    kind : {"expression", "formula"}, optional
        As for `nameexpr.syntax.lexer.tokens.tokens`.

    Examples
    --------
    >>> coloured("<b>", "expression").startswith('<span style="text-decoration:underline wavy')
    True
    """
    shown = text[:LONGEST_TEXT]
    parts = [_part(token.kind, escaped(shown[slice(*token.span)])) for token in tokens(shown, kind)]
    return "".join(parts) + ("…" if len(text) > LONGEST_TEXT else "")


def _part(kind: str, text: str) -> str:
    style = _STYLES.get(kind)
    return text if style is None else f'<span style="{style}">{text}</span>'


def coloured_signature(text: str, inputs: Sequence[str], result: str) -> str:
    """Write a compiled text as HTML, with what it takes and what it gives below."""
    takes = ", ".join(inputs) or "nothing"
    line = escaped(f"takes {takes}\ngives {result or 'a number'}"[:LONGEST_TEXT])
    return (
        f'<div><pre style="margin:0;{_FONT}">{coloured(text)}</pre>'
        f'<pre style="margin:.3em 0 0;opacity:.75;{_FONT}">{line}</pre></div>'
    )
