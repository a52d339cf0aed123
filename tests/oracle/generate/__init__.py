"""Random expressions and formulas that are valid, with operands for them, the same for the same seed."""
