"""Array libraries that programs run on. NumPy is the only one; it is imported by the package's API, not by
the compiler.
"""
