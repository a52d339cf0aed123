"""DOT and Mermaid: only words of ours stand outside quotes, and inside them everything comes back."""

from __future__ import annotations

import html
import re

import pytest

from nameexpr.carets import visible
from nameexpr.pictures.data import Flow, Leg, Node, Tensor, TensorNetwork
from nameexpr.pictures.graph_text import dot, mermaid, quoted_dot, quoted_mermaid
from tools.pictures.text import HOSTILE

QUOTED_DOT = re.compile(r'"((?:[^"\\]|\\.)*)"')
QUOTED_MERMAID = re.compile(r'"([^"\n]*)"')
PLAIN_DOT = re.compile(r"[\w\s{}\[\]=,;>.-]*")
PLAIN_MERMAID = re.compile(r"[\w\s\[\]()|.>:/-]*")


def network(name: str) -> TensorNetwork:
    """Return a network with every kind of label."""
    legs = (
        Leg(name, 3, (0, 1), is_open=False),
        Leg(name, 3, (0, 1, 1), is_open=False),
        Leg(name, 3, (0, 1), is_open=True),
        Leg(name, 3, (0, 0), is_open=False),
        Leg(name, 3, (0,), is_open=True),
        Leg(name, 3, (1,), is_open=False),
        Leg(name, 3, (), is_open=True),
    )
    return TensorNetwork(name, (Tensor(name, name), Tensor(name, "")), legs, name, name)


def flow(name: str) -> Flow:
    """Return a flow with every kind of node."""
    nodes = (
        Node("operand", name, name, bytes=8, note=name),
        Node("held", name, name, (0,)),
        Node("step", name, name, (0, 1), 1, 8, name),
    )
    return Flow(name, "Flow", nodes, (2,))


@pytest.mark.parametrize("name", HOSTILE)
def test_dot_has_names_in_quotes_only(name: str) -> None:
    for text in (dot(network(name)), dot(flow(name))):
        assert PLAIN_DOT.fullmatch(QUOTED_DOT.sub("", text))
        assert all(one.isprintable() or one == "\n" for one in text)


@pytest.mark.parametrize("name", HOSTILE)
def test_mermaid_has_names_in_quotes_only(name: str) -> None:
    for text in (mermaid(network(name)), mermaid(flow(name))):
        assert PLAIN_MERMAID.fullmatch(QUOTED_MERMAID.sub("", text))
        for inside in QUOTED_MERMAID.findall(text):
            assert re.fullmatch(r"(?:[^\W_]|[ ,=.]|#\d+;)*", inside.replace("<br/>", " ")), inside


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_quoted_comes_back(name: str) -> None:
    (inside,) = QUOTED_DOT.findall(quoted_dot(name))
    assert re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), inside) == visible(name)
    (inside,) = QUOTED_MERMAID.findall(quoted_mermaid(name))
    back = html.unescape(re.sub(r"#(\d+);", r"&#\1;", inside))
    assert back == "; ".join(visible(name).split("\n"))


def test_the_network_has_an_edge_for_each_pair_and_a_point_for_each_hyperedge() -> None:
    text = dot(network("a"))
    assert '  t0 -- t1 [label="a=3", style=dashed, penwidth=1.8]' in text.splitlines()
    assert re.findall(r"h(\d) \[shape=point", text) == ["1", "2"]
    assert re.findall(r"o(\d) \[shape=plaintext", text) == ["2", "4", "6"]
    assert "  t1 -- h1 [style=dashed, penwidth=1.8]" in text.splitlines()
    assert "  made -- o6" in text


def test_every_line_of_mermaid_has_the_width_of_its_label() -> None:
    text = mermaid(network("a"))
    edges = re.findall(r"^  \w+ (?:---|-->|-\.-x?)(?:\|[^|]*\|)? \w+$", text, re.MULTILINE)
    styled = re.findall(r"linkStyle (\d+) stroke-width:1.8px", text)
    assert styled == [str(number) for number in range(len(edges))]
    assert len(edges) == 1 + 3 + 3 + 1 + 1 + 1 + 1


def test_what_derivatives_need_has_a_double_frame() -> None:
    steps = (Node("step", "f", "a=2"), Node("step", "g", "a=2", (0,), is_derivative=True))
    flow = Flow("f", "Flow", steps, (1,))
    assert [("peripheries=2" in line) for line in dot(flow).splitlines() if "label=" in line] == [
        False,
        False,
        True,
    ]
    assert 'n0["f' in mermaid(flow) and 'n1[["g' in mermaid(flow)


def test_the_flow_has_an_edge_for_each_source() -> None:
    assert re.findall(r"n(\d) -> n(\d)", dot(flow("a"))) == [("0", "1"), ("0", "2"), ("1", "2")]
    assert re.findall(r"n(\d) --> n(\d)", mermaid(flow("a"))) == [
        ("0", "1"),
        ("0", "2"),
        ("1", "2"),
    ]
