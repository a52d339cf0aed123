"""How plans are drawn: kinds, pickles, notebooks, equal bytes, strange names, large plans."""

from __future__ import annotations

import copy
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from tools.pictures.plans import ATTENTION, SHAPES, check
from tools.pictures.text import described, faults, words

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("kind", ["tre", "", None, 3, "Memory", "\x1b[31m"])
def test_an_unknown_kind_is_refused(kind: Any) -> None:
    plan = ne.compile("a b -> a : sum").plan((2, 3))
    for method in (plan.draw, plan.dot, plan.mermaid):
        with pytest.raises(ne.NameExprError) as caught:
            method(kind)
        assert caught.value.code == "NE625"
        assert str(caught.value).isprintable() or "\n" in str(caught.value)
        assert "\x1b" not in str(caught.value)


def test_memory_has_no_text_form() -> None:
    plan = ne.compile("a b -> a : sum").plan((2, 3))
    for method in (plan.dot, plan.mermaid):
        with pytest.raises(ne.NameExprError, match="NE625"):
            method("memory")


def test_nothing_is_built_before_it_is_drawn() -> None:
    plan = ne.compile("a b, b c -> a c").plan((2, 3), (3, 4))
    str(plan), repr(plan), hash(plan)
    assert plan.drawing._data is None
    plan.draw()
    assert plan.drawing._data is not None
    assert plan.drawing._make is None, "the stages are let go"


@pytest.mark.parametrize("is_drawn", [False, True])
def test_plans_stay_comparable_and_picklable(is_drawn: bool) -> None:
    for one, other in (
        (ATTENTION.plan(**SHAPES), ATTENTION.plan(**SHAPES)),
        (ne.compile("a b, b -> a").plan((2, 3), (3,)), ne.compile("a b, b -> a").plan((2, 3), (3,))),
    ):
        if is_drawn:
            one.draw()
        assert one == other
        assert hash(one) == hash(other)
        for twin in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), copy.copy(one)):
            assert twin == one
            for kind in ("network", "tree", "memory"):
                assert twin.draw(kind) == other.draw(kind)
        with pytest.raises(AttributeError):
            one.drawing = other.drawing  # type: ignore[misc]


HASHED = """
import nameexpr as ne
f = ne.compile("s[i j] = sum[d](q[i d] * k[j d]) / 8; y[e i] = sum[j](softmax[j](s) * v[j e])")
g = ne.compile("a b, b c, c d a, d -> a")
for plan in (f.plan(q=(5, 8), k=(6, 8), v=(6, 7)), g.plan((2, 3), (3, 4), (4, 5, 2), (5,))):
    print(plan.draw(), plan.draw("tree"), plan.draw("memory"), plan.dot(), plan.mermaid())
print(ne.zeros(2, 3, names="N C").draw())
"""


@pytest.mark.slow
def test_the_bytes_are_the_same_in_every_process() -> None:
    outputs = set()
    for seed in ("0", "1", "7"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
        command = [sys.executable, "-c", HASHED]
        made = subprocess.run(command, env=env, capture_output=True, check=True, timeout=60)
        outputs.add(made.stdout)
    assert len(outputs) == 1


def test_two_pictures_in_one_page_share_no_class_and_no_id() -> None:
    plan = ne.compile("a b, b -> a", memory_limit=10**6).plan((2, 3), (3,))
    pictures = [plan.draw("network"), plan.draw("tree"), plan.draw("memory"), ne.zeros(2, names="N").draw()]
    names = [set(re.findall(r'(?:class|id)="([^"]+)"', picture)) for picture in pictures]
    for place, mine in enumerate(names):
        assert mine
        assert not any(mine & other for other in names[place + 1 :])
    for picture in pictures:
        rules = picture.partition("<style>")[2].partition("</style>")[0]
        prefix = re.findall(r'class="(\w+)"', picture)[0]
        selectors = [line.partition("{")[0] for line in rules.splitlines() if line.startswith(".")]
        assert all(selector.startswith(f".{prefix}") for selector in selectors)
        alone = [line.partition("{")[0] for line in rules.splitlines() if line.startswith(":root")]
        assert all(selector.startswith(f":root.{prefix}") for selector in alone)
        assert "currentColor" in rules and "light-dark(" in rules and "@media" not in rules


def test_long_and_strange_names_are_drawn_and_told_in_full() -> None:
    name, dim = "字" * 150 + "_x̸̷", "x" * 300
    tensor = ne.tensor(np.ones((2, 3)), names=(dim, "N"))
    assert dim in described(tensor.draw())
    plan = ne.compile(f"{name} N -> N : sum").plan((2, 3))
    check(plan)
    assert name in described(plan.draw())
    formula = ne.compile(f"{name}2 = exp({name}[N {name}])").plan(operands={name: (2, 3)})
    check(formula)
    assert name in described(formula.draw())
    assert faults(tensor.draw()) == []


def test_two_hundred_operands_and_a_hundred_statements_are_drawn() -> None:
    text = ", ".join(f"k{number} k{number + 1}" for number in range(200)) + " -> k0 k200"
    plan = ne.compile(text).plan(*[(2, 2)] * 200)
    lines = [f"y{n} = softmax[j](y{n // 2}) * exp(y{n - 1}) + {n}" for n in range(1, 100)]
    formula = ne.compile("\n".join(["y0 = x[i j]", *lines])).plan(x=(300, 400))
    for one in (plan, formula):
        for kind in ("network", "tree", "memory"):
            assert one.draw(kind).endswith("</svg>\n")
    assert len(words(plan.draw("network"))) > 400


def test_a_notebook_gets_text_a_table_and_a_small_tree() -> None:
    plan = ne.compile("a b, b -> a").plan((2, 3), (3,))
    bundle = plan._repr_mimebundle_()
    assert bundle == {
        "text/plain": str(plan),
        "text/html": plan._repr_html_(),
        "image/svg+xml": plan.draw("tree"),
    }
    assert set(plan._repr_mimebundle_(include={"text/html", "x"})) == {"text/html"}
    assert "text/html" not in plan._repr_mimebundle_(exclude=["text/html"])
    many = ne.compile(", ".join(f"k{n} k{n + 1}" for n in range(30)) + " -> k0 k30").plan(*[(2, 2)] * 30)
    assert "image/svg+xml" not in many._repr_mimebundle_()


def test_the_table_has_every_cell_escaped() -> None:
    plan = ne.compile("y[i] = sum[j](where(x[i j] < 3, x, 0))").plan(x=(2, 3))
    table, tree, _ = plan._repr_html_().partition("<svg")
    assert tree, "the tree stands below the table"
    assert "x[i j] &lt; 3" in table
    assert "x -&gt; i j" in table
    assert "->" not in table
    assert table.count("<tr>") == 1 + len(plan.steps)
    assert set(re.findall(r"<(\w+)", table)) <= {
        "div",
        "code",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "br",
    }


LONG = (
    "y[i] = sum[j](x_with_a_rather_long_name[i j] * x_with_a_rather_long_name) + 1000000 * 1000000\nz = y + 1"
)


@pytest.mark.parametrize("wide", [40, 60, 100])
def test_the_text_above_a_plan_fits_into_the_terminal_statement_by_statement(
    wide: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = ne.compile(LONG).plan(x_with_a_rather_long_name=(2, 3))
    monkeypatch.setenv("COLUMNS", str(wide))
    first, second, head = str(plan).split("\n")[:3]
    assert len(first) <= wide and first.startswith("y[i] = ") and ("…" in first) == (wide < 100)
    assert second == "z = y + 1" and head.startswith("  step")
    monkeypatch.delenv("COLUMNS")
    assert str(plan).startswith(plan.text + "\n"), "all of it where there is no terminal"


def test_counts_that_nobody_can_read_are_powers_of_ten() -> None:
    text = ", ".join(f"k{number} k{number + 1}" for number in range(200)) + " -> k0 k200"
    plan = ne.compile(text).plan(*[(300, 300)] * 200)
    line = next(line for line in str(plan).split("\n") if line.startswith("flops: "))
    exponent = len(str(plan.naive_flops)) - 1
    assert exponent > 400 and plan.speedup == float("inf")
    assert re.fullmatch(
        rf"flops: [\d,]+ planned, [\d.]+ × 10\^{exponent} naive \([\d.]+ × 10\^\d+ times fewer\)", line
    )
