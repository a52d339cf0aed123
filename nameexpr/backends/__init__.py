"""Array libraries that programs run on. NumPy is the one there is; it is imported with the package's API, not
by the compiler.
"""
