"""What the command line, sessions and the REPL share: files, pages, tables, the screen."""
