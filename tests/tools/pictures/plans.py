"""What tests of plans share: the parts of a drawing, and a check that they agree with the plan."""

from __future__ import annotations

import nameexpr as ne
from nameexpr.pictures.data import Flow, TensorNetwork
from nameexpr.runtime.plan.plan import Plan
from tools.pictures.text import faults

ATTENTION = ne.compile("s[i j] = sum[d](q[i d] * k[j d]) / 8; a = softmax[j](s); y[e i] = sum[j](a * v[j e])")
SHAPES = {"q": (5, 8), "k": (6, 8), "v": (6, 7)}


def network_of(plan: Plan) -> TensorNetwork:
    """Return the network of an expression."""
    network = plan.drawing.data.network
    assert isinstance(network, TensorNetwork)
    return network


def tree_of(plan: Plan) -> Flow:
    """Return the tree."""
    return plan.drawing.data.tree


def check(plan: Plan) -> None:
    """Fail if what is drawn is not what the plan says, or a picture is not well made."""
    memory, tree = plan.drawing.data.memory, tree_of(plan)
    assert memory.peak == plan.peak_bytes
    assert memory.operands == plan.operand_bytes
    assert len(memory.moments) == len(plan.steps)
    assert all(0 <= moment.after <= moment.during for moment in memory.moments)
    assert sum(node.flops or 0 for node in tree.nodes) == plan.flops
    assert all(source < number for number, node in enumerate(tree.nodes) for source in node.sources)
    for kind in ("network", "tree", "memory"):
        assert faults(plan.draw(kind)) == []
    for text in (plan.dot(), plan.dot("tree"), plan.mermaid(), plan.mermaid("tree")):
        assert all(one.isprintable() or one == "\n" for one in text)
