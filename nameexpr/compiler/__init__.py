"""From syntax to a program: check, sizes, plan, lower, render. `nameexpr.compiler.pipeline` reads like the
table of contents.
"""
