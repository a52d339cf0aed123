"""Interactive sessions: what the REPL and the notebook share."""
