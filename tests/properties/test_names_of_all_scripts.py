"""One rule for labels and for names of tensors: identifiers of any script, in the spelling that counts."""

from __future__ import annotations

import ast
import html
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne
from nameexpr.carets import visible
from nameexpr.errors import NameExprError

FIRST = st.characters(categories=["L", "Nl"]).filter(str.isidentifier)
OTHERS = st.characters(categories=["L", "M", "Nd", "Pc"]).filter(lambda one: f"x{one}".isidentifier())
IDENTIFIERS = st.builds(
    lambda first, others, primes: first + others + primes,
    FIRST,
    st.text(OTHERS, max_size=6),
    st.sampled_from(["", "", "'", "''"]),
).filter(lambda word: not unicodedata.normalize("NFKC", word).isascii())


def names_in_repr(tensor: ne.NamedTensor) -> Any:
    (call,) = [node for node in ast.walk(ast.parse(repr(tensor))) if isinstance(node, ast.Call)]
    return next(ast.literal_eval(one.value) for one in call.keywords if one.arg == "names")


@settings(max_examples=40, deadline=None)
@given(word=IDENTIFIERS, other=IDENTIFIERS)
def test_a_name_of_any_script_goes_round(word: str, other: str, tmp_path_factory: Any) -> None:
    name, second = (unicodedata.normalize("NFKC", one) for one in (word, other))
    x = ne.tensor([[1.0, 2.0, 3.0]], names=(word, None))
    assert x.names == (name, None)
    assert x.size(word) == x.size(name) == 1
    assert ne.einsum(f"{word} c -> c {word}", x).names == ("c", name)
    doubled = ne.evaluate(f"{word}[{word} c] * 2", operands={word: x})
    assert doubled.names == (name, "c")
    assert ne.evaluate(f"y[c {word}] = t * x[{word} c]", x=x, t=ne.tensor(2.0)).names == ("c", name)
    assert names_in_repr(doubled) == (name, "c")
    assert visible(name) in html.unescape(doubled._repr_html_())
    path = tmp_path_factory.mktemp("saved") / "x.npz"
    ne.save(path, x)
    assert ne.load(path).names == (name, None)
    if name != second:
        assert x.refine_names(..., other).rename(**{word: other, other: word}).names == (second, name)


def test_a_label_of_any_script_names_the_result_of_a_formula() -> None:
    scalar = ne.tensor(2.0)
    assert ne.evaluate("t * x[größe]", t=scalar, x=np.ones(2)).names == ("größe",)
    assert ne.evaluate("y[β] = t * x[β]", t=scalar, x=np.ones(2)).names == ("β",)
    assert ne.evaluate("y[größe=β] = t * x[β]", t=scalar, x=np.ones(2)).names == ("größe",)


ONES = ne.tensor(np.ones((2, 3)), names="ﬁ höhe")
SPELT: dict[str, tuple[Callable[[], Any], Any]] = {
    "tensor": (lambda: ONES.names, ("fi", "höhe")),
    "as one string": (lambda: ne.zeros(1, 1, names="größe ho\u0308he").names, ("größe", "höhe")),
    "set": (lambda: renamed_in_place("Ｃ ﬁ").names, ("C", "fi")),
    "rename in order": (lambda: ONES.rename("Ｃ", ...).names, ("C", "höhe")),
    "rename by name": (lambda: ONES.rename(**{"ﬁ": "Ｃ"}).names, ("C", "höhe")),
    "rename_": (lambda: ONES.rename(None).rename_("ﬁ", "Ｃ").names, ("fi", "C")),
    "refine_names": (lambda: ONES.rename(None).refine_names(..., "Ｃ").names, (None, "C")),
    "align_to": (lambda: ONES.align_to("ho\u0308he", "Ｃ", "ﬁ").names, ("höhe", "C", "fi")),
    "permute": (lambda: ONES.permute("ho\u0308he", "ﬁ").names, ("höhe", "fi")),
    "transpose": (lambda: ONES.transpose("ho\u0308he", "ﬁ").names, ("höhe", "fi")),
    "flatten": (lambda: ONES.flatten(["ﬁ", "ho\u0308he"], "Ｃ").names, ("C",)),
    "flatten in one string": (lambda: ONES.flatten("ﬁ ho\u0308he", "Ｃ").names, ("C",)),
    "unflatten": (lambda: ONES.unflatten("ﬁ", "Ａ=2 Ｂ").names, ("A", "B", "höhe")),
    "unflatten by pairs": (lambda: ONES.unflatten("ﬁ", [("Ａ", 2)]).names, ("A", "höhe")),
    "sum": (lambda: ONES.sum("ﬁ").names, ("höhe",)),
    "sum of several": (lambda: ONES.sum("ﬁ ho\u0308he").names, ()),
    "sum of a list": (lambda: ONES.sum(["ﬁ"]).names, ("höhe",)),
    "NumPy's sum": (lambda: np.sum(ONES, axis="ﬁ").names, ("höhe",)),
    "softmax": (lambda: ONES.softmax("ﬁ").sum("fi").tolist(), [1.0, 1.0, 1.0]),
    "size": (lambda: ONES.size("ﬁ"), 2),
    "select": (lambda: ONES.select("ﬁ", 0).names, ("höhe",)),
    "isel": (lambda: ONES.isel(**{"ﬁ": 0}).names, ("höhe",)),
    "unsqueeze": (lambda: ONES.unsqueeze(0, "Ｃ").names, ("C", "fi", "höhe")),
    "cat": (lambda: ne.cat([ONES, ONES], "ﬁ").shape, (4, 3)),
    "stack": (lambda: ne.stack([ONES, ONES], name="Ｃ").names, ("C", "fi", "höhe")),
    "einsum": (lambda: ne.einsum("ﬁ h=höhe -> h=höhe ﬁ", ONES.rename("ﬁ", "h")).names, ("h", "fi")),
    "a size by keyword": (lambda: ne.einsum("a -> a ﬁ", np.ones(2), **{"ﬁ": 3}).shape, (2, 3)),
    "sizes=": (lambda: ne.einsum("a -> a ﬁ", np.ones(2), sizes={"ﬁ": 3}).shape, (2, 3)),
    "check": (lambda: ne.check("ﬁ ...", ONES, **{"ﬁ": 2})["fi"], 2),
    "an operand": (lambda: ne.evaluate("ﬁ[c] * 2", **{"ﬁ": np.ones(1)}).tolist(), [2.0]),
    "operands=": (lambda: ne.evaluate("fi[c] * 2", operands={"ﬁ": np.ones(1)}).tolist(), [2.0]),
    "outputs=": (lambda: ne.evaluate("fi = x[c] * 2", outputs=["ﬁ"], x=np.ones(1))[0].tolist(), [2.0]),
    "a plan": (lambda: ne.compile("fi[c] * 2").plan(**{"ﬁ": (3,)}).result_shape, (3,)),
    "bound": (lambda: bound_formula()(**{"ﬁ": np.ones(2)}).tolist(), [2.0, 2.0]),
}


def renamed_in_place(names: str) -> ne.NamedTensor:
    x = ne.zeros(1, 1)
    x.names = names
    return x


def bound_formula() -> Any:
    return ne.compile("fi[c] * ﬂ[]").bind(**{"ﬂ": 2.0})


@pytest.mark.parametrize("name", SPELT)
def test_another_spelling_of_a_name_means_the_same_dim(name: str) -> None:
    call, expected = SPELT[name]
    assert call() == expected


TWICE: dict[str, tuple[Callable[[], Any], str]] = {
    "names": (lambda: ne.zeros(1, 1, names=("ﬁ", "fi")), "NE411"),
    "rename": (lambda: ONES.rename(**{"ﬁ": "a", "fi": "b"}), "NE417"),
    "rename to": (lambda: ONES.rename(höhe="ﬁ"), "NE411"),
    "isel": (lambda: ONES.isel(**{"ﬁ": 0, "fi": 1}), "NE417"),
    "sum": (lambda: ONES.sum("ﬁ fi"), "NE417"),
    "unflatten": (lambda: ONES.unflatten("ﬁ", {"ﬂ": 2, "fl": 1}), "NE411"),
    "sizes": (lambda: ne.einsum("a -> a fi", np.ones(2), **{"ﬁ": 3, "fi": 4}), "NE608"),
    "operands": (lambda: ne.evaluate("fi[c]", **{"ﬁ": np.ones(1), "fi": np.ones(1)}), "NE527"),
    "operands=": (lambda: ne.evaluate("fi[c]", operands={"ﬁ": np.ones(1)}, fi=np.ones(1)), "NE527"),
    "bound": (lambda: bound_formula()(**{"ﬂ": 3.0, "fi": np.ones(1)}), "NE624"),
}


@pytest.mark.parametrize("name", TWICE)
def test_two_spellings_of_one_name_are_not_two_names(name: str) -> None:
    call, code = TWICE[name]
    with pytest.raises(NameExprError) as caught:
        call()
    assert caught.value.code == code


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\x1b", "\u2028", "\u2066"])
def test_characters_that_hide_or_turn_a_text_name_nothing(hidden: str) -> None:
    with pytest.raises(NameExprError) as caught:
        ne.zeros(1, names=(f"a{hidden}b",))
    assert caught.value.code == "NE412"
    assert hidden not in str(caught.value)


def test_names_of_all_scripts_go_to_xarray_and_back() -> None:
    assert ONES.to_xarray().dims == ("fi", "höhe")
    assert ne.from_xarray(xarray.DataArray(np.ones((1, 1)), dims=("ﬁ", "höhe"))).names == ("fi", "höhe")


def test_names_of_all_scripts_are_drawn() -> None:
    assert "höhe" in ONES.draw() and "höhe" in ONES._repr_html_()
    assert "कि" in ne.compile("कि b -> b कि").plan((2, 3)).draw()


def test_a_file_by_keyword_keeps_names_of_all_scripts(tmp_path: Path) -> None:
    ne.save(tmp_path / "x.npz", größe=ONES)
    assert ne.load(tmp_path / "x.npz")["größe"].names == ("fi", "höhe")
