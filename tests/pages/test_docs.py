"""Every block of README.md and docs/ runs, every docstring example holds, every error code is explained."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import nameexpr
import nameexpr as ne
from nameexpr.errors import family
from pages import documents
from pages.installed import MISSING, needs_missing

PACKAGE = Path(nameexpr.__file__).parent
MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(nameexpr.__path__, "nameexpr.")
    if "__main__" not in found.name
)
IN_RESERVE = {"NE120", "NE512"}
"""Codes that no text is known to produce, or only with a cluster that was stopped."""

CODE = re.compile(r"\bNE[0-9]{3}\b")


@pytest.fixture(autouse=True)
def _in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(documents.ROOT)


@pytest.mark.parametrize("document", documents.DOCUMENTS)
def test_the_blocks_of_the_document_run(document: str) -> None:
    names = documents.names_at_start()
    if Path(document).stem.partition("-")[0] in MISSING:
        pytest.skip("the library is not installed")
    for fence in documents.fences(documents.read(document)):
        if documents.is_run(fence) and not needs_missing(fence.body):
            documents.run(fence, document, names)


@pytest.mark.parametrize("document", documents.DOCUMENTS)
def test_no_block_is_left_out(document: str) -> None:
    text = documents.read(document)
    blocks = documents.fences(text)
    assert text.count("```") == 2 * len(blocks), "every fence is closed and starts its line"
    assert {block.kind for block in blocks} <= documents.KINDS
    written = len(re.findall(r"^[ \t]*```[ \t]*(?:python|py|pycon)\b", text, flags=re.MULTILINE))
    assert written == sum(documents.is_run(block) for block in blocks if block.kind == "python")


def test_a_block_that_does_not_hold_is_noticed() -> None:
    wrong = [
        "```python\n>>> 1 + 1\n3\n```",
        "```python\nprint(2)\n```\n\n```text\n3\n```",
        "```python\nprint(2)\n```",
    ]
    for text in wrong:
        (fence, *_) = documents.fences(text + "\n")
        with pytest.raises(AssertionError):
            documents.run(fence, "a document", documents.names_at_start())


@pytest.mark.parametrize("module", ["nameexpr", *MODULES])
def test_the_examples_of_the_module_hold(module: str) -> None:
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    known = {"ne": ne, "np": np}  # as in NumPy's documentation, an example need not import these two
    finder = doctest.DocTestFinder(exclude_empty=True)
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name not in MISSING:
            raise
        pytest.skip(f"{missing.name} is not installed")
    for test in finder.find(loaded, extraglobs=known):
        if not needs_missing("".join([example.source for example in test.examples])):
            runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)


def test_docstrings_have_many_examples() -> None:
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    assert sum(source.count(">>> ") for source in sources) > 50


def codes_in_the_package() -> set[str]:
    return {code for path in PACKAGE.rglob("*.py") for code in CODE.findall(path.read_text(encoding="utf-8"))}


def test_every_code_has_its_entry_and_no_other() -> None:
    headings = re.findall(r"^### (NE[0-9]{3})$", documents.read("docs/errors.md"), flags=re.MULTILINE)
    assert headings == sorted(codes_in_the_package())


def entries() -> list[tuple[str, str]]:
    parts = re.split(r"^### (NE[0-9]{3})$", documents.read("docs/errors.md"), flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize(("code", "entry"), entries(), ids=[code for code, _ in entries()])
def test_the_entry_says_what_it_means_and_shows_one(code: str, entry: str) -> None:
    meaning = entry.split("```", 1)[0].strip()
    assert len(meaning.split()) >= 4
    if code in IN_RESERVE:
        return
    examples = [fence for fence in documents.fences(entry) if fence.kind == "python"]
    shown = [fence.output for fence in examples if fence.output is not None]
    assert shown, "an entry has an example with its rendering"
    assert all(f"{family(code).__name__}[{code}]: " in output for output in shown)


def verbs() -> list[tuple[str, str]]:
    table = documents.read("docs/language.md").partition("| PyTorch |")[2]
    rows = re.findall(r"^\| `[^|]*` \| `([^|]*)` \| `([^|]*)` \|$", table, flags=re.MULTILINE)
    assert len(rows) == table.count("\n| `")
    return rows


@pytest.mark.parametrize(("method", "expression"), verbs())
def test_a_verb_and_its_expression_give_the_same(method: str, expression: str) -> None:
    array, row = np.arange(120.0).reshape(2, 3, 4, 5), np.arange(1.0, 4.0)
    tensors = {"x": ne.tensor(array, names="N C H W"), "s": ne.tensor(row, names="C")}
    names = {
        "ne": ne,
        "np": np,
        "array": array,
        "row": row,
        "matrix": np.arange(6.0).reshape(3, 2),
        **tensors,
    }
    left, right = eval(method, names), eval(expression, names)
    if isinstance(left, ne.NamedTensor):
        assert left.names == right.names
    np.testing.assert_allclose(np.asarray(left), np.asarray(right))


def test_links_lead_somewhere() -> None:
    for document in documents.DOCUMENTS:
        base = (documents.ROOT / document).parent
        prose = re.sub(r"(?s)```.*?```|`[^`\n]*`", "", documents.read(document))
        for target in re.findall(r"\]\((?!https://)([^)#\s]+)(?:#[^)]*)?\)", prose):
            assert (base / target).exists(), f"{document} links to {target}"


def test_the_readme_opens_with_its_two_commands() -> None:
    text = documents.read("README.md")
    commands = [line for line in text.splitlines() if line.startswith("python3 -m venv ")]
    assert len(commands) == 3
    assert "pip install . &&" in commands[0]
    assert ".venv/bin/nameexpr eval" in commands[0]
    assert "pip install -e '.[test]' &&" in commands[1]
    assert commands[1].endswith(".venv/bin/python -m pytest -n auto")
    assert commands[2].endswith(".venv/bin/nox -s docs")
