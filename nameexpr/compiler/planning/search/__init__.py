"""Searches for networks that are too large for all orders: greedy, annealed, refined."""
