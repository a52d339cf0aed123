"""Calibration without a clock: figures are found again from the times that they predict."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from math import exp
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from nameexpr.backends.numpy import calibration
from nameexpr.backends.numpy.calibration import Accuracy, accuracy_of, caches, calibrate, timing
from nameexpr.backends.numpy.calibration.caches import cache_sizes, read_caches
from nameexpr.backends.numpy.calibration.direct import direct_product
from nameexpr.backends.numpy.calibration.drawing import Cost, Probe
from nameexpr.backends.numpy.calibration.fitting import fit
from nameexpr.backends.numpy.calibration.pairs import draw_pair, strategies_of
from nameexpr.backends.numpy.calibration.probes import FAMILIES, draw
from nameexpr.backends.numpy.calibration.timing import handed_over, least_times
from nameexpr.backends.numpy.costs import GENERIC, Profile
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
    assert found.vecdot <= 10 * GENERIC.vecdot  # whatever the times are


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


class Clock:
    """A clock that calls move on, and each look at it by `tick`."""

    def __init__(self, tick: float = 0.0) -> None:
        self.now, self.tick = 0.0, tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now

    def taking(self, seconds: float) -> Callable[[], None]:
        def call() -> None:
            self.now += seconds

        return call


def test_calls_are_timed_in_turns_and_the_least_of_each_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    order, clock = list[int](), Clock()
    turns = [iter(seconds) for seconds in ((9e-6, 3e-6, 5e-6), (2e-3, 1e-3, 4e-3))]

    def make(number: int) -> Callable[[], None]:
        order.append(number)
        return clock.taking(next(turns[number]))

    monkeypatch.setattr(timing, "perf_counter", clock)
    assert least_times([partial(make, 0), partial(make, 1)], 0.0) == pytest.approx([3e-6, 1e-3])
    assert order == [0, 1] * 3


def test_handing_over_takes_half_of_the_way_there_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 100 < handed_over(20) < 1e8
    monkeypatch.setattr(timing, "perf_counter", Clock(8e-6))
    assert handed_over(5) == pytest.approx(4_000)


def test_products_are_direct_up_to_where_they_take_longer() -> None:
    assert direct_product([16e-6, 40e-6]) == 100**3
    assert direct_product([36e-6, 58e-6]) == 1
    assert direct_product([36e-6, 66e-6]) == 1  # six percent more for each multiplication


def test_caches_are_read_from_the_files_of_linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(caches, "LINUX", tmp_path)
    (tmp_path / "index3" / "size").write_text("512M", encoding="utf-8")
    assert cache_sizes() == {"near_cache": 48 << 10, "second_cache": 2 << 20, "last_cache": 1 << 26}
    (tmp_path / "index3" / "size").unlink()
    assert read_caches(tmp_path)["last_cache"] == 2 << 20


def test_calibration_fits_what_it_times_and_judges_by_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    probes, pairs = list[Probe](), list[list[Probe]]()
    fitted, judged = list[Cost](), dict[Profile, list[Cost]]()
    own = calibration._probes, calibration.draw_pairs, calibration.fit, calibration.accuracy_of

    def probes_of(*given: Any) -> Any:
        found = own[0](*given)
        probes.extend(found[0])
        return found

    def pairs_of(*given: Any) -> Any:
        pairs.extend(own[1](*given))
        return pairs

    def fit_to(first: Profile, names: Any, costs: Any, taken: Any) -> Profile:
        fitted.extend(costs)
        return own[2](first, names, costs, taken)

    def accuracy(profile: Profile, timed: Any) -> Accuracy:
        judged[profile] = [probe.cost for probe, _ in timed]  # those of all families come last
        return own[3](profile, timed)

    def times(makes: Any, seconds: float) -> list[float]:
        if not probes:  # two products
            return [1.0, 2.0]
        return [1e-9 * probe.cost(NumpyCosts(SLOWER)) for probe in probes]

    doubles = {"_probes": probes_of, "draw_pairs": pairs_of, "fit": fit_to, "accuracy_of": accuracy}
    for name, double in {**doubles, "least_times": times}.items():
        monkeypatch.setattr(calibration, name, double)
    machine = calibration.this_machine()._replace(threads=3)
    monkeypatch.setattr(calibration, "this_machine", lambda: machine)
    found = calibrate(4 / calibration.PER_SECOND)
    profile = found.profile
    held = judged[profile]
    assert judged[GENERIC] == held
    assert {*fitted, *held} == {one.cost for one in probes}
    assert not {*fitted} & {*held}
    for family in {one.family for one in probes}:
        share = [one.cost in held for one in probes if one.family == family]
        assert 0.1 < sum(share) / len(share) < 0.4, family
    assert {len({one.cost in held for one in strategies}) for strategies in pairs} <= {
        0,
        1,
    }  # some pairs have no choice
    generic, own_figures = found.accuracy["all"]
    assert own_figures.off < 1.15 < generic.off and own_figures.close > generic.close
    assert sum(both[0].calls for both in found.accuracy.values()) == 2 * len(held)
    assert profile.threads == 3 and profile.handed_over != GENERIC.handed_over
    assert profile.spilled_byte == profile.new_byte + profile.main_byte + profile.cached_byte


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
