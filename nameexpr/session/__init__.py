"""Interactive sessions: the code shared by the REPL and the notebook."""
