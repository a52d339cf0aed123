"""The order of contractions: a plan, and the searches for its order.

`plan` calls `path`, which selects a search. `network` is shared by the searches: networks, orders and costs.
`exact` finds the best order of a few operands, of chains and rings, and of about twenty operands; beyond that
`search` starts with orders from `greedy`, annealed and refined as a `tree`. Under a memory limit, `sliced`
finds orders in which some labels are taken one index at a time. If operands are bound (`bound`) or are the
same array (`repeated`), other orders are better.
"""
