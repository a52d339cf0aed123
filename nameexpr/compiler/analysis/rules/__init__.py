"""The rules of the language that need no operand."""
