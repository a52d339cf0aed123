"""From paths to files, and from files to findings.

Folders are searched for `.py`, `.pyw` and `.ipynb`, skipping hidden ones, virtual environments and generated
files; links to folders are not followed. A file without the word nameexpr is not parsed.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
import tokenize
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from nameexpr.lint.findings import Checked, unreadable
from nameexpr.lint.modules import Modules
from nameexpr.lint.notebook import check_notebook
from nameexpr.lint.python import check_python

_SUFFIXES = (".py", ".pyw", ".ipynb")
_SKIPPED = {"__pycache__", "node_modules", "build", "dist", "venv", "env", "site-packages"}
_WORD = b"nameexpr"


def find_files(paths: Sequence[str], exclude: Sequence[str] = ()) -> Iterator[str]:
    """Yield the files to check, each once, in the order of the paths and by name inside folders.

    `exclude` are shell patterns for whole paths, or for the name of a file or folder in them.
    """
    seen: set[str] = set()
    for path in paths:
        parts = os.path.normpath(path).split(os.sep)
        # In an explicit path any part may match, except those above the current folder.
        if _is_left_out(path, parts[-1:] if os.path.isabs(path) else parts, exclude):
            continue
        for file in _inside(path, exclude) if os.path.isdir(path) else [path]:
            key = os.path.normpath(file)
            if key not in seen:
                seen.add(key)
                yield file


def _inside(folder: str, exclude: Sequence[str]) -> Iterator[str]:
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_skipped(where, name, exclude))
        for name in sorted(names):
            path = os.path.join(where, name) if where != "." else name
            # Reading from a pipe would block.
            is_ours = name.endswith(_SUFFIXES) and not name.startswith(".") and os.path.isfile(path)
            if is_ours and not _is_left_out(path, [name], exclude):
                yield os.path.normpath(path) if folder == "." else path


def _is_skipped(where: str, name: str, exclude: Sequence[str]) -> bool:
    folder = os.path.join(where, name)
    is_environment = os.path.exists(os.path.join(folder, "pyvenv.cfg"))
    is_left_out = _is_left_out(folder, [name], exclude)
    return name.startswith(".") or name in _SKIPPED or is_environment or is_left_out


def _is_left_out(path: str, parts: Sequence[str], patterns: Sequence[str]) -> bool:
    written = os.path.normpath(path).replace(os.sep, "/")
    return any(fnmatchcase(part, pattern.rstrip("/")) for pattern in patterns for part in (written, *parts))


def check_file(path: str, modules: Modules | None = None) -> Checked:
    """Return the findings in one file."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as fault:
        return unreadable(path, _reason(fault))
    return check_bytes(data, path, modules)


def _reason(fault: Exception) -> str:
    text = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
    return text[:1].lower() + text[1:]


def check_stdin(path: str) -> Checked:
    """Return the findings in standard input, which is reported under a path."""
    try:
        data = sys.stdin.buffer.read()
    except (OSError, ValueError, AttributeError) as fault:  # closed, or closed before Python started
        return unreadable(path, _reason(fault) if isinstance(fault, OSError) else "standard input is closed")
    return check_bytes(data, path)


def check_bytes(data: bytes, path: str, modules: Modules | None = None) -> Checked:
    """Return the findings in the content of a file; its name determines whether it is a notebook."""
    if _WORD not in data:
        return Checked((), 0, 1)
    is_notebook = path.endswith(".ipynb")
    try:
        text = data.decode("utf-8-sig") if is_notebook else _decoded(data)
    except UnicodeDecodeError as fault:
        return unreadable(path, f"byte {fault.start} is not {fault.encoding}")
    except (SyntaxError, ValueError, LookupError) as fault:  # codecs raise ValueErrors
        return unreadable(path, str(fault))
    return check_notebook(text, path) if is_notebook else check_python(text, path, modules)


def _decoded(data: bytes) -> str:
    """Return the text of a Python file in the encoding that it declares."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    text, _ = codecs.lookup(encoding).decode(data, "strict")
    if not isinstance(text, str):
        raise LookupError(f"{encoding} is not a text encoding")
    return text
