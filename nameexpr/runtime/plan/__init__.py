"""Plans for display: steps with names, flops, bytes and times."""
