"""Networks in two dimensions: what is a grid looks like one, and nothing meets."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from nameexpr.pictures.data import Leg
from nameexpr.pictures.network import IN_A_ROW, draw_network
from tools.pictures.graphs import lattice, network, path, random_network
from tools.pictures.text import SVG, described, faults, kinds, shapes, words


def middles(picture: str, count: int) -> list[tuple[float, float]]:
    """Return where the numbers of the tensors are."""
    there = {word.text: ((word.left + word.right) / 2, word.bottom) for word in words(picture)}
    return [there[str(number)] for number in range(count)]


def width(picture: str) -> float:
    """Return how wide a picture is."""
    return float(ElementTree.fromstring(picture).get("width", "nan"))


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (4, 4), (5, 6), (10, 10), (3, 12)])
def test_a_grid_is_seen_as_a_grid(rows: int, columns: int) -> None:
    picture = draw_network(network(rows * columns, lattice(rows, columns)))
    places = middles(picture, rows * columns)
    xs, ys = [sorted({place[axis] for place in places}) for axis in (0, 1)]
    across, down = (columns, rows) if len(xs) == columns else (rows, columns)
    assert (len(xs), len(ys)) == (across, down)
    found = [(xs.index(x), ys.index(y)) for x, y in places]
    assert sorted(found) == [(x, y) for x in range(across) for y in range(down)]
    for one, other in lattice(rows, columns):
        (a, b), (c, d) = found[one], found[other]
        assert abs(a - c) + abs(b - d) == 1, "neighbours are next to each other"
    assert picture.count("Q") == 0 and faults(picture) == []
    assert found[0] == (0, 0)


def test_a_matrix_product_state_is_a_ladder_of_level_and_upright_lines() -> None:
    picture = draw_network(network(24, lattice(2, 12)))
    places = middles(picture, 24)
    assert {y for _, y in places[:12]} == {places[0][1]} != {y for _, y in places[12:]} == {places[12][1]}
    assert [x for x, _ in places[:12]] == [x for x, _ in places[12:]] == sorted(x for x, _ in places[:12])


@pytest.mark.parametrize(("rows", "columns"), [(1, 100), (2, 50), (2, 30), (1, 40)])
def test_long_ones_are_folded_and_run_back(rows: int, columns: int) -> None:
    count = rows * columns
    picture = draw_network(network(count, lattice(rows, columns)))
    places = middles(picture, count)
    assert width(picture) <= 2000 and faults(picture) == []
    ways = [b[0] - a[0] for a, b in pairwise(places[:columns]) if a[1] == b[1]]
    turns = sum((one > 0) != (other > 0) for one, other in pairwise(ways))
    assert turns == columns - 1 - len(ways) > 0, "each strip runs against the one before"
    for one, other in lattice(rows, columns)[rows * (columns - 1) :]:
        assert places[one][0] == places[other][0], "rungs are upright on every strip"


NETWORKS = {
    "path": network(100, path(100)),
    "ring": network(100, [*path(100), (0, 99)]),
    "grid": network(100, lattice(10, 10)),
    "ladder": network(100, lattice(2, 50)),
    "star": network(100, [(0, number) for number in range(1, 100)]),
    "tree": network(100, [((number - 1) // 2, number) for number in range(1, 100)]),
    "batched": network(100, path(100), Leg("batch", 32, tuple(range(100)), is_open=True)),
    "open": network(100, lattice(10, 10), *(Leg(f"o{n}", 2, (n,), is_open=True) for n in range(100))),
    "apart": network(100, []),
    "pairs": network(100, [(n, n + 1) for n in range(0, 100, 2)]),
    "random": random_network(100, 1),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_hundred_operands_fit_into_two_thousand_pixels(name: str) -> None:
    picture = draw_network(NETWORKS[name])
    assert width(picture) <= 2000
    assert faults(picture) == []


@pytest.mark.parametrize("seed", range(40))
def test_words_never_meet_nor_lie_on_boxes(seed: int) -> None:
    count = IN_A_ROW + 1 + seed
    drawn = random_network(count, seed)
    picture = draw_network(drawn)
    assert faults(picture) == []
    root = ElementTree.fromstring(picture)
    boxes = [area for name, area in shapes(root) if name == "rect"][1:]
    for place, (left, top, right, bottom) in enumerate(boxes):
        for a, b, c, d in boxes[:place]:
            assert right <= a or c <= left or bottom <= b or d <= top, "boxes meet"
        for word in words(picture):
            is_apart = right <= word.left or word.right <= left or bottom <= word.top or word.bottom <= top
            is_inside = left <= word.left and word.right <= right
            assert is_apart or is_inside, f"{word.text} is on the border of a box"


def test_every_label_is_written_and_told() -> None:
    drawn = random_network(20, 3)
    picture = draw_network(drawn)
    titles = {element.text for element in ElementTree.fromstring(picture).iter(f"{SVG}title")}
    for leg in drawn.legs:
        assert any(one and one.startswith(f"{leg.label}: size {leg.size}, ") for one in titles)
    assert "operand 19 has" in described(picture)


def test_a_size_is_written_where_it_is_not_the_usual_one() -> None:
    more = Leg("wide", 99, (0, 5), is_open=False)
    shown = {word.text for word in words(draw_network(network(9, path(9), more, size=7)))}
    assert {"e0", "e7", "wide=99"} <= shown
    assert "a number is an operand, counted from 0; labels without a size have size 7" in shown


def test_lines_are_as_thick_and_strong_as_their_labels_are_large() -> None:
    legs = [Leg(f"l{n}", 4**n, (n, n + 1), is_open=False) for n in range(8)]
    picture = draw_network(network(9, [], *legs))
    lines = re.findall(
        r'<title>l(\d): [^<]*</title>\s*<path [^>]*stroke-width="([\d.]+)"(?: stroke-opacity="([\d.]+)")?',
        picture,
    )
    assert [int(number) for number, _, _ in lines] == list(range(8))
    for part in (1, 2):
        values = [float(line[part] or 1) for line in lines]
        assert values == sorted(values) and values[0] < values[-1]


@pytest.mark.parametrize(
    ("leg", "lines", "kind"),
    [
        (Leg("a", 2, (0,), is_open=True), 1, "shared"),
        (Leg("a", 2, (0,), is_open=False), 1, "joined"),
        (Leg("a", 2, (0, 0), is_open=False), 2, "joined"),
        (Leg("a", 2, (0, 0), is_open=True), 2, "shared"),
        (Leg("a", 2, (0, 4), is_open=False), 1, "joined"),
        (Leg("a", 2, (0, 4, 7), is_open=False), 3, "joined"),
        (Leg("a", 2, (0, 4), is_open=True), 3, "shared"),
    ],
)
def test_every_kind_of_label_has_its_lines(leg: Leg, lines: int, kind: str) -> None:
    picture = draw_network(network(10, path(10), leg))
    groups = re.findall(r"<g><title>a: (.*?)</g>", picture, re.DOTALL)
    assert sum(group.count(f'-{kind}" d="') for group in groups) == lines
    assert "".join(groups).count("-tip") == leg.is_open
    assert "".join(groups).count("-bar") == (not leg.is_open and len(set(leg.ends)) == 1)


def test_lines_break_off_at_words_and_boxes() -> None:
    picture = draw_network(network(9, path(9)))
    holes = next(ElementTree.fromstring(picture).iter(f"{SVG}mask")).findall(f"{SVG}rect")[1:]
    assert len(holes) == 9 + 8
    assert kinds(picture).count("box") == 9


def test_up_to_eight_tensors_stand_in_a_row() -> None:
    drawn = network(IN_A_ROW, path(IN_A_ROW))
    assert "<mask" not in draw_network(drawn)
    assert "<mask" in draw_network(network(IN_A_ROW + 1, path(IN_A_ROW + 1)))


def test_three_hundred_operands_are_drawn_from_a_part_of_their_distances() -> None:
    picture = draw_network(network(300, path(300)))
    assert width(picture) <= 2000
    assert faults(picture) == []
