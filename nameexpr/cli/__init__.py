"""The command line. Only this package reads arguments.

`main` turns results and errors into exit codes, `parser` contains the commands and reads arguments. The
module of a command, in `commands`, defines its arguments; `operands` reads arrays and shapes, `computing`
evaluates and plans texts. Files and output are handled in `nameexpr.terminal`; `doctor` describes the
machine.
"""
