"""Diagnostics of the analysis: what does not fit, where, and how to mend it."""
