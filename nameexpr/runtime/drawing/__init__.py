"""Compiled stages as data for pictures."""
