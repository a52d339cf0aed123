"""The intermediate representations of a text: typed expression, graph, program; and the invariants of
programs.
"""
