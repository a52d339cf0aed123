"""Programs as NumPy code: statements as data, the functions that are executed, and the source that
is shown.
"""
