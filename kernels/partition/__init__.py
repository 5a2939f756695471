"""Owners of vertices, numbers of ids, and rows of edges in the caller's order."""
