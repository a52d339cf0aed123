"""Searches for the order of contractions, one in each file.

`nameexpr.compiler.planning.path` is their front door. `network` and `pairs` are what they share, `cost` is
what they minimise and how long they may take; `few` knows all orders of up to five operands; `prepare` takes
a bigger network apart; `search` chooses: `lines` for chains and rings, `cheapest` for up to about twenty
operands, and beyond that `greedy`, `refine` and `anneal`, which work on a `tree`. `given` is for orders from
outside.
"""
