"""What array libraries other than NumPy have in common: a target of the compiler, and code from programs."""
