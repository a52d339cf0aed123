"""The JAX backend. It is loaded for the first operand that is an array of JAX."""
