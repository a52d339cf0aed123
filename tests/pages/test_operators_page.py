"""docs/operators.md is current and complete; docs/migrating-from-torch.md has all of PyTorch's rows."""

from __future__ import annotations

import inspect
import json
import re

import pytest

import nameexpr as ne
from nameexpr.tensors.ops import OPS, RULES
from pages import documents, operators_page

PAGE = documents.read("docs/operators.md")
GUIDE = documents.read("docs/migrating-from-torch.md")
ROWS = json.loads(documents.read("tests/conformance/operator_rows.json"))["rows"]

MEMBERS = [name for name in dir(ne.zeros(1)) if not name.startswith("_")]
FUNCTIONS = [
    name
    for name in {*OPS, *dir(ne)}
    if inspect.isfunction(made := getattr(ne, name, None)) and made.__module__.startswith("nameexpr.tensors")
]


def cells(name: str, text: str = PAGE) -> list[list[str]]:
    """Return the cells of the rows of tables whose first cell has this name."""
    lines = [
        re.split(r" (?<!\\)\| ", line.strip("| ")) for line in text.splitlines() if line.startswith("| `")
    ]
    return [line for line in lines if f"`{name}`" in line[0]]


def part(rule: str) -> str:
    """Return the section of a rule."""
    return re.split(r"^## ", PAGE.split(f"\n## {rule}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]


def test_the_page_is_current() -> None:
    assert operators_page.page() == PAGE, "run python -m pages.operators_page in tests/"


def test_every_operator_has_one_row_under_its_rule() -> None:
    sections = {rule: part(rule) for rule in RULES}
    for op in OPS.values():
        if not op.twin_of:
            assert len(cells(op.name)) == len(cells(op.name, sections[op.rule])) == 1, op.name


def test_a_twin_stands_in_the_row_of_its_operator() -> None:
    twins = [op for op in OPS.values() if op.twin_of]
    assert len(twins) > 60
    for twin in twins:
        assert not cells(twin.name)
        ((_, where, *_),) = cells(twin.twin_of)
        assert where.split(", ")[-1] == f"`{twin.name}`"


@pytest.mark.parametrize("name", sorted({*MEMBERS, *FUNCTIONS}))
def test_everything_public_is_on_the_page(name: str) -> None:
    if name in OPS and OPS[name].twin_of:
        name = OPS[name].twin_of
    assert len(cells(name)) == 1


@pytest.mark.parametrize("name", ROWS)
def test_the_page_says_where_each_of_pytorchs_rows_is(name: str) -> None:
    base = OPS[name].twin_of or name
    ((_, where, *_, listed),) = cells(base)
    assert listed.startswith("yes") if base in ROWS else listed == "ours"
    assert f"`{name}`" not in listed, "a twin that PyTorch lists is not called ours"
    places = where.split(", ")
    if ROWS[name]["method"]:
        assert {"method", "attribute", f"`{name}`"} & set(places)
    assert ROWS[name]["function"] <= ("function" in places)


def test_what_pytorchs_page_lacks_is_called_ours() -> None:
    for name, op in OPS.items():
        if name not in ROWS:
            listed = cells(op.twin_of or name)[0][-1]
            assert listed == "ours" or f"`{name}` is ours" in listed, name


def test_out_is_on_the_page_where_a_call_takes_it() -> None:
    x = ne.ones(2, 2, names="N C")
    assert "`out=`" in cells("exp")[0][1] and "`out=`" in cells("sum")[0][1]
    assert "`out=`" not in cells("sort")[0][1] and "`out=`" not in cells("align_to")[0][1]
    for name in ("exp", "sqrt", "neg", "isnan", "sum", "amax", "all"):
        assert getattr(x, name)(out=ne.empty(0)).equal(getattr(x, name)()), name
        assert "`out=`" in cells(name)[0][1]


def test_signatures_are_short() -> None:
    for name in (op.name for op in OPS.values() if not op.twin_of):
        call = cells(name)[0][2]
        assert not re.search(r"<not given>|\bself\b|\bAny\b|\bout\b|memory_format", call), call
    assert cells("add")[0][2] == "`add(other, *, alpha=1)`"
    assert cells("where")[0][2] == "`where(condition, other)`<br>`ne.where(condition, x, y)`"
    assert cells("cat")[0][:3] == [
        "`cat`, `concat`, `concatenate`",
        "function, `out=`",
        "`ne.cat(tensors, dim=0)`",
    ]


@pytest.mark.slow
def test_a_page_that_is_not_current_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OPS, "exp", OPS["exp"]._replace(summary="Return something else."))
    assert operators_page.page() != PAGE


def theirs(name: str) -> list[str]:
    row = ROWS[name]
    return [f"{where}.{name}" for where, kind in (("Tensor", "method"), ("torch", "function")) if row[kind]]


@pytest.mark.parametrize("name", ROWS)
def test_the_guide_maps_every_row_once(name: str) -> None:
    for spelt in theirs(name):
        rows = cells(spelt, GUIDE)
        assert len(rows) == 1, spelt
        here = rows[0][1]
        place = f"`ne.{name}" if spelt.startswith("torch.") else f"`x.{name}"
        assert re.search(re.escape(place) + r"\b", here), here


def test_the_guide_maps_no_row_that_pytorch_has_not() -> None:
    known = {spelt for name in ROWS for spelt in theirs(name)}
    named = re.findall(
        r"`((?:Tensor|torch)\.\w+)`", "\n".join(row for row in GUIDE.splitlines() if row[:3] == "| `")
    )
    assert set(named) <= known
    assert len(ROWS) == 215


def test_what_the_guide_says_there_is_there_is() -> None:
    rows = [line.split(" | ")[1] for line in GUIDE.splitlines() if re.match(r"\| `(Tensor|torch)\.", line)]
    for owner, name in re.findall(r"\b(x|ne)\.(\w+)", "\n".join(rows)):
        assert hasattr(ne.NamedTensor if owner == "x" else ne, name), name
