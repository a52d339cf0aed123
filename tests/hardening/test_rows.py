"""Every measure at a small size, and that each notices what it is there to notice."""

from __future__ import annotations

import itertools
import json
import os
import threading
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from hardening import layouts, page, programs, seeds, strategies, texts, threads
from hardening.figures import Figures, over_seeds
from hardening.rows import ROWS

pytestmark = pytest.mark.slow

FEW = range(programs.FIRST, programs.FIRST + 60)


def test_every_row_has_a_module_of_its_name() -> None:
    for row in ROWS:
        assert (page.FIGURES.parent / f"{row.name}.py").exists(), row.name


def test_the_page_has_the_figures_that_were_recorded() -> None:
    kept = json.loads(page.FIGURES.read_text(encoding="utf-8"))
    written = page.PAGE.read_text(encoding="utf-8")
    assert page.with_table(written, page.table(kept)) == written
    assert set(kept) <= {row.name for row in ROWS}


def test_random_programs_in_strange_layouts_equal_the_reference() -> None:
    assert programs.wrong_expressions(FEW) == []
    assert programs.wrong_formulas(FEW) == []


def test_a_wrong_program_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    einsum, evaluate = ne.einsum, ne.evaluate
    monkeypatch.setattr(ne, "einsum", lambda *given, **options: -einsum(*given, **options))
    monkeypatch.setattr(ne, "evaluate", lambda *given, **options: (evaluate(*given, **options), 1))
    assert len(programs.wrong_expressions(FEW)) > 20
    assert len(programs.wrong_formulas(FEW)) > 20


def test_an_operand_that_is_written_to_is_found() -> None:
    array = np.ones(3)
    before = [layouts.native(array)]
    assert programs._changed((array,), before, "a") == ""
    array[1] = 2
    assert "written" in programs._changed((array,), before, "a")


@pytest.mark.parametrize("layout", layouts.LAYOUTS)
def test_a_layout_has_the_shape_and_mostly_the_values_it_was_given(layout: Any) -> None:
    for shape in ((), (0, 3), (2, 3), (4,)):
        array = np.arange(np.prod(shape, dtype=int), dtype="f4").reshape(shape)
        laid = layout(array)
        assert laid.shape == shape
        assert layout is layouts.overlapping or np.array_equal(laid, array)
    assert not layouts.unaligned(np.ones(3)).flags.aligned
    assert not layouts.swapped(np.ones(3)).dtype.isnative


def test_all_strategies_of_a_few_programs_agree() -> None:
    few = range(strategies.FIRST, strategies.FIRST + 25)
    assert strategies.wrong_expressions(few) == []
    assert strategies.wrong_formulas(few[:8]) == []


def test_a_strategy_that_disagrees_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[dict[int, int]] = []
    picking = strategies.picking

    def noticed(pick: dict[int, int], offers: list[int] | None = None) -> Any:
        taken.append(pick)
        return picking(pick, offers)

    monkeypatch.setattr(strategies, "picking", noticed)
    monkeypatch.setattr(strategies.generate, "same", lambda actual, expected, case: not taken[-1])
    breaches = strategies.wrong_expressions(range(strategies.FIRST, strategies.FIRST + 10))
    assert breaches and all("strategy {}" not in breach for breach in breaches)


def test_threads_and_children_of_a_fork_agree_with_one_thread() -> None:
    assert threads.mismatches_of_threads(150) == []
    assert threads.hung_children(5) == []


def test_a_mismatch_and_a_child_that_hangs_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "CHECKS", (lambda number: number % 100 != 7,))
    assert threads.mismatches_of_threads(500)
    assert threads.hung_children(1) == ["child 0 ended with 2"]
    if hasattr(os, "fork"):
        monkeypatch.setattr(threads, "SECONDS", 0.2)
        monkeypatch.setattr(threads, "_status", lambda number: threading.Event().wait(30))
        assert threads.hung_children(1) == ["child 0 hangs"]


def test_a_few_thousand_texts_leave_the_process_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "BATCH", 30)
    figures = texts.measure(300 / texts.TEXTS)
    assert [one for one in figures.breaches if "times as long" not in one] == []


def test_texts_that_are_kept_or_fail_otherwise_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "BATCH", 10)
    resident = itertools.count(100, 30)
    monkeypatch.setattr(texts, "resident", lambda: next(resident))
    monkeypatch.setattr(ne, "compile", lambda text: {}[text])
    told = texts.measure(100 / texts.TEXTS).breaches
    assert any("KeyError" in one for one in told) and any("grew by" in one for one in told)


def test_programs_do_not_depend_on_the_hash_seed() -> None:
    assert seeds.measure(8 / seeds.PROGRAMS).breaches == ()


def test_a_plan_that_differs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    run = seeds._run

    def changed(python: str, programs: int, seed: int, blas: int) -> dict[str, Any]:
        found = run(python, programs, 0, 1)
        found["programs"][0]["plans"] += "!" * (blas == 2)
        return found

    monkeypatch.setattr(seeds, "_run", changed)
    assert "two BLAS threads: plans" in seeds.measure(1 / seeds.PROGRAMS).breaches[0]


def _odd_ones(numbers: range) -> list[str]:
    return [str(number) for number in numbers if number % 1500 == 1499]


def test_findings_of_many_seeds_come_from_all_processes() -> None:
    assert sorted(over_seeds(_odd_ones, range(4500), 2), key=int) == ["1499", "2999", "4499"]


def test_a_table_tells_breaches_and_the_size_of_the_run() -> None:
    kept = {"programs": {"summary": "9 programs", "breaches": 2, "scale": 0.5}}
    line = next(line for line in page.table(kept).splitlines() if line.startswith("| `programs`"))
    assert line.endswith("9 programs (at 0.5 of the full size) **2 or more breaches** |")
    assert Figures("all well").breaches == ()
