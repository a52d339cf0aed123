"""Programs to source."""
