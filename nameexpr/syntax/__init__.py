"""Text to syntax tree and back: `ast`, `parser`, `unparse`; and what is wrong with a text, in `faults`."""
