"""Plans as they are shown: steps with names, flops, bytes and times."""
