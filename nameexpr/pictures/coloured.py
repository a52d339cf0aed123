"""An expression or a formula as coloured HTML, for notebooks.

The colours are those of the notebook's own editor where it lends them (JupyterLab's CSS variables), else
there are none: weight, slant and underlines tell the tokens apart on any page, light or dark.

>>> coloured("N ->").count("<span")
2
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.pictures.markup import escaped
from nameexpr.syntax.lexer.tokens import Kind, tokens

LONGEST = 4000
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


def coloured(text: str, kind: Kind | None = None) -> str:
    """Return a text as HTML, a `span` with a style around each of its tokens; a very long one is cut.

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
    shown = text[:LONGEST]
    parts = [_part(token.kind, escaped(shown[slice(*token.span)])) for token in tokens(shown, kind)]
    return "".join(parts) + ("…" if len(text) > LONGEST else "")


def _part(kind: str, text: str) -> str:
    style = _STYLES.get(kind)
    return text if style is None else f'<span style="{style}">{text}</span>'


def coloured_signature(text: str, inputs: Sequence[str], result: str) -> str:
    """Return a compiled text as HTML: the text, and below it what it takes and what it gives."""
    takes = ", ".join(inputs) or "nothing"
    line = escaped(f"takes {takes}\ngives {result or 'a number'}"[:LONGEST])
    return (
        f'<div><pre style="margin:0;{_FONT}">{coloured(text)}</pre>'
        f'<pre style="margin:.3em 0 0;opacity:.75;{_FONT}">{line}</pre></div>'
    )
