"""Names, dims and sizes: what a text means for the operands that it is given."""
