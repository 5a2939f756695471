"""Edges between vertices of sets, and vertices that searches from many sources reach."""
