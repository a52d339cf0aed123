"""Targets of the fuzzer that are given files: `check` on sources and notebooks, and what loads arrays."""

from __future__ import annotations

import ast
import io
import json
import os
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import nameexpr as ne
from hardening.fuzz_targets import check_shown, is_accepted
from hardening.fuzz_texts import EXPRESSION, FORMULA, changed_bytes, mutated
from nameexpr.lint.files import check_bytes
from nameexpr.lint.findings import Checked
from nameexpr.lint.formats import as_github, as_json, as_sarif, as_text
from nameexpr.terminal.faults import CommandError
from nameexpr.terminal.files import read_array, read_header

ROOT = Path(__file__).parents[2]
LONGEST_SOURCE = 700
LONGEST_FILE = 2000
_PYTHON = [
    "ne.einsum(",
    "ne.evaluate(",
    "ne.compile(",
    "'",
    '"',
    '"""',
    "r'",
    "f'",
    "\\N{DASH}",
    "\\x62",
    "=",
    "(",
    ")",
]
_PYTHON += [
    "\n",
    "\n    ",
    "import nameexpr as ne\n",
    "from nameexpr import *\n",
    "sizes={'a': 2}",
    "reduce='max'",
    "*",
    "**",
]
_PYTHON += [
    "# nameexpr: ignore",
    "# coding: latin-1\n",
    "x",
    ", ",
    "def f(ne):\n    ",
    "lambda ne: ",
    "-1",
    "\x0c",
    "\r",
]
WORDS = [*_PYTHON, *EXPRESSION, *FORMULA]


def source(data: bytes) -> bool:
    """`nameexpr check` on a Python file or a notebook, told in every format."""
    kind, content = data[0] if data else 0, data[1:]
    name = "a.ipynb" if kind % 4 == 0 else "a.py"
    checked = check_bytes(content, name)
    for finding in checked.findings:
        check_shown(as_text(finding))
    if checked.findings and kind % 8 < 4:
        _told(checked)
    return not checked.findings


def _told(checked: Checked) -> None:
    for finding in checked.findings:
        github = as_github(finding)
        check_shown(github)
        assert "\n" not in github
    assert as_json(checked).isascii()
    check_shown(as_sarif(checked))


def changed_source(data: bytes, rng: random.Random) -> bytes:
    """Return a source with its tokens changed, a notebook in its cells, or now and then its bytes."""
    kind, content = data[:1], data[1:]
    if rng.random() < 0.15:
        return kind + changed_bytes(content, rng)
    text = content.decode("utf-8", "surrogateescape")
    return kind + mutated(rng, text, WORDS, LONGEST_SOURCE).encode("utf-8", "surrogatepass")


def source_seeds() -> list[bytes]:
    """Return the statements of the examples and of the package that name it, and notebooks of them."""
    statements = [
        "import nameexpr as ne\nne.einsum('a b, b -> a', x, y)\nne.evaluate('sum[a](x[a b])', x=x)\n"
    ]
    for path in sorted([*ROOT.glob("examples/*.py"), *ROOT.glob("nameexpr/api/*.py")]):
        text = path.read_text(encoding="utf-8")
        parts = [ast.get_source_segment(text, node) or "" for node in ast.parse(text).body]
        statements += [
            f"import nameexpr as ne\n{part}\n"
            for part in parts
            if "ne." in part and len(part) < LONGEST_SOURCE - 50
        ]
    notebooks = [_notebook(text) for text in statements[:20]]
    return [b"\x01" + text.encode() for text in statements] + [b"\0" + text.encode() for text in notebooks]


def _notebook(text: str) -> str:
    cells = [{"cell_type": "code", "source": text}, {"cell_type": "markdown", "source": "a"}]
    cells.append({"cell_type": "code", "source": ["%ne a b -> a | x\n", "ne.einsum('a', x)"]})
    return json.dumps({"cells": cells, "metadata": {"kernelspec": {"name": "python3"}}, "nbformat": 4})


class Loader:
    """`nameexpr.load` and the command line's readers, on one file that is regenerated each time."""

    def __init__(self, folder: str) -> None:
        self._paths = [os.path.join(folder, f"fuzzed{suffix}") for suffix in (".npz", ".npy", ".csv", "")]

    def __call__(self, data: bytes) -> bool:
        """Return whether the file could be read."""
        kind, content = data[0] if data else 0, data[1:]
        path = self._paths[kind % 4]
        with open(path, "wb") as file:
            file.write(content)
        if kind % 4 == 0 and kind & 4:
            return is_accepted(lambda: ne.load(path))
        try:
            read = read_header if kind & 8 else read_array
            read(f"{path}:x" if kind & 16 and kind % 4 == 0 else path)
        except CommandError as fault:
            check_shown(str(fault))
            return False
        return True


def loader_seeds() -> list[bytes]:
    """Return files that `save`, NumPy and people write, each with a byte for every way to read it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "seed.npz")
        archives = []
        for tensors in ({"x": ne.arange(6)}, {"x": ne.ones(2, 3, names="N C"), "y": ne.tensor(2.5)}):
            ne.save(path, **tensors)
            archives.append(Path(path).read_bytes())
        ne.save(path, ne.ones(2, names="N"))
        archives.append(Path(path).read_bytes())
    plain = [
        _npy(array)
        for array in (np.arange(6).reshape(2, 3), np.array(1j), np.ones(2, ">f4"), np.array("text"))
    ]
    plain.append(_npy(np.zeros(2, [("a", "u1"), ("b", "f8")])))
    packed = io.BytesIO()
    np.savez_compressed(packed, x=np.ones(50), y=np.arange(3))
    tables = [
        b"1,2\n3,4\n",
        b"# a\n1\n2.5\n\n1e400\n",
        b"1+2j,nan\n-inf,0\n",
        b"9223372036854775808\n",
        b"a,b\n1,2\n",
    ]
    kinds = [(0, archive) for archive in (*archives, packed.getvalue())]
    kinds += [(1, array) for array in plain] + [(2, table) for table in tables]
    return [bytes([kind + more]) + content for kind, content in kinds for more in (0, 4, 8, 16)]


def _npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def changed_file(data: bytes, rng: random.Random) -> bytes:
    """Return a file with its bytes changed, and now and then the way in which it is read."""
    kind = bytes([rng.randrange(32)]) if rng.random() < 0.1 else data[:1] or b"\0"
    return kind + changed_bytes(data[1:], rng)[:LONGEST_FILE]
