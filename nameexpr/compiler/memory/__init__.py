"""The peak memory of a program, from shapes and layouts alone."""
