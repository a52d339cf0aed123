"""What users call. `einsum` and `compile` find or make a function, unwrap the operands, run it, and wrap the
result.
"""
