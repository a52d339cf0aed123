"""The command line: `nameexpr eval`, `plan` and `code`. Nothing below this package reads arguments or files.

`main` turns what happens into exit codes, `parser` reads arguments, `commands` does what they ask, `operands`, `files` and
`tables` read arrays, `writing` writes them, `report` says what came out. What computes is loaded when a command needs it.
"""
