"""What notebooks show of tensors and compiled texts: right, small, and harmless whatever is in it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne
from nameexpr.pictures.html import HtmlTable, coloured, html_table

TAGS = {"table", "caption", "thead", "tbody", "tr", "th", "td"}
LARGEST = 16_000
NASTY = "</td><script>alert('1')</script>\x1b[2J\u202e\x00\ud800&\"" * 20


class Page(HTMLParser):
    """The cells of a table by row, its caption, and all tags, which must be closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.caption = ""
        self.tags: set[str] = set()
        self.scopes: list[str | None] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.open.append(tag)
        assert {name for name, _ in attrs} <= {"style", "scope", "colspan"}
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "th":
            self.scopes.append(dict(attrs)["scope"])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        elif self.open[-1] == "caption":
            self.caption += data


def page(x: ne.NamedTensor) -> Page:
    html = x._repr_html_()
    assert len(html.encode()) < LARGEST
    found = Page(html)
    assert found.tags <= TAGS
    return found


def test_a_matrix_has_its_dims_on_its_sides() -> None:
    found = page(ne.tensor([[1, 2, 3], [4, 5, 6]], names="N C"))
    assert found.caption == "NamedTensor  N=2, C=3  int64"
    assert found.rows == [["", "C"], ["N", "0", "1", "2"], ["0", "1", "2", "3"], ["1", "4", "5", "6"]]
    assert found.scopes == ["colgroup", "col", "col", "col", "col", "row", "row"]


def test_a_row_of_numbers_has_its_dim_above() -> None:
    found = page(ne.tensor([1.5, 1 / 3], names="N", dtype=np.float32))
    assert found.caption == "NamedTensor  N=2  float32"
    assert found.rows == [["N"], ["0", "1"], ["1.5", "0.33333"]]


def test_a_number_is_one_cell() -> None:
    found = page(ne.tensor(2.5))
    assert (found.caption, found.rows) == ("NamedTensor  a number  float64", [["2.5"]])


def test_dims_without_names_are_told_by_their_axes() -> None:
    found = page(ne.tensor([[True]]))
    assert found.caption == "NamedTensor  1, 1  bool"
    assert found.rows == [["", "axis 1"], ["axis 0", "0"], ["0", "True"]]


def test_the_middle_of_a_large_tensor_is_left_out() -> None:
    array = np.arange(900).reshape(9, 100)
    found = page(ne.tensor(array, names="N C"))
    kept = [0, 1, 2, 97, 98, 99]
    assert found.rows[1] == ["N", "0", "1", "2", "…", "97", "98", "99"]
    assert [row[0] for row in found.rows[2:]] == ["0", "1", "2", "…", "6", "7", "8"]
    assert found.rows[6][1:4] + found.rows[6][5:] == [str(array[6, place]) for place in kept]
    assert set(found.rows[5][1:]) == {"…"}


def test_eight_rows_are_shown_whole() -> None:
    found = page(ne.zeros(8, 8, names="N C"))
    assert len(found.rows) == 10 and "…" not in found.rows[1]


def test_of_more_dims_the_first_slice_is_shown() -> None:
    array = np.arange(2 * 3 * 2 * 2).reshape(2, 3, 2, 2)
    found = page(ne.tensor(array, names="batch _ N C"))
    assert found.caption == "NamedTensor  batch=2, 3, N=2, C=2  int64\nshown: batch at 0, axis 1 at 0"
    assert [row[1:] for row in found.rows[2:]] == [["0", "1"], ["2", "3"]]


def test_a_tensor_without_elements_says_so() -> None:
    found = page(ne.zeros(2, 0, 3, names="N C K"))
    assert found.caption == "NamedTensor  N=2, C=0, K=3  float64\nno elements"
    assert found.rows == []


@pytest.mark.parametrize(
    "value", [1 + 2j, np.float16(0.5), 2**62, -0.0, float("nan"), float("inf"), "text", None]
)
def test_any_element_is_shown(value: object) -> None:
    dtype = object if isinstance(value, str | None) else None
    assert page(ne.tensor(np.array([value], dtype=dtype))).rows[-1] != [""]


def test_integers_are_shown_whole() -> None:
    assert page(ne.tensor([-(2**63)])).rows[-1] == ["-9223372036854775808"]


class Nasty:
    """Prints markup, escape sequences, direction overrides and a lone surrogate."""

    def __repr__(self) -> str:
        return NASTY


def test_nasty_elements_are_harmless_and_small() -> None:
    html = ne.tensor(np.full((9, 9, 9), Nasty()), names="N C K")._repr_html_()
    assert len(html.encode()) < LARGEST
    assert Page(html).tags <= TAGS
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e\ud800]", html)


def test_many_dims_and_long_names_are_cut_short() -> None:
    names = " ".join(f"{'e' * 500}{place}" for place in range(30))
    found = page(ne.zeros((1,) * 30, names=names))
    assert "…" in found.caption


@settings(max_examples=100)
@given(st.lists(st.text(st.characters(codec=None, exclude_categories=())), min_size=5, max_size=5))
def test_any_texts_make_a_table_that_holds_nothing_else(texts: list[str]) -> None:
    caption, head, rows, columns, cell = texts
    html = html_table(HtmlTable(caption, ((head, (cell,)),), rows or "N", columns, (head,)))
    found = Page(html)
    assert found.tags <= TAGS
    assert [len(row) for row in found.rows] == [2, 2, 2]


def test_a_compiled_text_shows_its_text_and_signature() -> None:
    html = ne.compile("N C, C -> N")._repr_html_()
    assert re.sub(r"<[^>]*>", "", html) == "N C, C -&gt; Ntakes N C, C\ngives N"
    html = ne.compile("y[N] = sum[C](x[N C]) # <b>")._repr_html_()
    assert re.sub(r"<[^>]*>", "", html) == "y[N] = sum[C](x[N C]) # &lt;b&gt;takes x[N C]\ngives y"
    assert "gives a number" in ne.compile("N -> : sum")._repr_html_()


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_colours_add_nothing_but_spans(text: str) -> None:
    html = coloured(text)
    assert set(re.findall(r"<(/?\w+)", html)) <= {"span", "/span"}
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", html)


def test_a_long_text_is_cut() -> None:
    assert len(coloured("N " * 100_000)) < 500_000


@pytest.mark.parametrize("verb", ["max", "min", "sort", "median", "mode", "cummax"])
def test_a_pair_of_results_shows_both_tensors(verb: str) -> None:
    pair = getattr(ne.tensor([[3, 1, 2], [4, 6, 5]], names="N C"), verb)("C")
    assert repr(pair) == f"values_and_indices(\nvalues={pair.values!r},\nindices={pair.indices!r})"
    html = pair._repr_html_()
    tables = [tensor._repr_html_() for tensor in pair]
    assert html == f"<p>values</p>{tables[0]}<p>indices</p>{tables[1]}"
