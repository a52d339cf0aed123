"""Any library of the array API standard. Only functions of the standard are called, and nothing is imported:
an array brings its namespace.
"""
