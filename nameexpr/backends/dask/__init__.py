"""Dask arrays: the graph of a text becomes lazy arrays, whose blocks are computed by programs of NumPy."""
