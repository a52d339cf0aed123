"""Where a string can enter through the command line and files: arguments, names and contents of files."""

from __future__ import annotations

import io
import json
import os
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any
from unittest.mock import patch

import numpy as np

import nameexpr as ne
from hardening.hostile_entering import Shown, told
from nameexpr.cli.main import main
from nameexpr.session.commands import new_session
from nameexpr.tensors import NamedTensor

LONGEST_NAME = 120
_FORMATS = {"text": "terminal", "json": "json", "github": "github", "sarif": "sarif"}


class Wrong(Exception):
    """What a command must not do: leave with an unknown code, or with a traceback."""


def ran(*arguments: str, kind: str = "terminal", stdin: bytes = b"") -> Shown:
    """Yield what a command prints; mistakes are of the kind of the terminal, in JSON if all is."""
    out, err = io.StringIO(), io.StringIO()
    source = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "stdin", source):
        status = main(arguments)
    if status not in (0, 1, 2) or "Traceback" in err.getvalue():
        raise Wrong(f"{arguments}: status {status}: {err.getvalue()[-500:]}")
    yield kind, out.getvalue()
    yield "ansi" if "always" in arguments else "terminal", err.getvalue()


def _arguments(string: str) -> Shown:
    transposed = "a b -> b a"
    for words in (
        (string,),
        ("eval", string, "x.npy"),
        ("eval", transposed, string),
        ("eval", "--", transposed, string),
        ("eval", transposed, f"{string}=x.npy"),
        ("eval", transposed, f"x.npz:{string}"),
        ("eval", transposed, "x.npy", "--size", f"{string}=2"),
        ("eval", "y = x[a b]", f"{string}=x.npy"),
        ("eval", transposed, "x.npy", "--color", "always", "--size", f"{string}=2"),
        ("eval", f"a b -> a : {string}", "x.npy", "--color", "always"),
        ("plan", string, "2,3"),
        ("plan", transposed, string),
        ("plan", transposed, "2,3", "--draw", string, "--dot"),
        ("code", string, "2,3"),
        ("check", string),
        ("check", "bad.py", "--exclude", string),
        ("check", "bad.py", "--select", string),
        ("explain", string),
        ("fmt", string),
        ("completion", string),
        ("repl", "--script", string),
        ("repl", f"{string}=x.npy", "--plain"),
    ):
        yield from ran(*words)
        if words[0] in ("eval", "plan", "check"):
            yield from _in_json(words)
    for option, kind in (("--dot", "dot"), ("--mermaid", "mermaid"), ("--svg=-", "svg")):
        yield from _pictures(string, option, kind)


def _in_json(words: tuple[str, ...]) -> Shown:
    for kind, text in ran(words[0], "--json", *words[1:]):
        if text.strip():
            yield "json" if kind == "terminal" and text.startswith("{") else kind, text


def _pictures(string: str, option: str, kind: str) -> Shown:
    for found, text in ran("plan", f"a b, b -> a # {string}", "2,3", "3", option, kind=kind):
        if text or found != kind:
            yield found, text


def _names_of_files(string: str) -> Shown:
    with _named(f"{string}.npy", _npy()) as path:
        if path:
            yield from ran("eval", "--", "a b -> b a", path)
            yield from ran("eval", "--", "a b c -> b a", path)
            yield from ran("plan", "--", "a b c -> b a", path)
            yield from ran("eval", "--", "a -> b a", f"{path}x")
            yield "terminal", new_session().run(f":load k {path}").text
    with _named(f"{string}.npz", b"PK\x03\x04 damaged") as path:
        if path:
            yield from told(lambda: ne.load(path))
            yield from ran("eval", "--", "a b -> b a", path)
    for suffix, content in (
        (".py", _source("a -> b")),
        (".ipynb", _notebook("a -> b")),
        (".py", b"nameexpr ("),
    ):
        with _named(f"{string}{suffix}", content) as path:
            if path:
                yield from _checked(path)


def _written(string: str) -> Shown:
    """A file that is named so by the user, in this folder; and a key in an archive, which may be any text."""
    if os.sep not in string:
        yield from ran("eval", "a b -> b a", "x.npy", "-o", f"{string}.npz")
        with suppress(OSError, ValueError):
            os.unlink(f"{string}.npz")
    yield from ran("eval", "a b -> b a", "x.npy", "-o", f"written.npz:{string}")
    if os.path.exists("written.npz"):
        yield from ran("eval", "a b c -> b a", "written.npz")
        yield from ran("eval", "a b -> b a", f"written.npz:{string}")
        os.unlink("written.npz")
    yield from told(lambda: ne.save("saved.npz", **{string: np.ones(2)} if string not in ("path",) else {}))


def _archives(string: str) -> Shown:
    """Names of entries, and what the entry of names says."""
    entry = {"names": ["a", "b"], "dtype": "float64"}
    for name, header in (
        (string, {"only": False, "tensors": {string: entry}}),
        ("x", {"only": False, "tensors": {"x": {"names": [string, "b"], "dtype": "float64"}}}),
        ("x", {"only": False, "tensors": {"x": {"names": string, "dtype": string}}}),
        ("tensor", {"only": True, "tensors": {"tensor": {"names": None, "dtype": string}}}),
        ("x", {"only": string, "tensors": string}),
    ):
        _write_archive("made.npz", {name: _npy(), "__names__": _npy(np.array(json.dumps(header)))})
        yield from told(lambda: _shown(ne.load("made.npz")))
        with suppress(ne.NameExprError):
            yield "terminal", repr(ne.load("made.npz"))
    _write_archive("made.npz", {string: _npy(), f"{string}2": _npy()})
    yield from ran("eval", "a b -> b a", "made.npz")
    yield from ran("eval", "a b -> b a", f"made.npz:{string}")
    _write_archive("made.npz", {string: f"\x93NUMPY\x01\x00\xff\x00{string}".encode("utf-8", "replace")})
    yield from ran("eval", "a b -> b a", "made.npz")
    yield from told(lambda: ne.load("made.npz"))


def _shown(value: Any) -> None:
    for tensor in [value] if isinstance(value, NamedTensor) else value.values():
        repr(tensor)


def _tables(string: str) -> Shown:
    for text in (string, f"1,{string}\n2,3\n", f"# {string}\n1\n{string}"):
        with open("made.csv", "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            file.write(text)
        yield from ran("eval", "a b -> b a", "made.csv")
        yield "terminal", new_session().run(":load k made.csv").text
    header = f"{{'descr': '{string}', 'fortran_order': {string}, 'shape': (2,)}}".encode("utf-8", "replace")
    with open("made.npy", "wb") as file:
        file.write(
            b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")[:2] + header
            if len(header) < 60000
            else b""
        )
    yield from ran("eval", "a -> a", "made.npy")


def _sources(string: str) -> Shown:
    """Literal texts in Python files and notebooks, and what is not Python."""
    harmless = string.encode("utf-8", "replace").decode()
    options = repr({harmless: 2})
    for path, content in (
        ("made.py", _source(harmless)),
        ("made.py", f"import nameexpr as ne\n{harmless}\nne.einsum('a -> b', x)\n".encode()),
        ("made.py", f"# coding: {harmless}\nimport nameexpr\n".encode()),
        (
            "made.py",
            f"import nameexpr as ne\nne.einsum('a', x, sizes={options}, reduce={harmless!r})\n".encode(),
        ),
        ("made.ipynb", _notebook(harmless)),
        ("made.ipynb", f"nameexpr {harmless}".encode()),
        (
            "made.ipynb",
            json.dumps({"cells": [{"cell_type": "code", "source": ["nameexpr\n", harmless]}]}).encode(),
        ),
    ):
        with open(path, "wb") as file:
            file.write(content)
        yield from _checked(path)
    yield from ran(
        "check", "-", "--stdin-filename", string, "--format", "github", kind="github", stdin=_source("a -> b")
    )


def _checked(path: str) -> Shown:
    for name, kind in _FORMATS.items():
        yield from ran("check", "--format", name, "--", path, kind=kind)
    yield from ran("check", "--color", "always", "--", path, kind="ansi")


@contextmanager
def _named(name: str, content: bytes) -> Iterator[str]:
    """Have a file of this name for a while; yield "" if no file can have it."""
    try:
        if os.sep in name or len(name) > LONGEST_NAME:
            raise OSError
        with open(name, "wb") as file:
            file.write(content)
    except (OSError, ValueError):
        yield ""
        return
    try:
        yield name
    finally:
        os.unlink(name)


def _npy(array: Any = None) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.ones((2, 3)) if array is None else array)
    return stream.getvalue()


def _write_archive(path: str, entries: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            with suppress(
                UnicodeEncodeError, IndexError
            ):  # lone surrogates and NUL, which zipfile does not write
                archive.writestr(f"{name}.npy", content)


def _source(text: str) -> bytes:
    return f"import nameexpr as ne\nne.einsum({text!r}, x)\nne.evaluate({text!r}, x=x)\n".encode(
        "utf-8", "replace"
    )


def _notebook(text: str) -> bytes:
    cells = [{"cell_type": "code", "source": _source(text).decode()}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode()


def prepare() -> None:
    """Make the files that the commands are given."""
    np.save("x.npy", np.ones((2, 3)))
    np.savez("x.npz", x=np.ones((2, 3)), y=np.ones(2))
    with open("bad.py", "wb") as file:
        file.write(_source("a -> b"))


SURFACES: dict[str, Callable[[str], Shown]] = {
    "arguments": _arguments,
    "names of files": _names_of_files,
    "files to write": _written,
    "entries of archives": _archives,
    "tables and headers": _tables,
    "sources and notebooks": _sources,
}
