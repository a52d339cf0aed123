"""Graphs and plans to programs: labels become axes, contractions array calls."""
