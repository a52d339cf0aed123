"""The independent truth: slow evaluators written from the rules, and generators of programs for them."""
