"""Lines and what stays between them, for the REPL and the notebook."""
