"""A mistake inside a string is reported where it is written, whatever the string looks like."""

from __future__ import annotations

import ast
import codecs
import random

import pytest

from nameexpr.lint.files import check_bytes
from nameexpr.lint.python import check_python
from nameexpr.lint.source import Source, literal_parts, parse_python, text_of, written_at
from tools.lint.written import PIECE, written

SEEDS = range(400)


def region_in(file: bytes, path: str = "x.py") -> tuple[tuple[int, int], tuple[int, int]]:
    (finding,) = check_bytes(file, path).findings
    assert finding.code == "NE202", finding
    return tuple(finding.region.start), tuple(finding.region.end)  # type: ignore[return-value]


@pytest.mark.parametrize("first", range(0, len(SEEDS), 50))
def test_the_place_is_that_of_the_piece_as_it_was_written(first: int) -> None:
    for seed in SEEDS[first : first + 50]:
        made = written(random.Random(seed))
        assert region_in(made.file.encode()) == (made.start, made.end), f"{seed}:\n{made.file}"


def test_the_files_text_at_the_place_is_the_piece() -> None:
    plain = 0
    for seed in SEEDS:
        made = written(random.Random(seed))
        (line, column), (end_line, end_column) = region_in(made.file.encode())
        shown = made.file.split("\n")[line - 1][column - 1 : end_column - 1]
        if made.is_plain:
            assert (shown, end_line) == (PIECE, line)
            plain += 1
    assert plain > len(SEEDS) // 4


def test_the_encoding_and_the_newlines_of_a_file_change_no_place() -> None:
    for seed in SEEDS[:100]:
        made = written(random.Random(seed))
        there = (made.start, made.end)
        assert region_in(made.file.replace("\n", "\r\n").encode()) == there
        assert region_in(made.file.replace("\n", "\r").encode()) == there
        assert region_in(codecs.BOM_UTF8 + made.file.encode()) == there
        if made.file.isascii() or not all(ord(character) < 256 for character in made.file):
            continue
        declared = "# -*- coding: latin-1 -*-\n" + made.file
        shifted = tuple((line + 1, column) for line, column in there)
        assert region_in(declared.encode("latin-1")) == shifted


def at(literal: str, start: int, end: int) -> str:
    """Return what stands in the file at a range of characters of a text."""
    source = Source(literal)
    (statement,) = parse_python(source).body
    assert isinstance(statement, ast.Expr)
    parts = literal_parts(statement.value)
    assert parts is not None
    first, last = written_at(parts, source, start, end)
    return source.text[first:last]


@pytest.mark.parametrize(
    ("literal", "span", "shown"),
    [
        ("'abc'", (1, 2), "b"),
        ("'a\\x62c'", (1, 2), "\\x62"),
        ("'a\\\\c'", (1, 2), "\\\\"),
        ("r'a\\c'", (1, 2), "\\"),
        ("r'a\\'c'", (1, 4), "\\'c"),
        ("r'a\\'c'", (2, 3), "'"),
        ("'a\\qc'", (1, 3), "\\q"),
        ("'a\\\nb'", (0, 2), "a\\\nb"),
        ("'a\\\nb'", (1, 2), "b"),
        ("'\\N{LATIN SMALL LETTER A}b'", (0, 1), "\\N{LATIN SMALL LETTER A}"),
        ("'\\101b'", (0, 2), "\\101b"),
        ("'\\08'", (0, 1), "\\0"),
        ("'ab' 'cd'", (1, 3), "b' 'c"),
        ("'ab' + ('cd')", (2, 4), "cd"),
        ("'''a\n\n b'''", (3, 5), " b"),
        ("'\\U0001d4b3b'", (1, 2), "b"),
        ("'a''''b'''", (1, 2), "b"),
        ("''", (0, 0), ""),
    ],
)
def test_a_range_of_a_text_is_found_in_its_literal(literal: str, span: tuple[int, int], shown: str) -> None:
    assert at(literal, *span) == shown


def test_an_empty_range_at_the_end_stands_before_the_closing_quotes() -> None:
    source = Source("'ab' '''cd'''")
    parts = literal_parts(ast.parse(source.text, mode="eval").body)
    assert parts is not None
    assert text_of(parts) == "abcd"
    assert written_at(parts, source, 4, 4) == (10, 10)
    assert written_at(parts, source, 2, 2) == (8, 8)


def test_an_fstring_is_no_literal_text() -> None:
    for literal in ("f'a b -> {c}'", "'a' f'b'", "b'a'", "'a' + b", "'%s' % 3", "3"):
        assert literal_parts(ast.parse(literal, mode="eval").body) is None


def test_a_sum_of_a_thousand_strings_is_followed() -> None:
    text = "import nameexpr as ne\nne.einsum(" + " + ".join(["'a '"] * 900 + ["'-> a : maen'"]) + ", x)"
    (finding,) = check_python(text, "x.py").findings
    assert text.split("\n")[1][finding.region.start.column - 1 :].startswith("maen")


def test_a_tab_and_a_wide_character_are_one_column_each() -> None:
    line = "\timport nameexpr; '名'; nameexpr.einsum('a -> a : maen', x)"
    column = line.index(PIECE) + 1
    assert region_in(f"if 1:\n{line}".encode()) == ((2, column), (2, column + 4))
