"""Keeping a contraction under a limit of memory: loops over blocks of labels, where they cost least.

network   the plan as items that read and make values, each value a set of labels
loops     which loops there can be, and what a nest of them costs in flops and bytes
search    the cheapest nest that fits
lowering  plan and nest to program
fitting   all of it: the program that fits, or a refusal
refusal   which says what needs how much
"""
