"""Code shared by the command line, sessions and the REPL: files, pages, tables, the screen."""
