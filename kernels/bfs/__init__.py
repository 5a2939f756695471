"""Breadth-first search: push and pull, several ranks in one launch."""
