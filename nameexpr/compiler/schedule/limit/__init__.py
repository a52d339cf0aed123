"""Fit a program into a memory limit by loops over blocks of labels, where they cost least.

blocks    a graph with loops as a program, in which a loop is one instruction
expand    the steps of contractions as values of a graph, so that loops can cover some of them
regions   the possible loops in a graph
formula   a formula's program that fits, found by trying programs, or an error
ordering  the steps of an expression's plan in an order that needs little memory
network   the plan as a tree of items that read values and create one, each value a set of labels
loops     the possible loops in a tree, and the costs of a nest of them in flops and bytes
search    the cheapest nest that fits
slices    nests for orders in which some labels are sliced
orders    the orders that are tried, each with its nests
lowering  plan and nest to program
copies    what programs copy that the search did not know of
fitting   an expression's program that fits, or an error
refusal   the error, which shows the values that need most
"""
