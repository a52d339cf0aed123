"""Fit a program into a memory limit by loops over blocks of labels, where they cost least.

blocks    a graph with loops as a program, in which a loop is one instruction
expand    the steps of contractions as values of a graph, so that loops can cover some of them
regions the possible loops in a graph
formula a formula's program that fits, found by trying programs, or an error
network an expression's plan as items that read and create values, each value a set of labels
loops the possible loops in a network, and the costs of a nest of them in flops and bytes
search    the cheapest nest that fits
lowering  plan and nest to program
fitting an expression's program that fits, or an error
refusal the error, which shows the values that need most
"""
