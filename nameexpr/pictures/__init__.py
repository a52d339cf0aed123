"""Pictures of networks, contraction trees, memory and tensors, as SVG, DOT and Mermaid text.

Inert data goes in (`data.py`), text comes out; nothing here runs or measures anything. The stage that knows
what a plan does (`nameexpr.runtime.plan.drawing`) makes the data.
"""
