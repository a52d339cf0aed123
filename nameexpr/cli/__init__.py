"""The command line. Nothing below it reads arguments or files.

`main` turns what happens into exit codes, `parser` has the commands and reads arguments. The module of a
command, in `commands`, says what it takes; `operands` reads arrays and shapes, `computing` does what is asked
of a text. How files are read and written, and what is printed, is in `nameexpr.terminal`; `doctor` says what
the machine is.
"""
