"""What Tab offers in the texts of the magics, requested as IPython asks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

import nameexpr as ne
from nameexpr.notebook.magics import Variables, offered

VARIABLES = Variables({"photos": ne.ones(2, 3, names="N chan"), "weight": np.ones(3)}, ())


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("%ne N C -> N : mea|", "%ne N C -> N : mean"),
        ("%ne y[N] = sum[N](ph|", "%ne y[N] = sum[N](photos"),
        ("%ne photos[N c|", "%ne photos[N chan"),
        ("%ne -p wei|", "%ne -p weight"),
        ("q = %ne wei| * 2", "q = %ne weight * 2"),
        ("a = 1\n%ne wei|\nb = 2", "a = 1\n%ne weight\nb = 2"),
        ("%%ne\na = photos * 2\nb = photos + we|", "%%ne\na = photos * 2\nb = photos + weight"),
        ("%%ne -c\nwei|", "%%ne -c\nweight"),
    ],
)
def test_tab_completes_texts(ipython: InteractiveShell, source: str, result: str) -> None:
    ipython.run_cell("%reload_ext nameexpr")
    ipython.user_ns |= {**VARIABLES, "phase": "no tensor"}
    cursor = source.index("|")
    code = source.replace("|", "")
    with provisionalcompleter():
        found = list(ipython.Completer.completions(code, cursor))
    assert [code[: one.start] + one.text + code[one.end :] for one in found] == [result]


def test_python_is_completed_as_before(ipython: InteractiveShell) -> None:
    ipython.run_cell("%reload_ext nameexpr")
    ipython.user_ns["photos"] = VARIABLES["photos"]
    with provisionalcompleter():
        found = {one.text for one in ipython.Completer.completions("photos.nam", 10)}
    assert "names" in found


def test_the_matcher_goes_with_the_extension(ipython: InteractiveShell) -> None:
    ipython.run_cell("%reload_ext nameexpr\n%reload_ext nameexpr")
    assert len(ipython.Completer.custom_matchers) == 1
    ipython.run_cell("%unload_ext nameexpr")
    assert not ipython.Completer.custom_matchers


@pytest.mark.slow
@given(st.sampled_from(["%ne ", "%%ne\n", "%%ne -p\n", "x\n%ne "]), st.text(), st.integers(0, 40))
def test_any_text_can_be_completed(head: str, text: str, place: int) -> None:
    source = head + text
    cursor = min(place, len(source))
    found = offered(source, cursor, VARIABLES)
    assert found is None or source[:cursor].endswith(found.fragment)
