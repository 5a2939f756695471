"""Similarity of vertices by the neighbours that they share."""
