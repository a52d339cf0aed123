"""Texts on Dask arrays: lazy results, whose blocks are computed by the programs of the NumPy backend."""
