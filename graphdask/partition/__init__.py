"""Partitions: rows (CSR), owners of vertices, ids, lineages of edges, ghosts, and how parts are built."""
