"""The open files of an editor, and conversions to the records of the protocol."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from nameexpr.lint.findings import Finding
from nameexpr.lint.notebook import as_python
from nameexpr.lint.source import Source, TextRange
from nameexpr.lsp.completion import Suggestion
from nameexpr.lsp.positions import to_offset, to_position
from nameexpr.lsp.problems import Fix


def joined(cells: Sequence[str]) -> tuple[str, list[int]]:
    r"""Return the cells of a notebook as one program, the line at which each begins, and the last line.

    A cell that is not valid Python is blank, except for the last one.

    >>> joined(["%time f()", "(", "x = ("])
    ('0;    f()\n\nx = (\n', [0, 1, 2, 3])
    """
    program, starts = "", [0]
    for number, cell in enumerate(cells, 1):
        python, fault = as_python(cell)
        lines = python.text.count("\n")
        program += ("\n" * lines if fault and number < len(cells) else python.text) + "\n"
        starts.append(starts[-1] + lines + 1)
    return program, starts


def apply_change(text: str, change: types.TextDocumentContentChangeEvent, encoding: str) -> str:
    """Return a text after a change of a part of it, or of all."""
    if not isinstance(change, types.TextDocumentContentChangePartial):
        return Source(change.text).text
    source = Source(text)
    start, end = (
        to_offset(source, place.line, place.character, encoding)
        for place in (change.range.start, change.range.end)
    )
    return source.text[:start] + Source(change.text).text + source.text[end:]


class OpenFile:
    """A file as the editor shows it, or a cell of a notebook: then `source` is that of several cells, and the
    lines of this one begin with `first_line`. Positions are in the agreed encoding.
    """

    def __init__(self, uri: str, path: str, text: str, encoding: str, first_line: int = 0) -> None:
        self.uri, self.path, self.encoding = uri, path, encoding
        self.source, self.first_line = Source(text), first_line

    def offset(self, position: types.Position) -> int:
        """Convert a position to an offset."""
        line = position.line + self.first_line
        return to_offset(self.source, line, position.character, self.encoding)

    def range(self, start: int, end: int) -> types.Range:
        """Convert two offsets to a range."""
        places = [to_position(self.source, offset, self.encoding) for offset in (start, end)]
        return types.Range(*(types.Position(line - self.first_line, column) for line, column in places))

    def region(self, region: TextRange) -> types.Range:
        """Convert a region of the linter to a range."""
        return self.range(*(self.source.starts[line - 1] + column - 1 for line, column in region))

    def diagnostic(self, finding: Finding) -> types.Diagnostic:
        """Convert a finding; its other marks become related information."""
        hint = f"\nhelp: {finding.diagnostic.hint}" if finding.diagnostic.hint else ""
        others = [(types.Location(self.uri, self.region(place)), note) for place, note in finding.related]
        related = [types.DiagnosticRelatedInformation(place, note or "also here") for place, note in others]
        return types.Diagnostic(
            self.region(finding.region),
            finding.diagnostic.message + hint,
            severity=types.DiagnosticSeverity.Error,
            code=finding.code,
            source="nameexpr",
            related_information=related or None,
        )

    def completion(self, number: int, suggestion: Suggestion) -> types.CompletionItem:
        """Convert a completion; `number` is its rank."""
        text = suggestion.text
        kinds = types.CompletionItemKind
        return types.CompletionItem(
            text,
            kind=kinds.Function if text[-1:] in "([" else kinds.Variable,
            detail=suggestion.about,
            sort_text=f"{number:03}",
            filter_text=text,
            text_edit=types.TextEdit(self.range(suggestion.start, suggestion.end), text),
        )

    def action(self, fix: Fix) -> types.CodeAction:
        """Convert an offered change."""
        kinds = types.CodeActionKind
        edits = [types.TextEdit(self.range(start, end), text) for start, end, text in fix.edits]
        return types.CodeAction(
            fix.title,
            kind=kinds.QuickFix if fix.mends else kinds.RefactorRewrite,
            diagnostics=[self.diagnostic(fix.mends)] if fix.mends else None,
            is_preferred=fix.mends is not None,
            edit=types.WorkspaceEdit(changes={self.uri: edits}),
        )
