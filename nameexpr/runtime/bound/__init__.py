"""Compiled texts some of whose operands stay the same."""
