"""Diagnostics for texts that do not parse: what is wrong, and what was probably meant."""
