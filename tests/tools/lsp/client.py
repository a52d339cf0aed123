"""An editor for tests: starts `nameexpr lsp`, and speaks the protocol with it over pipes, each answer within
a time limit. Nothing of pygls or lsprotocol is used.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[3]
TIMEOUT = 30.0
URI = "file:///somewhere/model.py"
NOTEBOOK = "file:///somewhere/model.ipynb"


class Editor:
    """A process of the server: `ask` and `notify` it, and `wait_for` what it sends by itself."""

    def __init__(
        self, encodings: list[str] | None = None, introduction: dict[str, Any] | None = None
    ) -> None:
        paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "nameexpr", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        )
        self.messages: queue.Queue[dict[str, Any]] = queue.Queue()
        self.errors: list[bytes] = []
        assert self.process.stdout is not None and self.process.stderr is not None
        threads = [(self._read, self.process.stdout), (self._drain, self.process.stderr)]
        self.threads = [threading.Thread(target=run, args=(pipe,), daemon=True) for run, pipe in threads]
        for thread in self.threads:
            thread.start()
        self.number = 0
        general = {"positionEncodings": encodings} if encodings else {}
        plain = {"processId": None, "rootUri": None, "capabilities": {"general": general}}
        self.capabilities = self.ask("initialize", introduction or plain)["capabilities"]
        self.notify("initialized", {})

    def __enter__(self) -> Editor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(TIMEOUT)
        for thread in self.threads:
            thread.join(TIMEOUT)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()

    def _read(self, pipe: IO[bytes]) -> None:
        while header := pipe.readline():
            length = int(header.partition(b":")[2])
            while pipe.readline().strip():
                pass
            self.messages.put(json.loads(pipe.read(length)))

    def _drain(self, pipe: IO[bytes]) -> None:
        self.errors.extend(pipe)

    def send(self, **message: Any) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def notify(self, method: str, params: Any) -> None:
        self.send(method=method, params=params)

    def ask(self, method: str, params: Any) -> Any:
        """Return the answer to a request; what comes before it is left out."""
        self.number += 1
        self.send(id=self.number, method=method, params=params)
        while True:
            message = self.messages.get(timeout=TIMEOUT)
            if message.get("id") == self.number and "method" not in message:
                assert "error" not in message, message
                return message["result"]

    def wait_for(self, method: str) -> Any:
        """Return the parameters of the next notification of a kind."""
        while True:
            message = self.messages.get(timeout=TIMEOUT)
            if message.get("method") == method:
                return message["params"]

    # What editors do with a file

    def open(self, text: str, uri: str = URI) -> None:
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, text: str, uri: str = URI, version: int = 2) -> None:
        document = {"uri": uri, "version": version}
        params = {"textDocument": document, "contentChanges": [{"text": text}]}
        self.notify("textDocument/didChange", params)

    def change_part(self, span: Any, text: str, uri: str = URI) -> None:
        changes = [{"range": span, "text": text}]
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": 2}, "contentChanges": changes},
        )

    def open_notebook(self, cells: dict[str, str], uri: str = NOTEBOOK) -> None:
        listed = [{"kind": 2, "document": cell} for cell in cells]
        documents = [
            {"uri": cell, "languageId": "python", "version": 1, "text": text} for cell, text in cells.items()
        ]
        notebook = {"uri": uri, "notebookType": "jupyter-notebook", "version": 1, "cells": listed}
        self.notify(
            "notebookDocument/didOpen", {"notebookDocument": notebook, "cellTextDocuments": documents}
        )

    def change_cell(self, cell: str, span: Any, text: str, uri: str = NOTEBOOK) -> None:
        changes = [{"document": {"uri": cell, "version": 2}, "changes": [{"range": span, "text": text}]}]
        notebook = {"uri": uri, "version": 2}
        change = {"cells": {"textContent": changes}}
        self.notify("notebookDocument/didChange", {"notebookDocument": notebook, "change": change})

    def sent(self, count: int) -> list[dict[str, Any]]:
        """Return what is sent next of so many files or cells."""
        return [self.wait_for("textDocument/publishDiagnostics") for _ in range(count)]

    def mistakes(self) -> list[dict[str, Any]]:
        found = self.wait_for("textDocument/publishDiagnostics")["diagnostics"]
        assert isinstance(found, list)
        return found

    def at(self, method: str, line: int, character: int, uri: str = URI) -> Any:
        place = {"line": line, "character": character}
        return self.ask(f"textDocument/{method}", {"textDocument": {"uri": uri}, "position": place})

    def actions(self, range_: Any, uri: str = URI) -> list[dict[str, Any]]:
        params = {"textDocument": {"uri": uri}, "range": range_, "context": {"diagnostics": []}}
        found = self.ask("textDocument/codeAction", params)
        assert isinstance(found, list)
        return found

    def close(self) -> int:
        """Say goodbye, and return the exit code."""
        self.ask("shutdown", None)
        self.notify("exit", None)
        return self.process.wait(TIMEOUT)
