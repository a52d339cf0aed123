"""Formulas: from the syntax tree to the program, through a graph of values that broadcast by name.

scope -> views -> build (with extract) -> lower (with fuse). The programs are those of expressions, with a few
more instructions; a sum over a product is planned as a contraction, by the same planner.
"""
