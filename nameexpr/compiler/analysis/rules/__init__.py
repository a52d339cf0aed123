"""The rules of the language that do not depend on operands."""
