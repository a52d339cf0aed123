"""From text to syntax tree and back: `ast`, `parser`, `unparse`; and diagnostics of syntax errors, in
`faults`.
"""
