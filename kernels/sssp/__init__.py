"""Shortest paths from one source: near-far queues, the tree, several ranks in one launch."""
