"""From program to program: common subexpressions, partial evaluation, fusion, tiling, and memory reuse."""
