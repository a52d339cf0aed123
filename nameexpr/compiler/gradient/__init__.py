"""Derivatives: `grad(value, operand[term])` becomes values of the same graph.

    derivative    the calls of a formula, and the results as their terms see them
    asked         what is differentiated by what
    inside        derivatives in the steps of recurrences
    walk          from a value back to the operands, in reverse mode: the gradient of each node's arguments
    forward       from an operand to a value that has more elements; `tangents` are those of recurrences
    pointwise     the gradients of pointwise functions
    masks         how far masks of `where` go along
    reductions    the gradients of reductions, and of functions along dims
    factors       products of many elements, exact at all orders
    by_label      rows that are combined by label
    recurrences   the gradients of recurrences; `steps` writes their steps for all indices at once
    views         the gradients of operands and arrays, which are seen through terms
    rules         the derivative of each function, in the language of formulas
    products      writes products and simple functions as values, in their simplest form
    algebra       writes rules and sums
    orders        which derivatives are differentiated again
    deltas        Jacobians: the gradients of a value's elements by each other
    active        which values a gradient goes through
    pairs         contractions of several factors as pairs, which both directions share

A gradient has some of the labels of its value; along those that it lacks it is constant.
"""
