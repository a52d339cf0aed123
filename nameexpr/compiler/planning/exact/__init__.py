"""Searches that find the cheapest order."""
