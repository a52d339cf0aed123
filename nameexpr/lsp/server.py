"""The protocol: notifications and requests of an editor, answered from its open files.

After a change a file is checked once nothing was typed for `DELAY` seconds. While a file is not valid Python,
the editor keeps the errors that it received last. An exception never ends the server: it is logged to
standard error, and the answer is empty.

Texts are stored here. pygls applies partial changes at the line breaks of `str.splitlines`, which are more
than those of the protocol, and modifies the positions that it then passes on; therefore whole texts are
requested. Changes in cells of notebooks are always partial: pygls ignores them, and the warnings that it logs
about them are suppressed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from nameexpr.lint.source import Source
from nameexpr.lsp.completion import complete_at
from nameexpr.lsp.files import OpenFile, apply_change, joined
from nameexpr.lsp.hover import hover
from nameexpr.lsp.problems import fixes, problems
from nameexpr.version import __version__

Params = TypeVar("Params")
DELAY = 0.2
"""The seconds without a change after which a file is checked."""
_LOG = logging.getLogger("nameexpr.lsp")
_ACTIONS = types.CodeActionOptions([types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite])
_COMPLETION = types.CompletionOptions(trigger_characters=(" ", "[", "(", ",", ":"))
_CELLS = types.NotebookDocumentFilterWithCells([types.NotebookCellLanguage("python")])


def serve() -> None:
    """Serve one editor on standard input and output until it requests exit.

    pygls closes its output stream: that is a copy, because the command flushes standard output at its end.
    """
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        logging.getLogger("pygls.workspace.text_document").disabled = True
        TextServer().start_io(stdout=output)


class TextServer(LanguageServer):
    """The server of one editor: `texts` contains its open files, including cells of notebooks, and `waiting`
    the checks that are due after a change, both by URI.
    """

    def __init__(self) -> None:
        notebooks = types.NotebookDocumentSyncOptions([_CELLS], save=True)
        super().__init__("nameexpr", __version__, types.TextDocumentSyncKind.Full, notebooks)
        self.texts: dict[str, str] = {}
        self.waiting: dict[str, asyncio.TimerHandle] = {}
        for feature, handle, options in (
            (types.TEXT_DOCUMENT_DID_OPEN, self.opened, None),
            (types.TEXT_DOCUMENT_DID_CHANGE, self.changed, None),
            (types.TEXT_DOCUMENT_DID_SAVE, self.saved, None),
            (types.TEXT_DOCUMENT_DID_CLOSE, self.closed, None),
            (types.NOTEBOOK_DOCUMENT_DID_OPEN, self.notebook_opened, None),
            (types.NOTEBOOK_DOCUMENT_DID_CHANGE, self.notebook_changed, None),
            (types.NOTEBOOK_DOCUMENT_DID_SAVE, self.saved, None),
            (types.NOTEBOOK_DOCUMENT_DID_CLOSE, self.notebook_closed, None),
            (types.WORKSPACE_DID_CHANGE_CONFIGURATION, self.configured, None),
            (types.TEXT_DOCUMENT_HOVER, self.hover, None),
            (types.TEXT_DOCUMENT_COMPLETION, self.complete, _COMPLETION),
            (types.TEXT_DOCUMENT_CODE_ACTION, self.actions, _ACTIONS),
        ):
            self.feature(feature, options)(_harmless(handle))

    @property
    def encoding(self) -> str:
        """The encoding whose code units columns count."""
        return types.PositionEncodingKind(self.workspace.position_encoding or "utf-16").value

    def file(self, uri: str) -> OpenFile:
        """Return a file that is open, or a cell, which depends on those above it."""
        notebook = self.workspace.get_notebook_document(cell_uri=uri)
        if notebook is None:
            return OpenFile(uri, to_fs_path(uri) or uri, self.texts[uri], self.encoding)
        cells = self.cells(notebook)
        above = cells[: cells.index(uri) + 1]
        text, starts = joined([self.texts[one] for one in above])
        return OpenFile(uri, to_fs_path(notebook.uri) or notebook.uri, text, self.encoding, starts[-2])

    def cells(self, notebook: types.NotebookDocument) -> list[str]:
        """Return the URIs of the cells of code."""
        return [one.document for one in notebook.cells if one.kind == types.NotebookCellKind.Code]

    def configured(self, params: types.DidChangeConfigurationParams) -> None:
        """Take the settings that Eglot sends to every server; there are none here."""

    # Mistakes

    def check(self, uri: str) -> None:
        """Check a file or a notebook, and send the findings to the editor."""
        due = self.waiting.pop(uri, None)
        if due is not None:
            due.cancel()
        notebook = self.workspace.get_notebook_document(notebook_uri=uri)
        if notebook is not None:
            cells = self.cells(notebook)
            text, starts = joined([*(self.texts[one] for one in cells), ""])
            path = to_fs_path(uri) or uri
            parts = zip(cells, starts, strict=False)
            files = [OpenFile(cell, path, text, self.encoding, start) for cell, start in parts]
        elif uri in self.texts:
            files = [self.file(uri)]
            starts = [0, len(files[0].source.lines)]
        else:
            return
        self.tell(files, starts)

    def tell(self, files: Sequence[OpenFile], starts: Sequence[int]) -> None:
        """Check a program, and send the findings in each of its files; `starts` are their lines in it."""
        if not files:
            return
        unsaved = {os.path.realpath(to_fs_path(uri) or uri): text for uri, text in self.texts.items()}
        found = problems(files[0].source.text, files[0].path, unsaved)
        for file, (start, end) in zip(files, pairwise(starts), strict=False):
            if found is not None:
                inside = [one for one in found if start < one.region.start.line <= end]
                self.send(file.uri, [file.diagnostic(one) for one in inside])

    def send(self, uri: str, found: list[types.Diagnostic]) -> None:
        """Send the errors of a file, or a cell, to the editor."""
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))

    def check_later(self, uri: str) -> None:
        """Check a file or a notebook when it has not been changed for a while."""
        if uri in self.waiting:
            self.waiting[uri].cancel()
        self.waiting[uri] = asyncio.get_running_loop().call_later(DELAY, _harmless(self.check), uri)

    # Files

    def open(self, documents: Sequence[types.TextDocumentItem]) -> None:
        """Keep the texts of files or cells."""
        self.texts |= {one.uri: Source(one.text).text for one in documents}

    def change(self, uri: str, changes: Sequence[types.TextDocumentContentChangeEvent]) -> None:
        """Change the text of a file or a cell."""
        for one in changes:
            self.texts[uri] = apply_change(self.texts[uri], one, self.encoding)

    def close(self, documents: Sequence[types.TextDocumentIdentifier]) -> None:
        """Remove files or cells, and withdraw their errors."""
        for one in documents:
            self.texts.pop(one.uri, None)
            self.send(one.uri, [])

    def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        """Check a file at once."""
        self.open([params.text_document])
        self.check(params.text_document.uri)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """Change a file, and check it soon."""
        self.change(params.text_document.uri, params.content_changes)
        self.check_later(params.text_document.uri)

    def saved(self, params: types.DidSaveTextDocumentParams | types.DidSaveNotebookDocumentParams) -> None:
        """Check all open files: they may import the saved one."""
        for uri in [*self.texts, *self.workspace.notebook_documents]:
            if self.workspace.get_notebook_document(cell_uri=uri) is None:
                self.check(uri)

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        """Remove a file."""
        self.close([params.text_document])

    def notebook_opened(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """Check a notebook at once."""
        self.open(params.cell_text_documents)
        self.check(params.notebook_document.uri)

    def notebook_changed(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Change cells, and check the notebook soon."""
        cells = params.change.cells
        if cells is not None and cells.structure is not None:
            self.open(cells.structure.did_open or ())
            self.close(cells.structure.did_close or ())
        for one in (cells and cells.text_content) or ():
            self.change(one.document.uri, one.changes)
        self.check_later(params.notebook_document.uri)

    def notebook_closed(self, params: types.DidCloseNotebookDocumentParams) -> None:
        """Remove a notebook."""
        self.close(params.cell_text_documents)

    # Answers

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Describe what is at a position."""
        file = self.file(params.text_document.uri)
        shown = hover(file.source.text, file.offset(params.position), file.path)
        if shown is None:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, shown.markdown)
        return types.Hover(content, file.range(shown.start, shown.end))

    def complete(self, params: types.CompletionParams) -> types.CompletionList:
        """List the completions at a position."""
        file = self.file(params.text_document.uri)
        found = complete_at(file.source.text, file.offset(params.position), file.path)
        items = [file.completion(*one) for one in enumerate(found)]
        return types.CompletionList(is_incomplete=False, items=items)

    def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """List the changes for a range."""
        file = self.file(params.text_document.uri)
        start, end = file.offset(params.range.start), file.offset(params.range.end)
        return [file.action(fix) for fix in fixes(file.source.text, start, end, file.path)]


def _harmless(handle: Callable[[Params], Any]) -> Callable[[Params], Any]:
    """Return a function that logs the exceptions of another one, and returns None for them."""

    def handled(params: Params) -> Any:
        try:
            return handle(params)
        except Exception:  # noqa: BLE001 no input stops the server
            _LOG.exception("no answer")
            return None

    return handled
