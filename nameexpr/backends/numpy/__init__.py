"""NumPy as a backend: `kernels`, what generated code calls beside NumPy itself, and `arrays`, how operands
become arrays.
"""
