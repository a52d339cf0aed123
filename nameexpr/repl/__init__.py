"""The session at a terminal: the prompt, its history, and the loop that reads lines."""
