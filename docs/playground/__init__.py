"""The playground: what a text means, computed in a browser without NumPy."""
