"""Scripts that complete the command line in shells."""
