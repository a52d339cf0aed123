"""Program to program: what is shared, split, fused, tiled, and written over what."""
