"""The command line: `nameexpr eval`, `plan`, `code` and `doctor`. Nothing below it reads arguments or files.

`main` turns what happens into exit codes, `parser` reads arguments, `commands` does what they ask. Arrays are
read by `operands`, `files` and `tables` and written by `writing`; `report` says what came out, and `screen`
prints it. What computes is loaded when a command needs it. `doctor` stands alone, with its
parts `doctor_*`.
"""
