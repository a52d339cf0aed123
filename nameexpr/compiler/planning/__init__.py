"""Which contraction comes first: a plan, and the searches for its order.

`plan` asks `path`, which knows who answers. `network` and `pairs` are what the searches share, `cost` is what
they minimise and how long they may take. In `exact`, `subsets` knows all orders of up to five operands,
`chains` those of chains and rings, `connected` those of about twenty operands; beyond that `search` goes
on with greedy orders, annealed and refined. `optimizers` is for orders from outside.
"""
