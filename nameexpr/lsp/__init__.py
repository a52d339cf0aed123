"""The language server: what editors show for texts in Python files while they are typed.

`server` implements the protocol, with pygls, which is only loaded by `nameexpr lsp`, and `files` creates its
records. Everything else is functions of the source of a file and an offset in it: `programs` finds the text
at an offset, even in a file that is half typed, `meanings` describes a position in a text, and `hover`,
`completion` and `problems` determine what is shown there. `positions` converts offsets to the positions of
the protocol, whose columns count UTF-16 code units unless the editor requests others.
"""
