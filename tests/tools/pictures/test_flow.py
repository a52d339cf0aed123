"""The picture of a flow, and where its values are put."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest

from nameexpr.pictures import layers
from nameexpr.pictures.data import Flow, Node
from nameexpr.pictures.flow import draw_flow
from nameexpr.pictures.layers import GAP, FlowLayout, lay_out
from tools.pictures.text import HOSTILE, described, faults, kinds, words

LEAF = Node("operand", "x", "a=2", bytes=16)


def chain(count: int) -> Flow:
    """Return operands that are taken in one after the other."""
    nodes = [LEAF] * count
    for number in range(1, count):
        nodes.append(
            Node("step", f"{number} dot", "a=2", (len(nodes) - 1 if number > 1 else 0, number), 5, 16)
        )
    return Flow("a, a -> a", "Contraction tree", tuple(nodes), (len(nodes) - 1,))


def random_flow(seed: int) -> Flow:
    """Return a flow in which values are used several times."""
    rng = random.Random(seed)
    nodes: list[Node] = []
    for number in range(rng.randint(1, 25)):
        sources = tuple(rng.choices(range(number), k=rng.randint(0, 3))) if number else ()
        nodes.append(
            Node("step", rng.choice(["exp", "字幕" * 9, "x" * 300]), "a=2 b=3", sources, 1, 2, "note")
        )
    return Flow("f", "Flow of values", tuple(nodes), (len(nodes) - 1,))


@pytest.mark.parametrize("seed", range(40))
def test_boxes_of_a_layer_stand_apart_and_lines_go_down_layer_by_layer(seed: int) -> None:
    flow = random_flow(seed)
    widths = [40 + 10 * (number % 5) for number in range(len(flow.nodes))]
    layout = lay_out(flow, widths)
    layer_of = {place: depth for depth, row in enumerate(layout.layers) for place in row}
    assert sorted(place for place in layer_of if place < len(widths)) == list(range(len(widths)))
    for row in layout.layers:
        boxes = [place for place in row if place < len(widths)]
        for one, other in pairwise(boxes):
            room = layout.middles[other] - layout.middles[one] - (widths[one] + widths[other]) / 2
            assert room >= GAP - 1
    ends = sorted((line[0], line[-1]) for line in layout.lines)
    assert ends == sorted({(s, n) for n, node in enumerate(flow.nodes) for s in node.sources})
    for line in layout.lines:
        assert [layer_of[place] - layer_of[line[0]] for place in line] == list(range(len(line)))
        assert all(place >= len(widths) for place in line[1:-1])


def test_a_tree_has_no_crossings_and_parents_stand_between_their_children() -> None:
    nodes = (LEAF,) * 4 + tuple(Node("step", "dot", "a", pair) for pair in ((0, 2), (3, 1), (4, 5)))
    layout = lay_out(Flow("", "", nodes, (6,)), [50] * 7)
    at = layout.middles
    assert at[0] < at[2] < at[3] < at[1]
    assert at[4] == (at[0] + at[2]) // 2
    assert at[6] == (at[4] + at[5]) // 2


def crossings(layout: FlowLayout) -> int:
    """Return how often lines cross between layers."""
    layer_of = {place: depth for depth, row in enumerate(layout.layers) for place in row}
    parts = [
        (layer_of[a], layout.middles[a], layout.middles[b])
        for line in layout.lines
        for a, b in pairwise(line)
    ]
    return sum(
        one[0] == other[0] and (one[1] - other[1]) * (one[2] - other[2]) < 0
        for place, one in enumerate(parts)
        for other in parts[:place]
    )


def test_sorting_layers_never_adds_crossings_and_removes_many(monkeypatch: pytest.MonkeyPatch) -> None:
    flows = [random_flow(seed) for seed in range(30)]
    after = [crossings(lay_out(flow, [50] * len(flow.nodes))) for flow in flows]
    monkeypatch.setattr(layers, "SWEEPS", 0)
    before = [crossings(lay_out(flow, [50] * len(flow.nodes))) for flow in flows]
    assert all(one <= other for one, other in zip(after, before, strict=True))
    assert sum(after) < 0.8 * sum(before)


@pytest.mark.parametrize("seed", range(40))
def test_words_never_meet(seed: int) -> None:
    assert faults(draw_flow(random_flow(seed))) == []


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_harmless(name: str) -> None:
    nodes = (Node("operand", name, name, note=name), Node("held", name, name, (0,), 1, 2, name))
    assert faults(draw_flow(Flow(name, "Flow", nodes, (1,)))) == []


def test_costs_stand_at_every_value_and_in_full_where_it_is_pointed_at() -> None:
    nodes = (LEAF, Node("step", "1 sum", "", (0,), 1_234_567, 7_654_321, "in place"))
    picture = draw_flow(Flow("a ->", "Contraction tree", nodes, (1,)))
    assert "1.23 Mflops, 7.65 MB" in [word.text for word in words(picture)]
    assert "1,234,567 flops, 7,654,321 bytes, in place, from x" in described(picture)
    assert kinds(picture).count("result") == 1


def test_an_empty_flow_is_an_empty_picture() -> None:
    assert faults(draw_flow(Flow("nothing", "Flow", (), ()))) == []


def test_two_hundred_operands_are_drawn() -> None:
    flow = chain(200)
    assert draw_flow(flow).count("<rect") == 1 + len(flow.nodes)


def test_lines_of_long_programs_run_straight_so_that_drawing_stays_in_proportion() -> None:
    def drawn(count: int) -> FlowLayout:
        nodes = [Node("operand", "x", "i")]
        nodes += [Node("step", f"{k}", "i", (0, k)) for k in range(count)]
        return lay_out(Flow("", "Flow", tuple(nodes), (count,)), [60] * len(nodes))

    bent, straight = drawn(150), drawn(400)
    assert len(bent.middles) > 150 * 149 / 2
    assert len(straight.middles) == 401 and {len(line) for line in straight.lines} == {2}


def test_a_long_chain_runs_straight_down_with_its_operands_next_to_it() -> None:
    flow = chain(100)
    layout = lay_out(flow, [100] * len(flow.nodes))
    spine = [layout.middles[number] for number in range(100, len(flow.nodes))]
    assert max(spine) - min(spine) < 600
    assert max(layout.middles.values()) < 900
    for number in range(2, 100):
        assert abs(layout.middles[number] - layout.middles[98 + number]) <= 120


def test_costs_are_colour_and_width() -> None:
    nodes = (
        Node("operand", "x", "a=2", bytes=16),
        Node("operand", "y", "a=2", bytes=16 * 4096),
        Node("step", "dot", "", (0, 1), 75, 8),
        Node("step", "exp", "", (2,), 25, 8),
        Node("step", "add", "", (3,), 0, 8),
    )
    picture = draw_flow(Flow("", "", nodes, (4,)))
    shades = re.findall(r'-heat".*? fill-opacity="([\d.]+)"', picture)
    assert [float(shade) for shade in shades] == sorted(map(float, shades), reverse=True)
    assert len(shades) == 2, "what costs nothing is not coloured"
    assert {"75 flops (75 %), 8 B", "25 flops (25 %), 8 B", "8 B"} <= {word.text for word in words(picture)}
    widths = [float(wide) for wide in re.findall(r'-line" d="[^"]*" stroke-width="([\d.]+)"', picture)]
    assert max(widths) == 6 and min(widths) < 2


def test_boxes_of_large_flows_are_brief() -> None:
    assert sum(word.text == "a=2" for word in words(draw_flow(chain(41)))) == 0
    assert "a=2" in described(draw_flow(chain(41)))
    assert sum(word.text == "a=2" for word in words(draw_flow(chain(40)))) == 40 + 39


def test_what_derivatives_need_has_a_double_frame() -> None:
    nodes = (LEAF, Node("step", "f", "a=2", (0,)), Node("step", "g", "a=2", (1,), is_derivative=True))
    picture = draw_flow(Flow("f", "Flow of values", nodes, (1, 2)))
    assert kinds(picture).count("derivative") == 1 and not faults(picture)
    assert "double frame: needed for derivatives alone" in [one.text for one in words(picture)]
    assert "g, a=2, for derivatives" in described(picture)
    plain = draw_flow(Flow("f", "Flow of values", nodes[:2], (1,)))
    assert "derivative" not in kinds(plain) and not any("double" in one.text for one in words(plain))
