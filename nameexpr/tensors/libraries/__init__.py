"""NamedTensors around the arrays of other libraries than NumPy, by the same rules for names.

Each library has a class (`classes.class_for`): a NamedTensor of which the methods that touch elements are
those of these modules. They call the functions of `nameexpr.backends.<library>.tensors`, which have the same
names for all libraries.
"""
