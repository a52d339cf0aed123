"""Pictures of networks, contraction trees, memory and tensors, as SVG, DOT and Mermaid text.

The input is inert data (`data.py`), the output text; nothing here executes or measures anything. The stage
that knows the steps of a plan (`nameexpr.runtime.plan.drawing`) creates the data.
"""
