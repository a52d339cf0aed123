"""The commands that begin with a colon."""
