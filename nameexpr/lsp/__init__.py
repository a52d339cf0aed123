"""The language server: what editors show of texts in Python files while they are typed.

`server` speaks the protocol, by pygls, which is only loaded by `nameexpr lsp`, and `files` makes its records.
All else is functions of the source of a file and an offset in it: `programs` finds the text at an offset,
even in a file that is half typed, `meanings` says what a place of a text is, and `hover`, `completion` and
`problems` say what is shown there. `positions` turns offsets into the positions of the protocol, whose
columns count UTF-16 code units unless the editor asks for others.
"""
