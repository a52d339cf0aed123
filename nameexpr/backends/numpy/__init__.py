"""NumPy as a backend: `kernels`, what generated code calls beside NumPy itself, `arrays`, how operands become
arrays, and `codegen`, which writes that code.
"""
