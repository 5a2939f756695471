"""Similarity of vertices: pairs that share a neighbour."""
