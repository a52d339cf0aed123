"""The documents, messages, help, docstrings and comments use natural English: phrasings that read as
translated are found, with a better word.
"""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

import pytest

import nameexpr as ne
from nameexpr.cli.parser import ROWS, Subcommand, command_parser
from pages import documents

ALSO = ["tests/README.md", "tests/pages/operators_words.md", "examples/data/README.md"]
CHECKED = sorted({*documents.DOCUMENTS, *ALSO})
CASES = sorted(path.name for path in (documents.ROOT / "tests" / "cases").glob("*_*.txt"))
MESSAGE = re.compile(r"^(?:\w+Error\[NE\d{3}\]: |  help: )(.*)$", re.MULTILINE)
FIGURES = re.compile(r"<!-- figures: begin -->.*?<!-- figures: end -->", re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
DOCTEST = re.compile(r"^[ \t]*>>>.*?(?=\n[ \t]*\n|\Z)", re.MULTILINE | re.DOTALL)
SOURCES = sorted(
    path.relative_to(documents.ROOT).as_posix() for path in documents.ROOT.glob("nameexpr/**/*.py")
)
ARRAYS = ("nameexpr/backends/", "nameexpr/compiler/", "nameexpr/rules/")


class Phrase(NamedTuple):
    """A phrasing to avoid: its pattern, what to write instead, and text in which it is found."""

    pattern: str
    better: str
    example: str


PHRASES = [
    Phrase(r"\b(input|output|result) cells?\b", "element", "the output cell at OUT"),
    Phrase(r"\bcells? (written|of (an?|the) (array|operand|tensor)s?)\b", "element", "cells of the operands"),
    Phrase(r"\bnumbers? of (Python|NumPy)('s)?\b", "Python scalar, NumPy scalar", "a number of Python"),
    Phrase(r"\bturned around\b", "reversed", "the dim is turned around"),
    Phrase(r"\bquick(er|est)\b|\bas quick\b", "fast, faster, fastest", "the quickest of four ways"),
    Phrase(r"\bheld against\b", "compared with, checked against", "names are held against the term"),
    Phrase(r"\bin silence\b|\bunasked\b|\bwithout being asked\b", "silently, implicitly", "sum in silence"),
    Phrase(r"\bbehind\b", "after, below", "the list behind an operand"),
    Phrase(r"\bbeside\b", "next to, in addition to, not counting", "4,800 bytes beside the operands"),
    Phrase(r"\bst(ands?|ood)\b(?! (in )?for\b)", "is, occurs", "what stands in brackets"),
    Phrase(r"(?<!there )\b(is|are) no (?!(longer|more)\b)", "is not a", "`@` is no word of formulas"),
    Phrase(r"\bknows? no\b", "does not have, does not know", "it knows no device"),
    Phrase(r"\bha(s|ve) not[.,;:)]", "does not have", "functions that NumPy has not."),
    Phrase(r"\bsays\b", "means, states, shows, explains", "the page says how"),
    Phrase(r"\btold\b", "reported, shown", "errors are told as such"),
    Phrase(r"\bwhatever\b", "any, all, regardless of", "whatever the planner chose"),
    Phrase(r"\bthat many (dims|elements|labels|names|operands|terms)\b", "the number", "that many dims"),
    Phrase(r"\bbut for (an?|its|one|the|those)\b", "except for", "the same but for the last digits"),
    Phrase(r"(?<!are )(?<!is )\ball the same\b", "still, anyway", "to sum all the same"),
    Phrase(r"\banew\b", "again, regenerate", "writes the tables anew"),
    Phrase(r"\brefus(e|es|ed|als?)\b", "raises an error, is not supported", "such a text is refused"),
    Phrase(r", as there\b", "as in PyTorch, NumPy, ...", "`ne.float` is float32, as there"),
    Phrase(r"\bthe way out\b|\ba way out\b", "a suggestion", "the message has a way out"),
    Phrase(r"\b(its|their) (kin|like)\b", "related ...", "`ne.zeros` and its like"),
    Phrase(r"\band is none\b", "and is not one", "an argument that must be an int and is none"),
    Phrase(r"\bsomething else than\b", "something other than", "something else than names of dims"),
    Phrase(r"\bof a wrong\b", "of the wrong", "an argument of a wrong kind"),
    Phrase(r"\bspeaks? of\b", "refer to", "the result cannot speak of it"),
    Phrase(r"\btells\b", "shows, determines", "a dim whose size nothing tells"),
    Phrase(r"\basked for\b", "requested", "a device asked for"),
    Phrase(r"\bon the way\b", "intermediate", "a value on the way to the result"),
    Phrase(r"\btaken apart\b", "split", "with its groups taken apart"),
    Phrase(r"\bmultipl(y|ies) up\b", "multiply to", "sizes that multiply up to the dim's"),
    Phrase(r"\bin(to)? one order\b", "the same order", "bring both into one order"),
    Phrase(r"\blast but one\b", "second-to-last", "the last but one dim"),
    Phrase(r"\bgoes on\b", "continues", "a value that goes on in the next line"),
    Phrase(r"\bmakes? (bools|integers|floats|numbers) of\b", "converts to", "which makes floats of them"),
    Phrase(r"\bmeaning of its own\b", "reserved", "a name that has a meaning of its own"),
    Phrase(r"\bhas no place\b", "is not allowed, does not fit", "'@' has no place in a formula"),
    Phrase(r"\bhas no use for\b", "does not support", "zeros has no use for size=3"),
    Phrase(r"\bleads nowhere\b", "cannot be 0", "a step of 0 leads nowhere"),
    Phrase(r"\bone within the other\b", "nest calls", "one within the other for more"),
    Phrase(r"\bif need be\b", "if needed", "with a term if need be"),
    Phrase(r"\bnone either\b", "also removes its names", "rename(None) gives out none either"),
    Phrase(r"\bthe most there can be\b", "the limit is", "64 is the most there can be"),
    Phrase(r"\bfunctions? of (NumPy|PyTorch)\b", "NumPy function, PyTorch function", "a function of NumPy's"),
]


IN_SOURCES = [
    Phrase(r"\bcommonest\b", "most common", "the commonest texts"),
    Phrase(r"\bquick\b", "fast", "a quick look-up"),
    Phrase(r"\bmade (up )?of\b", "computed from, consists of", "what a value is made of"),
    Phrase(r"\bso many\b", "a number of, `count`", "the cost of so many calls"),
    Phrase(r"\bput(s|ting)? together\b", "combine, join", "tensors put together"),
    Phrase(r"\btakes? over\b", "reuse", "the memory that a result takes over"),
    Phrase(r"\bknown of\b", "known about", "what is known of a primitive"),
    Phrase(r"\bgives? back\b", "return", "it gives back the array"),
    Phrase(r"\bmend(s|ed|ing)?\b", "fix", "how to mend it"),
    Phrase(r"\b(nobody|anybody)\b", "not ..., unknown", "a size that nobody knows"),
    Phrase(r"\bis asked for\b|\bare asked for\b", "requested", "a dtype that is asked for"),
    Phrase(r"\bas NumPy has (it|them)\b", "as in NumPy", "they broadcast as NumPy has it"),
]
EXEMPT = {r"\brefus(e|es|ed|als?)\b", r"\band is none\b"}  # a class is called Refusal, and None is a value


def findings(text: str, phrases: list[Phrase] = PHRASES) -> list[tuple[int, str]]:
    """Return the line and the advice for each phrasing of the prose that should be reworded."""
    words = list(re.finditer(r"\S+", prose(text)))
    starts, joined = [], ""
    for word in words:
        starts.append(len(joined))
        joined += f"{word[0]} "
    found = []
    for phrase in phrases:
        for match in re.finditer(phrase.pattern, joined, re.IGNORECASE):
            at = words[bisect_right(starts, match.start()) - 1].start()
            found.append((text.count("\n", 0, at) + 1, f"'{match[0].strip()}': write {phrase.better}"))
    return sorted(found)


def prose(text: str) -> str:
    """Return the text with as many characters, in which blocks, code and measured figures are blank."""
    for pattern in (documents.FENCE, FIGURES):
        text = pattern.sub(lambda match: re.sub(r"\S", " ", match[0]), text)
    return CODE.sub(lambda match: "`" * len(match[0]), text)


@pytest.mark.parametrize("document", CHECKED)
def test_the_document_reads_naturally(document: str) -> None:
    found = findings(documents.read(document))
    assert not found, "\n".join(f"{document}:{line}: {advice}" for line, advice in found)


@pytest.mark.parametrize("name", CASES)
def test_messages_read_naturally(name: str) -> None:
    text = (documents.ROOT / "tests" / "cases" / name).read_text(encoding="utf-8")
    messages = {message[1] for message in MESSAGE.finditer(text)}
    assert len(messages) >= 20
    found = {f"{message}: {advice}" for message in messages for _, advice in findings(message)}
    assert not found, "\n".join(sorted(found))


def test_messages_in_documents_read_naturally() -> None:
    bodies = [
        body
        for document in documents.DOCUMENTS
        for fence in documents.fences(documents.read(document))
        for body in (fence.output or "", fence.body)
    ]
    messages = {message[1] for body in bodies for message in MESSAGE.finditer(body)}
    assert len(messages) > 300
    found = {f"{message}: {advice}" for message in messages for _, advice in findings(message)}
    assert not found, "\n".join(sorted(found))


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_the_help_of_a_command_reads_naturally(row: Subcommand) -> None:
    assert not findings(command_parser(row).format_help())


@pytest.mark.parametrize("name", ne.__all__)
def test_public_docstrings_read_naturally(name: str) -> None:
    public = getattr(ne, name)
    members = inspect.getmembers(public) if inspect.isclass(public) else []
    documented = [public, *(member for key, member in members if not key.startswith("_"))]
    found = {advice for each in documented for _, advice in findings(inspect.getdoc(each) or "")}
    assert not found, "\n".join(sorted(found))


def prose_of_source(source: str) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of each docstring and of each block of comments."""
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else []:
            match statement:
                case ast.Expr(ast.Constant(str(text))):
                    yield statement.lineno, DOCTEST.sub(lambda found: re.sub(r"\S", " ", found[0]), text)
    block, start, last = "", 0, 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        if token.start[0] != last + 1:
            yield start, block
            block, start = "", token.start[0]
        block, last = f"{block}{token.string[1:]}\n", token.start[0]
    yield start, block


@pytest.mark.parametrize("source", SOURCES)
def test_docstrings_and_comments_read_naturally(source: str) -> None:
    phrases = [phrase for phrase in (*PHRASES, *IN_SOURCES) if phrase.pattern not in EXEMPT]
    if source.startswith(ARRAYS):
        phrases.append(Phrase(r"\bcells?\b(?!, run :)", "element", "the cells of a value"))
    text = (documents.ROOT / source).read_text(encoding="utf-8")
    found = [
        f"{source}:{start + line - 1}: {advice}"
        for start, part in prose_of_source(text)
        for line, advice in findings(part, phrases)
    ]
    assert not found, "\n".join(found)


def test_docstrings_and_comments_of_a_source_are_read() -> None:
    source = '''"""A module.

>>> 1 + 1  # behind
2
"""
X = 1
"""What stands behind."""

def f():
    """Return 1."""
    return 1  # whatever
    # it is
    # beside it
'''
    read = [(line, text.strip()) for line, text in prose_of_source(source) if text.strip()]
    assert read == [
        (1, "A module."),
        (7, "What stands behind."),
        (10, "Return 1."),
        (11, "whatever\n it is\n beside it"),
    ]


@pytest.mark.parametrize("phrase", [*PHRASES, *IN_SOURCES], ids=lambda phrase: phrase.example)
def test_a_phrasing_to_avoid_is_found(phrase: Phrase) -> None:
    broken_over_lines = "\n  ".join(phrase.example.split())
    for text in (f"Text.\n\n{phrase.example}", f"Text.\n\n{broken_over_lines}"):
        assert any(phrase.better in advice for line, advice in findings(text, [phrase]) if line >= 3)


def test_blocks_code_and_figures_are_left_alone() -> None:
    assert findings("A\n```text\nwhat stands behind\n```\nand `behind` or\n") == []
    assert findings("<!-- figures: begin -->\nrefused\n<!-- figures: end -->\nbehind") == [
        (4, "'behind': write after, below")
    ]


def test_common_english_is_left_alone() -> None:
    assert findings("There are no differences, it is no longer needed, `...` stands for the others.") == []
