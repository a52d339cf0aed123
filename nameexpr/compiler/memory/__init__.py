"""The memory that a program takes at its peak, from shapes and layouts alone."""
