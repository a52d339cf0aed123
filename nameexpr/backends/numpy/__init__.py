"""The NumPy backend: `kernels`, functions that generated code calls in addition to NumPy's, `arrays`, which
converts operands to arrays, and `codegen`, which generates the code.
"""
