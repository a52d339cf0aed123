"""Calibration without a clock: figures are found again from the times that they predict."""

from __future__ import annotations

from math import exp
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from nameexpr.backends.numpy import calibration
from nameexpr.backends.numpy.calibration import Accuracy, accuracy_of, calibrate
from nameexpr.backends.numpy.calibration.caches import cache_sizes, read_caches
from nameexpr.backends.numpy.calibration.direct import direct_product
from nameexpr.backends.numpy.calibration.drawing import Probe
from nameexpr.backends.numpy.calibration.fitting import fit
from nameexpr.backends.numpy.calibration.pairs import draw_pair, strategies_of
from nameexpr.backends.numpy.calibration.probes import FAMILIES, draw
from nameexpr.backends.numpy.calibration.timing import handed_over, least_times
from nameexpr.backends.numpy.costs import GENERIC
from nameexpr.backends.numpy.costs.calls import NumpyCosts
from nameexpr.backends.numpy.profiles import figures_of
from nameexpr.records import replace

OTHER = replace(GENERIC, flop=0.013, dot_call=500.0, matrix=20.0, loop_run=6.0, loop_both=0.13, copy_run=4.4)
SLOWER = replace(
    GENERIC,
    **{name: 1.6 * figure for name, figure in figures_of(GENERIC).items() if type(figure) is float},
)


def test_figures_are_found_again_from_the_times_that_they_predict() -> None:
    probes, drawn = draw(3, 24), Random(5)
    noisy = [probe.cost(NumpyCosts(OTHER)) * exp(drawn.gauss(0, 0.05)) for probe in probes]
    noisy[::17] = [20 * time for time in noisy[::17]]  # another process had the core
    names = ["flop", "dot_call", "matrix", "loop_run", "loop_both", "copy_run"]
    found = fit(GENERIC, names, [probe.cost for probe in probes], noisy)
    for name in names:
        assert getattr(found, name) == pytest.approx(getattr(OTHER, name), rel=0.3), name
    assert replace(found, **{name: getattr(GENERIC, name) for name in names}) == GENERIC


def test_figures_on_which_nothing_depends_stay_as_they_are() -> None:
    probes = [probe for probe in draw(3, 4) if probe.family == "inner products"]
    found = fit(GENERIC, ["gemm", "vecdot"], [probe.cost for probe in probes], [1e7] * len(probes))
    assert found.gemm == pytest.approx(GENERIC.gemm) and found.vecdot > GENERIC.vecdot


def test_the_same_probes_are_drawn_everywhere() -> None:
    costs = NumpyCosts(GENERIC)
    assert [one.cost(costs) for one in draw(1, 3)] == [one.cost(costs) for one in draw(1, 3)]
    assert {one.family for one in draw(1, 1)} == set(FAMILIES)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_probes_run_and_have_times(family: str) -> None:
    drawn = Random(11)
    for _ in range(2):
        probe = FAMILIES[family](drawn)
        assert np.asarray(probe.make()()).size > 0
        assert 10 < probe.cost(NumpyCosts(GENERIC)) < 1e9


def test_calls_are_timed_in_turns() -> None:
    order: list[int] = []
    makes = [lambda at=at: (order.append(at), lambda: None)[1] for at in range(3)]
    times = least_times(makes, 0.0)  # type: ignore[arg-type]
    assert order == [0, 1, 2] * 3 and len(times) == 3 and all(0 < time < 0.1 for time in times)
    assert 100 < handed_over(20) < 1e8


def test_products_are_direct_up_to_where_they_take_longer() -> None:
    assert direct_product([16e-6, 40e-6]) == 100**3
    assert direct_product([36e-6, 58e-6]) == 1


def test_caches_are_read_from_the_files_of_linux(tmp_path: Path) -> None:
    rows = [
        ("1", "Data", "48K"),
        ("1", "Instruction", "32K"),
        ("2", "Unified", "2048K"),
        ("3", "Unified", "64M"),
    ]
    for number, (level, kind, size) in enumerate(rows):
        folder = tmp_path / f"index{number}"
        folder.mkdir()
        for name, text in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(text + "\n", encoding="utf-8")
    (tmp_path / "index9").mkdir()
    assert read_caches(tmp_path) == {"near_cache": 48 << 10, "second_cache": 2 << 20, "last_cache": 64 << 20}
    assert read_caches(tmp_path / "nowhere") == {}
    assert cache_sizes().keys() <= {"near_cache", "second_cache", "last_cache"}


def test_calibration_fits_what_it_times_and_judges_by_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    timed: list[Probe] = []
    probes_of = calibration._probes

    def probes(*given: Any) -> Any:
        found = probes_of(*given)
        timed.extend(found[0])
        return found

    def times(makes: Any, seconds: float) -> list[float]:
        if not timed:  # two products
            return [1.0, 2.0]
        return [1e-9 * probe.cost(NumpyCosts(SLOWER)) for probe in timed]

    monkeypatch.setattr(calibration, "_probes", probes)
    monkeypatch.setattr(calibration, "least_times", times)
    found = calibrate(4 / calibration.PER_SECOND)
    generic, fitted = found.accuracy["all"]
    assert fitted.off < 1.15 < generic.off and fitted.close > generic.close
    assert sum(both[0].calls for both in found.accuracy.values()) == 2 * fitted.calls
    assert found.profile.threads >= 1 and found.profile.handed_over != GENERIC.handed_over


def test_strategies_of_a_pair_cost_what_the_lowering_expects_at_other_figures_too() -> None:
    pair = ("a b e c, c d a -> b d a e", ((16, 24, 3, 8), (8, 40, 16)), "float64")
    names = ["flop", "matrix", "copy_cell", "loop_both"]
    strategies = strategies_of(pair, GENERIC, names)
    assert len(strategies) > 2
    moved = replace(GENERIC, flop=0.02, matrix=9.0, copy_cell=0.2, loop_both=0.3)
    for profile in (GENERIC, moved):
        expected = sorted(one.cost(NumpyCosts(profile)) for one in strategies_of(pair, profile, []))
        costs = sorted(one.cost(NumpyCosts(profile)) for one in strategies)
        assert costs[:3] == pytest.approx(expected[:3], rel=0.02)


def test_strategies_of_a_pair_give_the_same_values() -> None:
    drawn = Random(2)
    for _ in range(3):
        results = [one.make()() for one in strategies_of(draw_pair(drawn), GENERIC, [])]
        for result in results[1:]:
            np.testing.assert_allclose(result, results[0], rtol=1e-5)


def test_accuracy_is_a_factor_and_a_share() -> None:
    probes = draw(2, 1)[:4]
    costs = [probe.cost(NumpyCosts(GENERIC)) for probe in probes]
    timed = list(
        zip(probes, [cost * by for cost, by in zip(costs, (1, 1.2, 2, 0.25), strict=True)], strict=True)
    )
    assert accuracy_of(GENERIC, timed) == Accuracy(4, pytest.approx((1.2 * 2) ** 0.5), 0.5)
