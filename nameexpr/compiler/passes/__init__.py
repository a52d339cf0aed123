"""Graph to graph: sums over products become contractions."""
