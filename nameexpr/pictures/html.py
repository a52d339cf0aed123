"""HTML for notebooks: the small table of a tensor, and an expression or a formula in colours.

The input and output are text: NumPy is not used here, and everything is passed through `escaped`. The styles
are inline, because notebooks strip style sheets. The table takes its colours from the page, light or dark;
texts take theirs from the notebook's editor if it exports them (JupyterLab's CSS variables), and weight,
slant and underlines also distinguish tokens.

>>> print(html_table(HtmlTable("x", (("0", ("1.5",)),), "N", "C", ("0",))))  # doctest: +ELLIPSIS
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
_IMAGE = "image-rendering:pixelated"
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
class Thumbnail:
    """An image as a data URI, and its displayed size in pixels."""

    uri: str
    wide: int
    high: int


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """The contents of a table. `caption` has a few lines, and is alone if there are no `lines`: a line is its
    number (empty, if lines have none) and its elements.

    `rows` and `columns` are the dims on its sides, empty for a side without one; `heads` are the numbers of
    the columns. With a thumbnail there are no elements.
    """

    caption: str
    lines: tuple[tuple[str, tuple[str, ...]], ...] = ()
    rows: str = ""
    columns: str = ""
    heads: tuple[str, ...] = ()
    thumbnail: Thumbnail | None = None


def html_table(table: HtmlTable) -> str:
    """Return a table as HTML."""
    caption = "\n".join(shortened(line, LONGEST_CAPTION) for line in table.caption.split("\n"))
    parts = [f'<table style="{_TABLE}"><caption style="{_CAPTION}">{caption}</caption>']
    if table.heads:
        corner, side = "", ""
        if table.rows:
            corner, side = "<td></td>", f'<th scope="col" style="{_DIM}">{shortened(table.rows)}</th>'
        across = f'<th scope="colgroup" colspan="{len(table.heads)}" style="{_DIM}">'
        numbers = "".join(f'<th scope="col" style="{_HEAD}">{shortened(head)}</th>' for head in table.heads)
        parts.append(
            f"<thead><tr>{corner}{across}{shortened(table.columns)}</th></tr><tr>{side}{numbers}</tr></thead>"
        )
    parts.append("<tbody>")
    if table.thumbnail is not None:
        size = f'width="{table.thumbnail.wide}" height="{table.thumbnail.high}"'
        image = f'<img style="{_IMAGE}" alt="the image" {size} src="{escaped(table.thumbnail.uri)}">'
        parts.append(f'<tr><td style="text-align:left">{image}</td></tr>')
    for number, cells in table.lines:
        head = f'<th scope="row" style="{_HEAD}">{shortened(number)}</th>' if table.rows else ""
        parts.append(f"<tr>{head}{''.join(f'<td>{shortened(cell)}</td>' for cell in cells)}</tr>")
    return "".join(parts) + "</tbody></table>"


def shortened(text: str, longest: int = LONGEST_CELL) -> str:
    """Escape a text for HTML, truncated if it is long.

    >>> shortened("<b>"), shortened("12345", 3)
    ('&lt;b&gt;', '12…')
    """
    # Truncate before and after: an element may print megabytes, and an escape is longer than its character.
    short = text if len(text) <= longest else text[: longest - 1] + ELIDED
    return escaped(short.replace("\n", " "))


def coloured(text: str, kind: Kind | None = None) -> str:
    """Return a text, valid or not, as HTML with a styled `span` around each of its tokens; a very long one is
    truncated.

    >>> coloured("<b>", "expression").startswith('<span style="text-decoration:underline wavy')
    True
    """
    shown = text[:LONGEST_TEXT]
    parts = []
    for token in tokens(shown, kind):
        style, part = _STYLES.get(token.kind), escaped(shown[slice(*token.span)])
        parts.append(part if style is None else f'<span style="{style}">{part}</span>')
    return "".join(parts) + (ELIDED if len(text) > LONGEST_TEXT else "")


def coloured_signature(text: str, inputs: Sequence[str], result: str) -> str:
    """Return a compiled text as HTML, with its operands and results below."""
    takes = ", ".join(inputs) or "nothing"
    line = escaped(f"takes {takes}\ngives {result or 'a number'}"[:LONGEST_TEXT])
    return (
        f'<div><pre style="margin:0;{_FONT}">{coloured(text)}</pre>'
        f'<pre style="margin:.3em 0 0;opacity:.75;{_FONT}">{line}</pre></div>'
    )
