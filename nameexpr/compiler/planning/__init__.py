"""Which contraction comes first: a plan, and the searches for its order.

`plan` asks `path`, which knows who answers. `network` is what the searches share: networks, orders and costs.
`exact` knows the best order of a few operands, of chains and rings, and of about twenty operands; beyond that
`search` goes on with orders from `greedy`, annealed and refined as a `tree`. Where operands are bound
(`bound`) or are the same array (`repeated`), other orders are better.
"""
