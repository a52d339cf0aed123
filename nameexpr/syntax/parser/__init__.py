"""From tokens to syntax trees: by a hand-written parser; Lark, with the tables of the grammar, explains
errors.
"""
