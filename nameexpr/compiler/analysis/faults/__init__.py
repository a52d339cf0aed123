"""Diagnostics of the analysis: what does not fit, where, and how to fix it."""
