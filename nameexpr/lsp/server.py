"""The protocol: what an editor sends and asks for, answered from the sources that it has open.

After a change the file is checked once nothing was typed for `DELAY` seconds. While a file is not valid
Python, the editor keeps the mistakes that it was told last. The whole text comes with every change: pygls
applies changes of a part at the line breaks of `str.splitlines`, which are more than those of the protocol.
An exception never ends the server: it is logged to standard error, and the answer is empty.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from nameexpr.lint.findings import Finding
from nameexpr.lint.source import Source, TextRange
from nameexpr.lsp.completion import Suggestion, complete_at
from nameexpr.lsp.hover import hover
from nameexpr.lsp.positions import to_offset, to_position
from nameexpr.lsp.problems import Fix, fixes, problems
from nameexpr.version import __version__

Params = TypeVar("Params")
DELAY = 0.2
"""Seconds without a change after which a file is checked."""
TRIGGERS = (" ", "[", "(", ",", ":")
_LOG = logging.getLogger("nameexpr.lsp")
_WHOLE = types.TextDocumentSyncKind.Full
_ACTIONS = types.CodeActionOptions([types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite])


def serve() -> None:
    """Serve one editor on standard input and output until it says exit.

    pygls closes what it writes to: that is a copy, for the command flushes standard output at its end.
    """
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        TextServer().start_io(stdout=output)


class OpenFile:
    """A file as the editor shows it, with positions in the encoding that was agreed on."""

    def __init__(self, uri: str, path: str, text: str, encoding: str) -> None:
        self.uri, self.path, self.encoding = uri, path, encoding
        self.source = Source(text)

    def offset(self, position: types.Position) -> int:
        """Convert a position to an offset."""
        return to_offset(self.source, position.line, position.character, self.encoding)

    def range(self, start: int, end: int) -> types.Range:
        """Convert two offsets to a range."""
        places = [to_position(self.source, offset, self.encoding) for offset in (start, end)]
        return types.Range(*(types.Position(*place) for place in places))

    def region(self, region: TextRange) -> types.Range:
        """Convert a region of the linter to a range."""
        return self.range(*(self.source.starts[line - 1] + column - 1 for line, column in region))

    def diagnostic(self, finding: Finding) -> types.Diagnostic:
        """Convert a mistake; its other marks become related information."""
        hint = f"\nhelp: {finding.diagnostic.hint}" if finding.diagnostic.hint else ""
        others = [(types.Location(self.uri, self.region(place)), note) for place, note in finding.related]
        related = [types.DiagnosticRelatedInformation(place, note or "and here") for place, note in others]
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
        """Convert a change that is offered."""
        kinds = types.CodeActionKind
        edits = [types.TextEdit(self.range(start, end), text) for start, end, text in fix.edits]
        return types.CodeAction(
            fix.title,
            kind=kinds.QuickFix if fix.mends else kinds.RefactorRewrite,
            diagnostics=[self.diagnostic(fix.mends)] if fix.mends else None,
            is_preferred=fix.mends is not None,
            edit=types.WorkspaceEdit(changes={self.uri: edits}),
        )


class TextServer(LanguageServer):
    """The server of one editor: `waiting` holds the checks that are due after a change, by file."""

    def __init__(self) -> None:
        super().__init__("nameexpr", __version__, text_document_sync_kind=_WHOLE)
        self.waiting: dict[str, asyncio.TimerHandle] = {}
        self._answer(types.TEXT_DOCUMENT_DID_OPEN, lambda params: self.check(params.text_document.uri))
        self._answer(types.TEXT_DOCUMENT_DID_CHANGE, self.check_later)
        self._answer(types.TEXT_DOCUMENT_DID_SAVE, self.check_all)
        self._answer(types.TEXT_DOCUMENT_DID_CLOSE, self.forget)
        self._answer(types.TEXT_DOCUMENT_HOVER, self.hover)
        self._answer(types.TEXT_DOCUMENT_CODE_ACTION, self.actions, _ACTIONS)
        options = types.CompletionOptions(trigger_characters=TRIGGERS)
        self._answer(types.TEXT_DOCUMENT_COMPLETION, self.complete, options)

    def _answer(self, feature: str, handle: Callable[[Any], Any], options: Any = None) -> None:
        self.feature(feature, options)(_harmless(handle))

    def file(self, uri: str) -> OpenFile:
        """Return an open file."""
        document = self.workspace.get_text_document(uri)
        encoding = types.PositionEncodingKind(self.workspace.position_encoding or "utf-16")
        return OpenFile(uri, document.path, document.source, encoding.value)

    # Mistakes

    def check(self, uri: str) -> None:
        """Check a file and tell the editor what was found."""
        due = self.waiting.pop(uri, None)
        if due is not None:
            due.cancel()
        file = self.file(uri)
        documents = self.workspace.text_documents.values()
        unsaved = {os.path.realpath(one.path): one.source for one in documents}
        found = problems(file.source.text, file.path, unsaved)
        if found is not None:
            self.tell(uri, [file.diagnostic(finding) for finding in found])

    def tell(self, uri: str, found: list[types.Diagnostic]) -> None:
        """Send the mistakes of a file to the editor."""
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))

    def check_later(self, params: types.DidChangeTextDocumentParams) -> None:
        """Check a file when it has not been changed for a while."""
        uri = params.text_document.uri
        if uri in self.waiting:
            self.waiting[uri].cancel()
        self.waiting[uri] = asyncio.get_running_loop().call_later(DELAY, _harmless(self.check), uri)

    def check_all(self, params: types.DidSaveTextDocumentParams) -> None:
        """Check all open files: they may import the one that was saved."""
        for uri in list(self.workspace.text_documents):
            self.check(uri)

    def forget(self, params: types.DidCloseTextDocumentParams) -> None:
        """Take back what was said of a file that is closed."""
        uri = params.text_document.uri
        due = self.waiting.pop(uri, None)
        if due is not None:
            due.cancel()
        self.tell(uri, [])

    # Answers

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Say what stands at a position."""
        file = self.file(params.text_document.uri)
        shown = hover(file.source.text, file.offset(params.position), file.path)
        if shown is None:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, shown.markdown)
        return types.Hover(content, file.range(shown.start, shown.end))

    def complete(self, params: types.CompletionParams) -> types.CompletionList:
        """List what may come at a position."""
        file = self.file(params.text_document.uri)
        found = complete_at(file.source.text, file.offset(params.position), file.path)
        return types.CompletionList(
            is_incomplete=False, items=[file.completion(*one) for one in enumerate(found)]
        )

    def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """List what can be done about a range."""
        file = self.file(params.text_document.uri)
        start, end = file.offset(params.range.start), file.offset(params.range.end)
        return [file.action(fix) for fix in fixes(file.source.text, start, end, file.path)]


def _harmless(handle: Callable[[Params], Any]) -> Callable[[Params], Any]:
    """Return a function that logs what another one raises, and returns None then."""

    def handled(params: Params) -> Any:
        try:
            return handle(params)
        except Exception:  # noqa: BLE001  whatever is typed, the server lives on
            _LOG.exception("no answer")
            return None

    return handled
