"""The command line: one row for each command in `rows`. Nothing below it reads arguments or files.

`main` turns what happens into exit codes, `parser` reads arguments. The module of a command, in `commands`,
says what it takes, and loads what computes when it is run. `operands` reads arrays, `expressions`,
`formulas`, `planning` and `drawing` do the work; how files are read and written, and what is printed, is in
`nameexpr.terminal`. `doctor` says what the machine is.
"""
