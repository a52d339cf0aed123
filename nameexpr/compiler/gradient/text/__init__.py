"""Formulas with their derivatives written out: what `grad(...)` stands for, in the language of formulas.

    written       a formula as the text of the values that it computes
    reading       statements of what is read at positions or computed step by step
    statements    which values have statements of their own, and in what order
    values        a value as syntax, given that of the values it is computed from
    arithmetic    products and sums with signs and sizes where one would write them
    recurrences   statements that read their own earlier rows
    windows       values that are read at positions, and parts of zeros
    offsets       positions that depend on sizes
    renaming      a value under other labels
    sized         labels whose sizes nothing else determines
    orders        the order of dims where a statement has no term
    numbering     names for new statements
    labels        names for labels that the text does not have
    stretched     `...` and packs as one label each
    examples      shapes for operands that are not known

The graph is written, not the syntax tree: derivatives are values like any other. It is built without what
makes it fast for some sizes (`TextGraph`), so that the text holds for all sizes.
"""
