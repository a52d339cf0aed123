"""Keeping a program under a limit of memory: loops over blocks of labels, where they cost least.

blocks    a graph with loops as a program, in which a loop is one instruction
expand    the steps of contractions as values of a graph, so that loops can cover some of them
regions   which loops there can be in a graph
formula   a formula's program that fits, found by trying programs, or a refusal
network   an expression's plan as items that read and make values, each value a set of labels
loops     which loops there can be in that, and what a nest of them costs in flops and bytes
search    the cheapest nest that fits
lowering  plan and nest to program
fitting   an expression's program that fits, or a refusal
refusal   which says what needs how much
"""
