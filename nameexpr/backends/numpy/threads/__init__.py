"""Threads that compute blocks of one program: `pool` has them, `job` distributes the blocks, `spread` decides
what is worth it.
"""
