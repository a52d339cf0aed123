"""Programs as NumPy: statements as data, the functions that run, and the source that people read."""
