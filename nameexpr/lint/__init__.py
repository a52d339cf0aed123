"""Literal texts in Python files and notebooks: found, read as nameexpr reads them, and reported where they
stand.

`scopes` collects what every name of a file is bound to, `python` says which calls are nameexpr's,
`diagnose` reads their texts with the package's own rules, and `source` leads from a character of a text
back to the file. `formats` writes what was found, for `nameexpr check`. The mypy plugin (`nameexpr.mypy`)
shares `diagnose`.

No file is imported or run, and nothing here needs NumPy.
"""
