"""The public functions. `einsum` and `compile` find or create a function, unwrap the operands, call it, and
wrap the result.
"""
