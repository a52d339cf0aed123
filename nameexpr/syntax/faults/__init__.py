"""What is wrong with a text that does not parse, and what its writer probably meant."""
