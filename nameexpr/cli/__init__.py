"""The command line: one row for each command in `rows`. Nothing below it reads arguments or files.

`main` turns what happens into exit codes, `parser` reads arguments. The module of a command, `command_*`,
says what it takes, and loads what computes when it is run. Arrays are read by `operands`, `files` and
`tables` and written by `writing`; `expressions`, `formulas`, `planning` and `drawing` do the work, `report`
and `preview` say what came out, and `screen` prints it. `pages` are the texts about error codes,
`completion_*` the scripts for shells. `doctor` stands alone, with its parts `doctor_*`.
"""
