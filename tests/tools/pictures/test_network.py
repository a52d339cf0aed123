"""The picture of a network, from data made by hand."""

from __future__ import annotations

import random

import pytest

from nameexpr.pictures.data import Leg, Tensor, TensorNetwork
from nameexpr.pictures.network import draw_network, lay_out
from nameexpr.pictures.sheet import thickness
from nameexpr.records import replace
from tools.pictures.text import HOSTILE, described, faults, kinds, words

ATTENTION = TensorNetwork(
    "N T d, N S d, N S e -> N T e",
    (Tensor("operand 0", "2×3×4"), Tensor("operand 1", "2×5×4"), Tensor("operand 2", "2×5×6")),
    (
        Leg("N", 2, (0, 1, 2), is_open=True),
        Leg("T", 3, (0,), is_open=True),
        Leg("d", 4, (0, 1), is_open=False),
        Leg("S", 5, (1, 2), is_open=False),
        Leg("e", 6, (2,), is_open=True),
    ),
    "N T e",
    "sum",
)


def only(*legs: Leg) -> TensorNetwork:
    """Return a network of as many tensors as these legs need."""
    count = max((end for leg in legs for end in leg.ends), default=-1) + 1
    tensors = tuple(Tensor(f"operand {number}", "") for number in range(count))
    return TensorNetwork("", tensors, legs, "", "sum")


def test_every_label_is_written_once_with_its_size() -> None:
    shown = [word.text for word in words(draw_network(ATTENTION))]
    for leg in ATTENTION.legs:
        assert shown.count(f"{leg.label}={leg.size}") == 1


def test_the_reader_is_told_everything() -> None:
    told = described(draw_network(ATTENTION))
    assert "Tensor network of N T d, N S d, N S e -> N T e" in told
    assert "operand 1 has N, d, S." in told
    assert "N of size 2 is in the result, shared by 3" in told
    assert "d of size 4 is contracted (sum)" in told


def test_open_and_contracted_labels_differ_in_more_than_colour() -> None:
    kept = kinds(draw_network(only(Leg("a", 2, (0,), is_open=True))))
    gone = kinds(draw_network(only(Leg("a", 2, (0,), is_open=False))))
    assert "tip" in kept
    assert "bar" not in kept
    assert "bar" in gone
    assert "tip" not in gone
    style = draw_network(ATTENTION).partition("<style>")[2].partition("</style>")[0]
    rules = [line for line in style.splitlines() if "-gone{" in line or "-open{" in line]
    assert ["stroke-dasharray" in rule for rule in rules] == [False, True]


@pytest.mark.parametrize(
    ("ends", "is_open", "dots"),
    [((0, 1), False, 0), ((0, 2), False, 0), ((0, 1, 2), False, 3), ((0, 1), True, 2), ((0,), True, 0)],
)
def test_labels_of_three_places_and_more_meet_in_dots(
    ends: tuple[int, ...], is_open: bool, dots: int
) -> None:
    leg = Leg("a", 2, ends, is_open)
    picture = draw_network(only(leg))
    assert leg.is_hyperedge == (dots > 0)
    assert picture.count("<circle") == dots


def test_a_diagonal_has_two_ends_at_its_tensor() -> None:
    layout = lay_out(only(Leg("a", 3, (0, 0), is_open=False)))
    assert len(set(layout.legs[0].ports)) == 2


def test_a_dim_that_only_the_result_has_comes_from_a_box_of_its_own() -> None:
    picture = draw_network(only(Leg("a", 2, (0,), is_open=True), Leg("new", 5, (), is_open=True)))
    shown = [word.text for word in words(picture)]
    assert "made" in shown
    assert "new=5" in shown
    assert "held" in kinds(picture)


def test_legs_that_lie_inside_each_other_do_not_cross() -> None:
    ends = [(0, 4), (1, 4), (2, 4), (4, 8), (4, 7), (4, 6)]
    legs = tuple(Leg(f"l{number}", 3, one, is_open=False) for number, one in enumerate(ends))
    tensors = tuple(Tensor(f"operand {number}", "3") for number in range(9))
    layout = lay_out(TensorNetwork("", tensors, legs, "", "sum"))
    inside = [place.ports[int(place.leg.ends[1] == 4)] for place in layout.legs]
    order = sorted(range(len(legs)), key=inside.__getitem__)
    assert order == [2, 1, 0, 3, 4, 5], "the shorter ones are inside, on both sides"


def test_a_wide_word_of_a_diagonal_stands_between_its_ends() -> None:
    wide = Leg("channel_of_the_left", 10**9, (0, 0), is_open=False)
    picture = draw_network(only(wide, Leg("b", 2, (0,), is_open=False), Leg("c", 2, (0,), is_open=False)))
    assert faults(picture) == []


def test_lines_grow_with_the_logarithm_of_the_size() -> None:
    assert [thickness(size) for size in (0, 1, 2, 4, 1024)] == [1, 1, 1.5, 2, 6]
    assert thickness(10**18) == 8


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_harmless(name: str) -> None:
    tensors = tuple(replace(one, title=name, note=name) for one in ATTENTION.tensors)
    legs = tuple(replace(leg, label=name) for leg in ATTENTION.legs)
    assert faults(draw_network(TensorNetwork(name, tensors, legs, name, "sum"))) == []


@pytest.mark.parametrize("seed", range(60))
def test_words_never_meet(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 12)
    labels = [
        rng.choice(["a", "batch", "π", "字幕", "channel_of_the_left_image", "x" * 300]) for _ in range(12)
    ]
    legs = tuple(
        Leg(label, rng.choice([1, 2, 30, 10**9]), ends, rng.random() < 0.4)
        for label in labels
        for ends in [tuple(sorted(rng.choices(range(count), k=rng.randint(1, 4))))]
    )
    tensors = tuple(Tensor(f"operand {number}", "2×3×4") for number in range(count))
    assert faults(draw_network(TensorNetwork("a b -> c", tensors, legs, "c", "sum"))) == []


def test_words_that_meet_are_noticed() -> None:
    picture = draw_network(ATTENTION)
    assert faults(picture) == []
    moved = picture.replace(">T=3</text>", ">T=3333333333333333</text>")
    assert any("meet" in fault for fault in faults(moved))
    assert any("outside" in fault for fault in faults(picture.replace('viewBox="0 0 ', 'viewBox="90 0 ')))
