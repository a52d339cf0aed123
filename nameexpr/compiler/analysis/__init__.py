"""Names, dims and sizes: the meaning of a text for given operands."""
