"""What expressions and formulas mean, as nested loops over Python numbers, written from the rules."""
