"""What could come next in a line."""
