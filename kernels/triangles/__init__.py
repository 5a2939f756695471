"""Triangles, and candidates for their third vertex."""
